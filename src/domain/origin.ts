/** Allowed origins: how owners write them, and which request origins they cover. */

/** A scheme, the longest host and a port fit in; entries of before there was a limit may be longer. */
export const maxOriginLength = 270;
/** Of DNS. */
const maxHostLength = 253;

const hostPattern = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** URLs may name hosts with `;` or `,` in them, which no website has, and which end a part of a policy that names them. */
const webHostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * The normal form of an allowed origin: lower case, without default port or trailing slash; or null where the text
 * is no origin, or too long for one. `https://*.shop.example` covers every subdomain, not the domain itself.
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

/** Whether the browser's `Origin` is in the list of normal forms. */
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
