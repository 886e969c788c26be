/** Which header fields of a request someone else may set. */

/** What delimits a request, or speaks of its connection: a second one would make it ambiguous. */
const framingHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "content-encoding",
  "accept-encoding",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const valuePattern = /^[\t\x20-\x7e]{0,8192}$/;

export function isHeaderName(name: string): boolean {
  return namePattern.test(name);
}

/** Whether only the client that sends the request may set it; in any case of letters. */
export function isFramingHeader(name: string): boolean {
  return framingHeaders.has(name.toLowerCase());
}

/** One line of ASCII: nothing that ends the line, and nothing that two servers read differently. */
export function isHeaderValue(value: string): boolean {
  return valuePattern.test(value);
}
