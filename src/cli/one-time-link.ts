/** Prints one-time links to the dashboard, and offers one as long as no one can sign in. */
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSealedSecrets } from "../app/sealed-secrets.ts";
import type { OpenedServices } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { Store } from "../contracts/store/store.ts";
import { keepMail } from "../core/mail/keep-mail.ts";
import type { Account } from "../domain/account.ts";
import { type LinkPurpose, makeOneTimeLink } from "../domain/one-time-link.ts";
import { toRfc3339 } from "../lib/clock.ts";
import type { ActionInput, ActionResult } from "./command.ts";
import { askServers } from "./control-socket/ask.ts";
import { toReachable } from "./start-message.ts";

/** Stores the hash of a new link; earlier links of its kind become invalid. `owner` gets one by mail, too, where any is sent. */
export async function issueLink(
  input: ActionInput,
  purpose: LinkPurpose,
  use: string,
  owner: Account | null = null,
): Promise<ActionResult> {
  const config = input.loadConfig();
  const { kept, path } = makeOneTimeLink(purpose, input.ids, input.clock);
  const store = await input.openStore();
  await store.sessions.createLink(kept, input.audit());
  const { baseUrl, doubt } = await findDashboard(config);
  const url = baseUrl + path;
  const expiresAt = toRfc3339(kept.expiresAt);
  const mailed = owner !== null && (await mailLink(input, store, owner, { ...kept, path }));
  const sentences = [
    `${use} It works once, until ${expiresAt}.`,
    ...(mailed ? [`The running server sends it to ${owner.email} as well.`] : []),
    ...(doubt === null ? [] : [doubt]),
  ];
  return { json: { url, expires_at: expiresAt }, text: [url, ...sentences].join("\n") };
}

/** Keeps it for the server to send. False where no mail is set, and where it would not be known where the link leads. */
async function mailLink(
  { loadConfig, ids, clock }: ActionInput,
  store: Store,
  owner: Account,
  { memberId, path, expiresAt: expiresAtMs }: { memberId: string | null; path: string; expiresAt: number },
): Promise<boolean> {
  const { mail, publicUrl, secretKey, dataDir } = loadConfig();
  if (mail === null || publicUrl === null) return false;
  const sealing = createSealedSecrets({ secretKey, dataDir, store });
  const content = { to: owner.email, from: owner.email, path, expiresAtMs };
  const request = { accountId: owner.id, memberId, kind: "reset_link", content, expiresAtMs } as const;
  return (await keepMail({ store, sealing, ids }, request, clock.nowMs())).result === "kept";
}

/** Where the running server is, whose port may be another than in this command's settings. */
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

interface SetupOffer {
  /** Opens the dashboard once; a secret. */
  link: string;
  /** The file with the link, or null if the link should be shown. */
  file: string | null;
}

/**
 * Offers a link to set up the dashboard as long as no one can sign in. Creates a link, or returns null if an account
 * already has a password, or another server offers one. Without a terminal the link is written to `setup-link` in the
 * data directory, readable by its owner only, because the log must not contain secrets.
 */
export async function offerSetup(
  services: Pick<OpenedServices, "store" | "coordination" | "ids" | "clock">,
  options: { baseUrl: string; dataDir: string; isShown: boolean },
): Promise<SetupOffer | null> {
  const file = join(options.dataDir, "setup-link");
  // Also deletes the link of an earlier start, which is no longer valid. Synchronous: the async call starts a thread
  // pool.
  rmSync(file, { force: true });
  if (await services.store.accounts.hasAnyPassword()) return null;
  // A new link ends the one before it: of servers that start together, one shows a link that works.
  if (!(await services.coordination.duties.take("set_up_link"))) return null;
  const { kept, path } = makeOneTimeLink({ kind: "setup", accountId: null }, services.ids, services.clock);
  const actor = { kind: "system", id: null, ipPrefix: null, requestId: null } as const;
  const context = { actor, nowMs: services.clock.nowMs(), auditId: services.ids.uuid() };
  await services.store.sessions.createLink(kept, context);
  const link = options.baseUrl + path;
  if (options.isShown) return { link, file: null };
  await writeFile(file, `${link}\n`, { mode: 0o600, flag: "wx" });
  return { link, file };
}
