/** Where the server listens, and how the outside reaches it. */
import type { LogLevel } from "../lib/log.ts";
import { directoryUrl, domainNames, emailAddress } from "./operator-values.ts";
import { optional, plain, type Setting, setting, withFlag } from "./setting.ts";
import { oneOf, originUrl, path, portNumber, wholeNumber, word } from "./values.ts";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export const serverSettings = {
  host: withFlag("host", plain("HOST", "127.0.0.1", word, "The address to listen on; 0.0.0.0 or :: for all.")),
  port: withFlag("port", plain("PORT", 3000, portNumber, "The port to listen on; 0 chooses a free one.")),
  dataDir: withFlag(
    "data-dir",
    plain("COMPANIOND_DATA_DIR", "./companiond-data", path, "The directory for all durable data; created if missing."),
  ),
  publicUrl: optional({
    variable: "COMPANIOND_PUBLIC_URL",
    parse: originUrl,
    about:
      "The address that visitors use (https://chat.example.com), for snippets and links. Needed off loopback and behind a " +
      "proxy: without it, the server knows its address only for requests on this machine itself.",
  }),
  trustProxy: plain(
    "COMPANIOND_TRUST_PROXY",
    0,
    wholeNumber(0, 100),
    "How many proxies in front are trusted for the client's address, protocol and host.",
  ),
  logLevel: plain<LogLevel>(
    "COMPANIOND_LOG",
    "info",
    oneOf(levels),
    "debug, info, warn or error. JSON lines unless standard output is a terminal.",
  ),
} satisfies Record<string, Setting<unknown>>;

export const httpsSettings = {
  domains: withFlag(
    "domain",
    setting<readonly string[]>({
      variable: "COMPANIOND_DOMAIN",
      parse: domainNames,
      fallback: [],
      defaultText: "",
      about:
        "The name that visitors use, or several separated by commas: the server then obtains a certificate by ACME, " +
        "renews it, and listens on all addresses and on the two ports below instead of PORT. The name must point to " +
        "this machine.",
    }),
  ),
  acmeEmail: optional({
    variable: "COMPANIOND_ACME_EMAIL",
    parse: emailAddress,
    about: "The address that the certificate authority writes to if something is wrong with a certificate.",
  }),
  acmeDirectory: plain(
    "COMPANIOND_ACME_DIRECTORY",
    "https://acme-v02.api.letsencrypt.org/directory",
    directoryUrl,
    "The ACME directory of the certificate authority.",
  ),
  httpPort: plain(
    "COMPANIOND_HTTP_PORT",
    80,
    portNumber,
    "With COMPANIOND_DOMAIN: the port for the authority's challenges and for redirects to HTTPS.",
  ),
  httpsPort: plain(
    "COMPANIOND_HTTPS_PORT",
    443,
    portNumber,
    "With COMPANIOND_DOMAIN: the port for HTTPS; PORT is not served then.",
  ),
  tlsCert: withFlag(
    "tls-cert",
    optional({
      variable: "COMPANIOND_TLS_CERT",
      parse: path,
      about: "A certificate of your own instead: the path of its chain (PEM). Loaded again on SIGHUP.",
    }),
  ),
  tlsKey: withFlag(
    "tls-key",
    optional({
      variable: "COMPANIOND_TLS_KEY",
      parse: path,
      about: "The path of that certificate's private key (PEM).",
    }),
  ),
} satisfies Record<string, Setting<unknown>>;
