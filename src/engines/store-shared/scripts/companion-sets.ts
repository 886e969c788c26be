/** Sets of companions: read and applied as a whole, with as few statements as for one. */

import type { AuditEntry } from "../../../contracts/store/audit.ts";
import type {
  CompanionSetStore,
  NewAppliedRecord,
  SetCreate,
  SetMember,
  SetScope,
  SetState,
  SetUpdate,
  SetWrites,
} from "../../../contracts/store/companion-sets.ts";
import { toMadeCompanion } from "../../../contracts/store/companions.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Companion } from "../../../domain/companion.ts";
import { missing } from "../../../domain/errors.ts";
import type { AppliedRecord } from "../../../domain/version.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { companionEvent } from "../rows/events.ts";
import { toFacts, type VersionRow } from "../rows/versions.ts";
import { changes } from "./changes.ts";
import { companionStates, type HeldCompanion, selectBySlugs, sourcesOf } from "./companion-states.ts";
import type { CompanionWriter } from "./companion-writes.ts";
import { holdings } from "./holdings.ts";
import { all, columns, insertAll, lock, run, type Script, type ScriptRunner } from "./script.ts";
import { versionQueries } from "./version-store.ts";
import { versions } from "./versions.ts";

type AppliedRow = { companionId: string; setName: string; isPruned: boolean | number; version: number } & Record<
  "fields" | "tools" | "sources",
  string
> & { appliedAt: number };

const values = ["setName", "fields", "tools", "sources", "isPruned", "version", "appliedAt"] as const;
const shown = columns<AppliedRow>("a", ["companionId", ...values]);
export const setQueries = {
  bySlug: selectBySlugs,
  members: "SELECT companion_id AS id FROM applied_companions WHERE account_id = $1 AND set_name = $2",
  applied: `SELECT ${shown} FROM applied_companions a WHERE a.companion_id = ANY ($1::text[])`,
};
const forget = "DELETE FROM applied_companions WHERE companion_id = ANY ($1::text[])";
// Not deleted and made again: of 250 rows of 30 KB, that takes 15 ms more of the event loop.
const replaceApplied = `ON CONFLICT (companion_id) DO UPDATE SET ${[...values, "bytes"]
  .map(toSnakeCase)
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")}`;

function toApplied({ setName: set, isPruned, version, appliedAt, ...row }: AppliedRow): AppliedRecord {
  const [fields, tools, sources] = [row.fields, row.tools, row.sources].map((json) => JSON.parse(json));
  return { set, fields, tools, sources, isPruned: Boolean(isPruned), version, appliedAt };
}

function* listIds(accountId: string, { set, slugs, adoptIds, isWholeSet }: SetScope): Script<string[]> {
  const named = slugs.length === 0 ? [] : yield* all<{ id: string }>(setQueries.bySlug, accountId, slugs);
  const members = isWholeSet ? yield* all<{ id: string }>(setQueries.members, accountId, set) : [];
  return [...new Set([...adoptIds, ...[...named, ...members].map(({ id }) => id)])];
}

function* toState(held: readonly HeldCompanion[]): Script<SetState> {
  const ids = held.map(({ companion }) => companion.id);
  const applied = ids.length === 0 ? [] : yield* all<AppliedRow>(setQueries.applied, ids);
  type Since = VersionRow & { companionId: string };
  const since = applied.length === 0 ? [] : yield* all<Since>(versionQueries.since, ids);
  const recordOf = new Map(applied.map((row) => [row.companionId, toApplied(row)]));
  const changesOf = Map.groupBy(since, ({ companionId }) => companionId);
  return {
    companions: held.map((one): SetMember => {
      const { companion, tools } = one;
      const record = recordOf.get(companion.id) ?? null;
      const changed = (changesOf.get(companion.id) ?? []).map(toFacts);
      return { companion, tools, sources: sourcesOf(one), applied: record, changes: changed };
    }),
  };
}

function toAppliedRow(accountId: string, { id, version }: Companion, applied: NewAppliedRecord) {
  const { set: setName, fields, tools, sources, isPruned, appliedAt } = applied;
  const json = { fields: JSON.stringify(fields), tools: JSON.stringify(tools), sources: JSON.stringify(sources) };
  const bytes = Object.values(json).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { companionId: id, accountId, setName, ...json, isPruned, version, bytes, appliedAt };
}

/** The names of what is changed, as an audit entry has them. */
function namesOf({ patch, ...of }: SetUpdate): string[] {
  const { toolCreates = [], toolUpdates = [], toolDeletes = [] } = of;
  const { sourceCreates = [], sourceUpdates = [], sourceDeletes = [] } = of;
  const names = Object.keys(patch);
  if (toolCreates.length + toolUpdates.length + toolDeletes.length > 0) names.push("tools");
  if (sourceCreates.length + sourceUpdates.length + sourceDeletes.length > 0) names.push("sources");
  return names;
}

