/** Prints one-time links to the dashboard. */
import type { Config } from "../config.ts";
import { type LinkPurpose, makeOneTimeLink } from "../domain/one-time-link.ts";
import { toRfc3339 } from "../lib/clock.ts";
import type { ActionInput, ActionResult } from "./command.ts";

/** Stores the hash of a new link; earlier links of its kind become invalid. */
export async function issueLink(input: ActionInput, purpose: LinkPurpose, use: string): Promise<ActionResult> {
  const config = input.loadConfig();
  const { kept, path } = makeOneTimeLink(purpose, input.ids, input.clock);
  const store = await input.openStore();
  await store.sessions.createLink(kept, input.audit());
  const url = dashboardUrl(config) + path;
  const expiresAt = toRfc3339(kept.expiresAt);
  return { json: { url, expires_at: expiresAt }, text: `${url}\n${use} It works once, until ${expiresAt}.` };
}

/** The most likely address of the dashboard, as seen from the operator's browser. */
function dashboardUrl({ publicUrl, server: { host, port, tls } }: Config): string {
  if (publicUrl !== null) return publicUrl;
  const reachable = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${tls === null ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
