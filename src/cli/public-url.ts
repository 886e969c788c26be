/** Whether the server is told how the outside reaches it, where it has to know. */
import type { Config } from "../config.ts";
import { isLoopbackAddress } from "../lib/loopback.ts";

/** Off loopback or behind a proxy, what requests say of the server's address is not to be believed. */
export function lacksPublicUrl({ publicUrl, server }: Pick<Config, "publicUrl" | "server">): boolean {
  return publicUrl === null && (server.trustProxy > 0 || !isLoopbackAddress(server.host));
}

export const withoutPublicUrl =
  "the hosted pages of companions with allowed_origins are refused, and reset links and the tag to copy are not made";
