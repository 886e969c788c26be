/**
 * The URLs of the servers that instances share, and of the one that takes mail. Nothing of them but a parameter's name is ever quoted: where a password
 * is not encoded, any other part may hold a piece of it.
 *
 * The driver passes over parameters that it does not know, and lets some of those that it knows overrule others. What
 * would not have its evident meaning is refused here.
 */
import { accessSync, constants } from "node:fs";
import type { MailLocation } from "../contracts/mail.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { BadValue, type ParseValue } from "./values.ts";

const tlsModes = ["require", "verify-ca", "verify-full"];
const verifyingModes = ["verify-ca", "verify-full"];
const fileParameters = ["sslrootcert", "sslcert", "sslkey"];
const databaseParameters = ["sslmode", ...fileParameters, "channel_binding"];

/** A PostgreSQL URL, kept as given. */
export const databaseUrl: ParseValue<string> = (text) => {
  const url = parseServerUrl(text, ["postgres:", "postgresql:"], "postgres://USER:PASSWORD@HOST/DATABASE");
  if (url.hostname.includes(",")) throw new BadValue("must name one host: the program does not choose among several.");
  if (!/^\/[^/]+$/.test(url.pathname)) throw new BadValue("must name the database after the host, like /companiond.");
  const isSocket = /^%2f/i.test(url.hostname);
  checkTls(readParameters(url), isSocket);
  return text;
};

/** A Redis URL, kept as given. */
export const redisUrl: ParseValue<string> = (text) => {
  const url = parseServerUrl(text, ["redis:", "rediss:"], "redis://:PASSWORD@HOST (rediss:// with TLS)");
  if (url.username !== "" && url.password === "") {
    throw new BadValue("has a user name but no password; a password alone is written redis://:PASSWORD@HOST.");
  }
  if (!/^\/?\d{0,5}$/.test(url.pathname)) throw new BadValue("may have nothing but a database number after the host.");
  if (url.search !== "") throw new BadValue("must end before the question mark: Redis takes no parameters there.");
  return text;
};

/** A mail server. Off this machine nothing is sent to it unencrypted. */
export const smtpUrl: ParseValue<MailLocation> = (text) => {
  const url = parseServerUrl(text, ["smtp:", "smtps:"], "smtps://USER:PASSWORD@HOST (smtp:// with STARTTLS)");
  if (!/^\/?$/.test(url.pathname) || url.search !== "") throw new BadValue("must end after the host and port.");
  if ((url.username === "") !== (url.password === ""))
    throw new BadValue("must have both user and password, or neither.");
  const isImplicit = url.protocol === "smtps:";
  const plain = isLoopbackHost(url.hostname.toLowerCase()) ? "none needed" : "starttls";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit ? "implicit" : plain,
    signIn:
      url.username === ""
        ? null
        : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
  };
};

function parseServerUrl(text: string, protocols: readonly string[], form: string): URL {
  const url = URL.parse(text);
  const isWhole = /^[a-z]+:\/\/[^\s\p{Cc}]+$/u.test(text);
  if (url === null || !isWhole || !protocols.includes(url.protocol) || url.hostname === "") {
    throw new BadValue(`must have the form ${form}, with the special characters of user and password percent-encoded.`);
  }
  if (!canDecode(text) || url.hash !== "" || /@.*@/.test(text) || (url.pathname + url.search).includes("@")) {
    throw new BadValue("must have the special characters of user and password percent-encoded, such as %40 for @.");
  }
  if (url.port === "0") throw new BadValue("must not have port 0.");
  return url;
}

/** What cannot be decoded, the driver takes as it is. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function readParameters(url: URL): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (!databaseParameters.includes(name)) {
      const named = /^[a-z_]{1,40}$/i.test(name) ? `, not ${name}` : "";
      throw new BadValue(`may have the parameters ${databaseParameters.join(", ")}${named}.`);
    }
    if (parameters.has(name) || value === "") throw new BadValue(`must have one value for ${name}.`);
    parameters.set(name, value);
  }
  return parameters;
}

function checkTls(parameters: ReadonlyMap<string, string>, isSocket: boolean): void {
  const mode = parameters.get("sslmode") ?? "disable";
  const isTls = tlsModes.includes(mode);
  // With "allow" and "prefer" the connection may be in clear text, without any warning.
  if (!isTls && mode !== "disable") {
    throw new BadValue(`must have an sslmode of disable, require, verify-ca or verify-full.`);
  }
  if (isTls && isSocket) throw new BadValue("cannot have an sslmode: a socket of this machine is not encrypted.");
  // The driver verifies everything as soon as it has a root certificate, for every mode.
  if (parameters.has("sslrootcert") && !verifyingModes.includes(mode)) {
    throw new BadValue("needs sslmode=verify-full where it has sslrootcert.");
  }
  if (parameters.has("sslcert") !== parameters.has("sslkey")) {
    throw new BadValue("must have both sslcert and sslkey, or neither.");
  }
  if (parameters.has("sslcert") && !isTls) throw new BadValue("needs an sslmode with TLS where it has sslcert.");
  checkChannelBinding(parameters.get("channel_binding"), isTls);
  for (const name of fileParameters) checkFile(name, parameters.get(name));
}

function checkChannelBinding(binding: string | undefined, isTls: boolean): void {
  if (binding !== undefined && !["disable", "prefer", "require"].includes(binding)) {
    throw new BadValue("must have a channel_binding of disable, prefer or require.");
  }
  if (binding === "require" && !isTls)
    throw new BadValue("needs an sslmode with TLS where it requires channel_binding.");
}

function checkFile(name: string, file: string | undefined): void {
  if (file === undefined || (name === "sslrootcert" && file === "system")) return;
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new BadValue(`names a file in ${name} that cannot be read.`);
  }
}
