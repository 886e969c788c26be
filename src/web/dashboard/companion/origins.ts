/** Websites on which a companion may be used, as owners write them: one a line, and checked before they are sent. */

function splitLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}

/** People leave out the scheme. */
export function splitOrigins(text: string): string[] {
  return splitLines(text).map((line) => {
    if (/^localhost(:\d+)?$/i.test(line)) return `http://${line}`;
    return /^(\*\.)?[^\s/:?#@]+\.[^\s/:?#@]+(:\d+)?([/?#]|$)/.test(line) ? `https://${line}` : line;
  });
}

/**
 * Allowed origins as owners write them: checked before they are sent. A sentence, or null for an origin that the
 * server takes.
 */
export function originProblem(text: string): string | null {
  if (text.length > 270) return `“${text.slice(0, 40)}…” is longer than 270 characters.`;
  const match = /^(https?):\/\/(\*\.)?([^/?#@*\\\s]+)(\/.*)?$/i.exec(text);
  if (!match) {
    if (!/^https?:\/\//i.test(text))
      return `“${text}” isn't a web address: write shop.example, or https://shop.example.`;
    return `“${text}” isn't a website: write https://shop.example, or https://*.shop.example for its subdomains.`;
  }
  const [, scheme = "", wildcard = "", host = "", rest = ""] = match;
  if (rest !== "" && rest !== "/") return `“${text}” has a path: write ${scheme}://${host} alone.`;
  const { hostname = "" } = URL.parse(`${scheme}://${host}`) ?? {};
  const isHost = /^(?:[a-z0-9._-]+|\[.+\])$/.test(hostname) && wildcard.length + hostname.length <= 253;
  return isHost ? null : `“${host}” isn't a host name.`;
}
