/** Parsers from a setting's text to its value. Each returns the value or throws what the text must be. */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { type AllowedHost, parseAllowedHost } from "../lib/allowed-hosts.ts";
import { readSealingKey } from "../lib/sealing.ts";

/** Throws `BadValue` if the text is invalid. */
export type ParseValue<Value> = (text: string) => Value;

/** What a value must be, as the end of a sentence that starts with the setting's name. */
export class BadValue extends Error {}

export function wholeNumber(min: number, max: number): ParseValue<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new BadValue(`must be a whole number from ${min} to ${max}, not ${quote(text)}.`);
  };
}

export const portNumber: ParseValue<number> = wholeNumber(0, 65_535);

const byteUnits: Readonly<Record<string, number>> = {
  "": 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** A whole number of bytes, KiB, MiB, GiB or TiB. */
export const byteCount: ParseValue<number> = (text) => {
  const [, digits = "", unit = ""] = /^(\d{1,15}) ?([KMGT]iB)?$/.exec(text) ?? [];
  const bytes = digits === "" ? Number.NaN : Number(digits) * (byteUnits[unit] ?? 1);
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new BadValue(`must be a number of bytes such as 1073741824, 512MiB or 1GiB, not ${quote(text)}.`);
};

export function oneOf<Choice extends string>(choices: readonly Choice[]): ParseValue<Choice> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new BadValue(`must be one of ${choices.join(", ")}, not ${quote(text)}.`);
  };
}

/** Never quoted in errors. Safe in an HTTP header: no white space, no control characters. */
export const secret: ParseValue<string> = (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new BadValue("must be one line of printable ASCII characters without spaces.");
};

/** Kept as given, and never quoted in errors. */
export const sealingKey: ParseValue<string> = (text) => {
  if (readSealingKey(text) !== null) return text;
  throw new BadValue('must be 32 bytes in base64, such as "openssl rand -base64 32" prints.');
};

export const word: ParseValue<string> = (text) => {
  if (/^[^\s\p{Cc}]+$/u.test(text)) return text;
  throw new BadValue(`must not contain spaces or control characters: ${quote(text)}.`);
};

export const path: ParseValue<string> = (text) => {
  if (!text.includes("\0")) return text;
  throw new BadValue("must be a path.");
};

/** At least one word, without duplicates, in the order given. */
export const wordList: ParseValue<readonly string[]> = (text) => {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.every((part) => part !== "")) return Object.freeze([...new Set(parts.map(word))]);
  throw new BadValue("must be a list of names separated by commas, none of them empty.");
};

/** Hosts and ranges of addresses, in the order given. */
export const allowedHosts: ParseValue<readonly AllowedHost[]> = (text) =>
  text.split(",").map((part) => {
    const found = parseAllowedHost(part.trim());
    if (found !== null) return found;
    throw new BadValue(`must be a list of host, host:port or ranges such as 10.0.0.0/8, not ${quote(part.trim())}.`);
  });

function parseHttpUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new BadValue(`must be a URL that begins with http:// or https://, not ${quote(text)}.`);
  }
  if (url.username !== "" || url.password !== "") throw new BadValue("must not contain a user name or password.");
  return url;
}

/** An HTTP URL to append paths to: no query, no fragment, no trailing slash. */
export const baseUrl: ParseValue<string> = (text) => {
  const url = parseHttpUrl(text);
  if (url.search !== "" || url.hash !== "") throw new BadValue("must not contain a query or a fragment.");
  return url.href.replace(/\/+$/, "");
};

/** Scheme, host and port only: pages, cookies and links are made for the root of a host. */
export const originUrl: ParseValue<string> = (text) => {
  const url = parseHttpUrl(text);
  if (url.pathname === "/" && url.search === "" && url.hash === "") return url.origin;
  throw new BadValue(`must end after the host and port, like ${url.origin}.`);
};

export const cronSchedule: ParseValue<string> = (text) => {
  let next: Date | null;
  try {
    next = Bun.cron.parse(text);
  } catch {
    throw new BadValue(`must be a cron schedule of five fields, like "0 3 * * *", not ${quote(text)}.`);
  }
  if (next !== null) return text;
  throw new BadValue(`is a schedule that never runs: ${quote(text)}.`);
};

/** The parameters that the server itself sets in a request for a reply. */
export const requestFields: readonly string[] = [
  "model",
  "messages",
  "stream",
  "input",
  "instructions",
  "previous_response_id",
];

export function parseJsonObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Without the parser's words, which may quote the text.
  }
  throw new BadValue("must be a JSON object.");
}

/** A JSON object without any of the `reserved` fields. */
export function jsonObject(reserved: readonly string[]): ParseValue<JsonObject> {
  return (text) => {
    const value = parseJsonObject(text);
    const taken = reserved.filter((name) => Object.hasOwn(value, name));
    if (taken.length === 0) return value;
    throw new BadValue(`must not contain ${taken.join(", ")}: the server sets it itself.`);
  };
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
