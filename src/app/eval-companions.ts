/** Brings companions of files into the store of evals, with the sources that are files. */
import { prepareApply } from "../api/companions/apply/service.ts";
import { readSource } from "../api/knowledge/sent-source.ts";
import { toNewSource } from "../api/knowledge/service.ts";
import type { Config } from "../config/config.ts";
import type { Store, WriteContext } from "../contracts/store/store.ts";
import { type AsCaller, readFileOf } from "../core/companion-files/named-files.ts";
import type { FileCompanion } from "../core/companion-files/read-companions.ts";
import type { Account } from "../domain/account.ts";
import { maxSources, maxUploadBytes } from "../domain/knowledge.ts";
import { createOutgoingHttp } from "../engines/outgoing-http/outgoing-http.ts";
import { SentFile } from "../http/upload-body.ts";
import type { Clock } from "../lib/clock.ts";
import { systemIds } from "../lib/ids.ts";
import type { Sealing } from "../lib/sealing.ts";
import { ownHostsOf } from "./server-settings.ts";

export interface ApplyingParts {
  readonly config: Config;
  readonly store: Store;
  /** Of a key that is gone with the store: files hold no secrets. */
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly account: Account;
  readonly isReplay: boolean;
  /** Reads the files that become sources. */
  readonly asCaller: AsCaller;
}

/** Throws `invalid_request` as `POST /api/apply` does. */
export async function applyAll(parts: ApplyingParts, companions: readonly FileCompanion[]): Promise<void> {
  const { config, store, sealing, clock, account, isReplay } = parts;
  const outgoing = createOutgoingHttp({ allowed: config.privateTargets, ownHosts: ownHostsOf(config) });
  const rules = {
    ...{ ...config.llm, dailyMessages: config.messagesPerDay[account.plan], voice: store.voice, accountId: account.id },
    // Whose addresses may be reached is a matter of who records.
    findUrlFault: isReplay ? () => null : outgoing.findFault,
    // There are no budgets here that need them.
    requirePrices: async () => {},
  };
  const body = { companions: companions.map(({ entry }) => entry) };
  const applier = { account, keyId: null, rules };
  const prepared = await prepareApply({ store, ids: systemIds, sealing }, applier, body, clock.nowMs());
  await prepared.write?.(toContext(clock));
  for (const companion of companions) await addUploads(parts, companion);
}

async function addUploads({ store, clock, account, asCaller }: ApplyingParts, { entry, uploads }: FileCompanion) {
  const companion = uploads.length === 0 ? null : await store.companions.findBySlug(account.id, String(entry["slug"]));
  if (companion === null) return;
  for (const { sourceSlug: slug, path, name } of uploads) {
    const sources = Array.isArray(entry["sources"]) ? entry["sources"] : [];
    const named = sources.find((one) => Object(one).slug === slug);
    const { title } = Object(named);
    const file = new SentFile(name, null, readFileOf(path, maxUploadBytes, asCaller));
    const sent = readSource({ file, slug, ...(typeof title === "string" ? { title } : {}) });
    const source = await toNewSource({ ids: systemIds }, sent);
    await store.knowledge.create(account.id, companion.id, source, toContext(clock));
  }
}

/** The sources that are not ready, as sentences. */
export async function listUnread(
  { store, account }: Pick<ApplyingParts, "store" | "account">,
  companions: readonly FileCompanion[],
): Promise<string[]> {
  const unread: string[] = [];
  for (const { entry } of companions) {
    const companion = await store.companions.findBySlug(account.id, String(entry["slug"]));
    if (companion === null) continue;
    const page = await store.knowledge.list(account.id, companion.id, { limit: maxSources, afterId: null });
    for (const { status, title, error } of page?.items ?? []) {
      if (status !== "ready")
        unread.push(`${companion.slug}: ${title} was not read: ${error ?? "It is still waiting."}`);
    }
  }
  return unread;
}

export function toContext(clock: Clock): WriteContext {
  const actor = { kind: "cli", id: null, ipPrefix: null, requestId: null } as const;
  return { actor, nowMs: clock.nowMs(), auditId: systemIds.uuid() };
}
