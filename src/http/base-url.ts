/** The `{base_url}`: for whoever asked, what the request was addressed to; for everybody else, only what is known. */

import type { Settings } from "../dependencies.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { forwardedBase, hasUsualHost } from "./client-ip.ts";

type Address = Pick<Settings, "publicUrl" | "trustedProxies" | "isTls" | "isLoopback">;

/** Without a trailing slash. Never in what caches keep or others follow: any client may have written it. */
export function baseUrlOf(settings: Omit<Address, "isLoopback">, request: Request): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const forwarded = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  return `${forwarded.protocol}://${forwarded.host}`;
}

/**
 * The same where it is known for certain, else null: it is configured, or a program on this machine asked this machine,
 * with nothing in between. A page of another name that was made to lead here would still name itself.
 */
export function knownBaseUrlOf(settings: Address, request: Request): string | null {
  if (settings.publicUrl !== null) return settings.publicUrl;
  // Browsers take names that we do not, and what we do not take would count as localhost.
  if (!settings.isLoopback || settings.trustedProxies > 0 || !hasUsualHost(request)) return null;
  const { protocol, host } = forwardedBase(request.headers, 0, settings.isTls);
  return isLoopbackHost(host) ? `${protocol}://${host}` : null;
}
