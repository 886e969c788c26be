/** Parsers of what operators name: domains, addresses of services, public keys, headers. */
import type { MailAddress } from "../contracts/mail.ts";
import { isJsonObject, type JsonValue } from "../domain/json.ts";
import { isFramingHeader, isHeaderName, isHeaderValue } from "../lib/http/header-fields.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { BadValue, type ParseValue, parseJsonObject, quote, word } from "./values.ts";

const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const domainPattern = new RegExp(`^(${label}\\.)+${label}$`);
/** As many as one certificate of Let's Encrypt's may name. */
const maxDomains = 100;
/** What the server sets itself, besides what frames a request. */
const ownHeaders = ["authorization", "content-type", "accept"];

/**
 * What names of objects begin with. A leading slash goes, and the other forms are refused: they change in transit in
 * addresses, so that objects would be stored under another name than the one that is listed.
 */
export const keyPrefix: ParseValue<string> = (text) => {
  const prefix = word(text).replace(/^\/+/, "");
  if (prefix.length <= 256 && !/\/\/|\\|(^|\/)\.\.?(\/|$)/.test(prefix)) return prefix;
  throw new BadValue(
    `must be at most 256 characters, without //, backslashes and parts that are only dots, like companiond/: ${quote(text)}.`,
  );
};

/** Lower-case names without duplicates, in the order given; each is a name and no address. */
export const domainNames: ParseValue<readonly string[]> = (text) => {
  const names = text.split(",").map((part) => readDomain(part.trim()));
  if (names.length > maxDomains) throw new BadValue(`must contain at most ${maxDomains} names.`);
  return Object.freeze([...new Set(names)]);
};

function readDomain(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, "");
  if (name.startsWith("*.")) throw new BadValue("must not contain *: list each name.");
  const isAddress = /^[\d.]+$/.test(name) || name.includes(":");
  if (isAddress || name.length > 253 || !domainPattern.test(name)) {
    throw new BadValue(`must be a domain name such as chat.example.com, or several by commas, not ${quote(text)}.`);
  }
  return name;
}

export const emailAddress: ParseValue<string> = (text) => {
  if (/^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/.test(text) && text.length <= 254) return text;
  throw new BadValue(`must be an email address, not ${quote(text)}.`);
};

/** An address alone, or behind a name: `Shop <chat@shop.example>`. */
export const mailSender: ParseValue<MailAddress> = (text) => {
  const [, name = "", address = text] = /^([^<>]*)<([^<>]+)>$/.exec(text) ?? [];
  if (/\p{Cc}/u.test(text)) throw new BadValue("must be one line.");
  return { name: name.trim().replace(/^"(.*)"$/, "$1"), address: emailAddress(address.trim()) };
};

/** HTTPS, or HTTP on this machine. */
export const directoryUrl: ParseValue<string> = (text) => readSafeUrl(text).href;

/** The same, to append paths to. */
export const releasesUrl: ParseValue<string> = (text) => {
  const url = readSafeUrl(text);
  if (url.search !== "" || url.hash !== "") throw new BadValue("must not contain a query or a fragment.");
  return url.href.replace(/\/+$/, "");
};

function readSafeUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && url.username === "" && url.password === "") {
    if (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.host))) return url;
  }
  // Not quoted: it can contain a password.
  throw new BadValue("must be a URL that begins with https://, without user or password.");
}

export const ageRecipient: ParseValue<string> = (text) => {
  if (/^age1[02-9ac-hj-np-z]{50,2000}$/.test(text)) return text;
  if (/^AGE-SECRET-KEY-/i.test(text)) throw new BadValue("must be the public key (age1…): this is the secret one.");
  if (/^ssh-/.test(text)) throw new BadValue("must be an age public key (age1…): SSH keys are not supported.");
  throw new BadValue('must be an age public key (age1…), as "age-keygen -y" prints.');
};

/** 32 bytes in base64. */
export const releasesKey: ParseValue<string> = (text) => {
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return text;
  throw new BadValue("must be an Ed25519 public key: 32 bytes in base64.");
};

export const headerFields: ParseValue<Readonly<Record<string, string>>> = (text) =>
  readHeaderFields(parseJsonObject(text));

/** Throws `BadValue`, without the values: they can be secrets. */
export function readHeaderFields(value: JsonValue): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) throw new BadValue("must be a JSON object.");
  const fields = Object.entries(value);
  if (fields.length > 32) throw new BadValue("must contain at most 32 headers.");
  const seen = new Set<string>();
  for (const [name, content] of fields) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name)) throw new BadValue(`has a name that no header can have: ${quote(name)}.`);
    if (isFramingHeader(name) || ownHeaders.includes(lower))
      throw new BadValue(`must not contain ${name}: the server sets it itself.`);
    if (seen.has(lower)) throw new BadValue(`names ${name} twice.`);
    seen.add(lower);
    if (typeof content !== "string" || !isHeaderValue(content)) {
      throw new BadValue(`must give ${name} a text of one line of ASCII characters.`);
    }
  }
  return Object.freeze(Object.fromEntries(fields) as Record<string, string>);
}
