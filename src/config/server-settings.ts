/** Where the server listens, and how the outside reaches it. */

import { directoryUrl, domainNames, emailAddress } from "./operator-values.ts";
import { optional, plain, type Setting, setting, withFlag } from "./setting.ts";
import { originUrl, path, portNumber, wholeNumber, word } from "./values.ts";

export const serverSettings = {
  host: withFlag("host", plain("HOST", "127.0.0.1", word, "The address to listen on; 0.0.0.0 or :: for all.")),
  port: withFlag("port", plain("PORT", 3000, portNumber, "The port to listen on; 0 takes a free one.")),
  dataDir: withFlag(
    "data-dir",
    plain("COMPANIOND_DATA_DIR", "./companiond-data", path, "Where everything durable is kept; created if missing."),
  ),
  publicUrl: optional({
    variable: "COMPANIOND_PUBLIC_URL",
    parse: originUrl,
    about: "How the outside reaches this server, for snippets and links; needed off loopback and behind a proxy.",
  }),
  trustProxy: plain(
    "COMPANIOND_TRUST_PROXY",
    0,
    wholeNumber(0, 100),
    "How many proxies in front are trusted for the client's address, protocol and host.",
  ),
  domains: withFlag(
    "domain",
    setting<readonly string[]>({
      variable: "COMPANIOND_DOMAIN",
      parse: domainNames,
      fallback: [],
      defaultText: "",
      about: "Serve HTTPS under this name, or several separated by commas, with a certificate obtained by ACME.",
    }),
  ),
  acmeEmail: optional({
    variable: "COMPANIOND_ACME_EMAIL",
    parse: emailAddress,
    about: "Where the certificate authority writes if something is wrong with a certificate.",
  }),
  acmeDirectory: plain(
    "COMPANIOND_ACME_DIRECTORY",
    "https://acme-v02.api.letsencrypt.org/directory",
    directoryUrl,
    "The ACME directory of the certificate authority.",
  ),
  httpPort: plain("COMPANIOND_HTTP_PORT", 80, portNumber, "With COMPANIOND_DOMAIN: challenges and redirects to HTTPS."),
  httpsPort: plain("COMPANIOND_HTTPS_PORT", 443, portNumber, "With COMPANIOND_DOMAIN: HTTPS; PORT is not served then."),
  tlsCert: withFlag(
    "tls-cert",
    optional({
      variable: "COMPANIOND_TLS_CERT",
      parse: path,
      about: "Serve HTTPS with this certificate chain (PEM file).",
    }),
  ),
  tlsKey: withFlag(
    "tls-key",
    optional({ variable: "COMPANIOND_TLS_KEY", parse: path, about: "The private key of that certificate (PEM file)." }),
  ),
} satisfies Record<string, Setting<unknown>>;
