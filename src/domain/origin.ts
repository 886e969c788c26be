/** Allowed origins: how owners write them, and which request origins they match. */

/** Room for a scheme, the longest host and a port. Entries from before this limit may be longer. */
export const maxOriginLength = 270;
/** The limit of DNS. */
const maxHostLength = 253;

const hostPattern = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * URLs may contain `;` or `,` in the host. No website has such a host, and in a Content-Security-Policy they would end
 * the directive.
 */
const webHostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * The normal form of an allowed origin: lower case, without default port or trailing slash; null if the text is not an
 * origin, or too long. `https://*.shop.example` matches every subdomain, but not the domain itself.
 */
export function normalizeOrigin(text: string): string | null {
  if (text.length > maxOriginLength) return null;
  const match = /^(https?):\/\/(\*\.)?([^/?#@*\\\s]+)\/?$/i.exec(text);
  if (!match) return null;
  const [, scheme = "", wildcard = "", authority = ""] = match;
  let url: URL;
  try {
    url = new URL(`${scheme}://${authority}`);
  } catch {
    return null;
  }
  if (wildcard !== "" && !hostPattern.test(url.hostname)) return null;
  if (!webHostPattern.test(url.hostname) || wildcard.length + url.hostname.length > maxHostLength) return null;
  return `${url.protocol}//${wildcard}${url.host}`;
}

/** Whether the browser's `Origin` matches the list of normal forms. */
export function isOriginAllowed(origin: string, allowed: readonly string[]): boolean {
  for (const entry of allowed) {
    if (entry === origin) return true;
    const wildcardAt = entry.indexOf("://*.");
    if (wildcardAt === -1) continue;
    const scheme = entry.slice(0, wildcardAt + 3);
    const suffix = entry.slice(wildcardAt + 4);
    if (origin.startsWith(scheme) && origin.endsWith(suffix) && origin.length > scheme.length + suffix.length)
      return true;
  }
  return false;
}
