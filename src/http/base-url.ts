/** The `{base_url}`: for the caller, the address of the request; for everyone else, only a known address. */

import type { Services, Settings } from "../core/dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { forwardedBase, hasUsualHost } from "./client-ip.ts";

type Address = Pick<Settings, "publicUrl" | "trustedProxies" | "isTls" | "isLoopback">;

/**
 * Without a trailing slash. Never use it in anything that is cached or that others follow: any client may have chosen
 * it.
 */
export function baseUrlOf(settings: Omit<Address, "isLoopback">, request: Request): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const forwarded = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  return `${forwarded.protocol}://${forwarded.host}`;
}

/** `knownBaseUrlOf`, or `conflict`: links that sign in must not lead to a host that a client has named. */
export function requireBaseUrl(settings: Address, request: Request): string {
  const baseUrl = knownBaseUrlOf(settings, request);
  if (baseUrl !== null) return baseUrl;
  throw new AppError(
    "conflict",
    "The server does not know its own address, which the link needs: set COMPANIOND_PUBLIC_URL and restart it, or make " +
      "the link with companiond account reset-link on its machine.",
  );
}

/**
 * The same if it is certain, otherwise null: it is configured, or a program on this machine asked this machine
 * directly. Even then a page of another name that resolves to this machine would send its own name.
 */
export function knownBaseUrlOf(settings: Address, request: Request): string | null {
  if (settings.publicUrl !== null) return settings.publicUrl;
  // Browsers accept host names that we do not, and those would count as localhost.
  if (!settings.isLoopback || settings.trustedProxies > 0 || !hasUsualHost(request)) return null;
  const { protocol, host } = forwardedBase(request.headers, 0, settings.isTls);
  return isLoopbackHost(host) ? `${protocol}://${host}` : null;
}

/** If our own address is unknown, no page is ours: the client may have sent any host. */
export function isOwnPage({ settings }: Pick<Services, "settings">, request: Request, origin: string | null): boolean {
  const own = knownBaseUrlOf(settings, request);
  if (own === null) return false;
  if (origin === null) return request.headers.get("sec-fetch-site") === "same-origin";
  if (settings.publicUrl !== null) return origin === own || settings.otherUrls.includes(origin);
  // On this machine, TLS may end before us: host and port decide.
  return origin.split("://")[1] === own.split("://")[1];
}
