/** Whether the public URL is missing where the server needs it. */
import type { Config } from "../config/config.ts";
import { isLoopbackAddress } from "../lib/loopback.ts";

/** Off loopback or behind a proxy, the server's address in requests cannot be trusted. */
export function lacksPublicUrl({ publicUrl, server }: Pick<Config, "publicUrl" | "server">): boolean {
  return publicUrl === null && (server.trustProxy > 0 || !isLoopbackAddress(server.host));
}

export const withoutPublicUrl =
  "the hosted pages of companions with allowed_origins are refused, and neither reset links nor the embed snippet are available";
