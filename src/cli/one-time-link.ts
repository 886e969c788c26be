/** Links that open the dashboard once: to set it up, or to choose a new password. */
import type { Config } from "../config.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { sha256Hex } from "../lib/sha256.ts";
import type { OneTimeLink, Store } from "../store/store.ts";
import type { ActionInput, ActionResult } from "./command.ts";

const lifetimeMs = 30 * 60_000;

/** Keeps the hash of a new link and returns the link; earlier ones of its kind end. */
export async function issueLink(
  input: Pick<ActionInput, "clock" | "ids">,
  config: Config,
  store: Store,
  link: Pick<OneTimeLink, "kind" | "accountId">,
): Promise<{ url: string; expiresAt: number }> {
  const secret = input.ids.secret(43);
  const expiresAt = input.clock.nowMs() + lifetimeMs;
  await store.sessions.createLink({ ...link, hash: sha256Hex(secret), expiresAt });
  // In the fragment, which browsers keep to themselves: no log or proxy ever holds the secret.
  return { url: `${dashboardUrl(config)}/app/${link.kind}#${secret}`, expiresAt };
}

export function describeLink(link: { url: string; expiresAt: number }, purpose: string): ActionResult {
  return {
    json: { url: link.url, expires_at: toRfc3339(link.expiresAt) },
    text: `${link.url}\n${purpose} It works once, until ${toRfc3339(link.expiresAt)}.`,
  };
}

/** Where the dashboard most likely is, seen from the operator's browser. */
function dashboardUrl({ publicUrl, server }: Config): string {
  if (publicUrl !== null) return publicUrl;
  const host = server.host === "0.0.0.0" || server.host === "::" ? "localhost" : server.host;
  return `${server.tls === null ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}