export function createCompanionSetStore(
  scripts: ScriptRunner,
  writer: CompanionWriter,
  removals: { start(): void },
): CompanionSetStore {
  /** What is made has version 1, with its tools and sources. */
  function* create(accountId: string, creates: readonly SetCreate[], context: WriteContext): Script<HeldCompanion[]> {
    if (creates.length === 0) return [];
    const { nowMs } = context;
    const accountNumber = yield* changes.requireAccount(accountId);
    const companions = creates.map(({ companion }) => companion);
    const inserted = yield* writer.insert(accountId, companions, nowMs);
    yield* writer.index(accountNumber, inserted);
    const numbers = new Map(inserted.map(({ id, number }) => [id, number]));
    const furnished = creates.map(({ companion, tools: toolCreates, sources: sourceCreates }) => {
      const made = { companion: toMadeCompanion(accountId, companion, nowMs), tools: [], sources: [] };
      const held: HeldCompanion = { number: numbers.get(companion.id) ?? 0, ...made };
      return { held, revision: { toolCreates, sourceCreates } };
    });
    yield* writer.furnish(accountId, furnished, nowMs);
    const made = furnished.map(({ held }) => held);
    yield* versions.noteMade(
      accountId,
      made.map(({ companion }) => companion),
      context,
    );
    return made;
  }

  function* write(
    accountId: string,
    held: ReadonlyMap<string, HeldCompanion>,
    { creates, updates, deletes }: SetWrites<unknown>,
    context: WriteContext,
  ): Script<void> {
    const find = (id: string) => {
      const one = held.get(id);
      if (one === undefined) throw missing("companion");
      return one;
    };
    for (const { id } of deletes) yield* writer.remove(accountId, find(id), context.nowMs);
    const revised = updates.map((revision) => ({ held: find(revision.id), revision }));
    const written = yield* writer.revise(accountId, revised, context);
    const before = yield* holdings.measure(accountId, context);
    const made = yield* create(accountId, creates, context);
    const now = new Map(
      [...made, ...written.map(({ after }) => after)].map((one) => [one.companion.id, one.companion]),
    );
    const left = updates.filter(({ applied }) => applied === null).map(({ id }) => id);
    if (left.length > 0) yield* run(forget, left);
    const applied = [...creates.map((one) => ({ id: one.companion.id, ...one })), ...updates].flatMap((one) => {
      const companion = now.get(one.id);
      return one.applied == null || companion === undefined ? [] : [toAppliedRow(accountId, companion, one.applied)];
    });
    yield* insertAll("applied_companions", applied, replaceApplied);
    if (creates.length > 0) yield* holdings.checkNewCompanions(accountId, context);
    else yield* holdings.checkGrowth(accountId, before, context);
    yield* record(accountId, { creates, updates, deletes }, { held, now }, context);
  }

  /** One audit entry and one event for each that changes. */
  function* record(
    accountId: string,
    { creates, updates, deletes }: Pick<SetWrites<unknown>, "creates" | "updates" | "deletes">,
    { held, now }: { held: ReadonlyMap<string, HeldCompanion>; now: ReadonlyMap<string, Companion> },
    context: WriteContext,
  ): Script<void> {
    const entries: AuditEntry[] = [];
    const events: NewEvent[] = [];
    const note = (
      kind: "create" | "update" | "delete",
      companion: Companion | undefined,
      auditId: string,
      details: AuditEntry["details"],
      changed?: string[],
    ) => {
      if (companion === undefined) return;
      const { actor, nowMs: createdAt } = context;
      entries.push({
        id: auditId,
        accountId,
        actor,
        action: `companion.${kind}`,
        targetId: companion.id,
        details,
        createdAt,
      });
      if (context.hasWebhooks === false) return;
      const type = `companion.${kind}d` as const;
      events.push(companionEvent(type, accountId, companion, { ...context, auditId }, changed));
    };
    for (const { auditId, companion } of creates) {
      note("create", now.get(companion.id), auditId, { name: companion.name });
    }
    for (const update of updates) {
      const changed = namesOf(update);
      if (changed.length > 0) note("update", now.get(update.id), update.auditId, { changed }, changed.map(toSnakeCase));
    }
    for (const { id, auditId } of deletes) {
      const companion = held.get(id)?.companion;
      note("delete", companion, auditId, { name: companion?.name ?? "" });
    }
    yield* changes.audit(...entries);
    if (events.length > 0) yield* writer.emit(events);
  }

  return {
    read: (accountId, scope) =>
      scripts.readHeavy(function* () {
        return yield* toState(yield* companionStates.read(accountId, yield* listIds(accountId, scope)));
      }),

    async apply<Result>(
      accountId: string,
      scope: SetScope,
      decide: (state: SetState) => SetWrites<Result>,
      context: WriteContext,
    ) {
      const result = await scripts.changeHeavy(accountId, function* (): Script<Result> {
        const held = yield* companionStates.lock(accountId, yield* listIds(accountId, scope));
        const writes = decide(yield* toState(held));
        // Turns and sessions that are just being counted come first.
        for (const { id } of writes.deletes) yield* lock(`companion ${id}`);
        yield* write(accountId, new Map(held.map((one) => [one.companion.id, one])), writes, context);
        const { idempotent: _, ...rest } = context;
        yield* changes.record(writes.idempotent === null ? rest : { ...rest, idempotent: writes.idempotent }, null);
        return writes.result;
      });
      removals.start();
      return result;
    },
  };
}
