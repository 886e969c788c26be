/** Prints one-time links to the dashboard. */
import type { Config } from "../config/config.ts";
import { type LinkPurpose, makeOneTimeLink } from "../domain/one-time-link.ts";
import { toRfc3339 } from "../lib/clock.ts";
import type { ActionInput, ActionResult } from "./command.ts";
import { askServers } from "./door/ask.ts";
import { toReachable } from "./start-message.ts";

/** Stores the hash of a new link; earlier links of its kind become invalid. */
export async function issueLink(input: ActionInput, purpose: LinkPurpose, use: string): Promise<ActionResult> {
  const config = input.loadConfig();
  const { kept, path } = makeOneTimeLink(purpose, input.ids, input.clock);
  const store = await input.openStore();
  await store.sessions.createLink(kept, input.audit());
  const { baseUrl, doubt } = await findDashboard(config);
  const url = baseUrl + path;
  const expiresAt = toRfc3339(kept.expiresAt);
  const sentences = [`${use} It works once, until ${expiresAt}.`, ...(doubt === null ? [] : [doubt])];
  return { json: { url, expires_at: expiresAt }, text: [url, ...sentences].join("\n") };
}

/** Where the running server is, whose port may be another than this command's settings say. */
async function findDashboard(config: Config): Promise<{ baseUrl: string; doubt: string | null }> {
  const { servers } = await askServers(config.dataDir);
  for (const one of servers) {
    if (one.kind === "unknown") continue;
    const { publicUrl, listening } = one.facts;
    const baseUrl = publicUrl ?? config.publicUrl ?? toReachable(listening[0] ?? "");
    if (URL.canParse(baseUrl)) return { baseUrl, doubt: null };
  }
  const [silent] = servers;
  const reason = silent?.kind === "unknown" ? silent.sentence : `No server is running in ${config.dataDir}.`;
  return {
    baseUrl: configuredUrl(config),
    doubt: `${reason} The link leads to the address in this command's settings.`,
  };
}

/** As seen from the operator's browser. */
function configuredUrl({ publicUrl, server: { host, port, tls } }: Config): string {
  if (publicUrl !== null) return publicUrl;
  const reachable = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${tls === null ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
