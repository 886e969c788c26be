/** The `{base_url}` in links and snippets: configured, or what the request was addressed to. */
import { forwardedBase } from "./client-ip.ts";
import type { Settings } from "./services.ts";

/** Without a trailing slash. */
export function baseUrlOf(
  settings: Pick<Settings, "publicUrl" | "trustedProxies" | "isTls">,
  request: Request,
): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const forwarded = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  return `${forwarded.protocol}://${forwarded.host}`;
}
