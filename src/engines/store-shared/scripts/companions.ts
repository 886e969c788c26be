/** Companions: made, changed and deleted. Each engine finds and lists them in its own way. */
import { type CompanionStore, type NewCompanion, toMadeCompanion } from "../../../contracts/store/companions.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Companion, JsonObject } from "../../../domain/companion.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { toStoredSettings } from "../rows/companion.ts";
import { companionEvent } from "../rows/events.ts";
import { changes } from "./changes.ts";
import { holdings } from "./holdings.ts";
import { addRemoval } from "./removals.ts";
import { get, insertAll, lock, run, type Script, type ScriptRunner } from "./script.ts";
import { voiceAgents } from "./voice-agents.ts";

/**
 * The condition for companion `c` to belong to an account, where it is looked up by something else. No index serves it:
 * with plans made for empty tables, PostgreSQL could read all companions of an account to find one.
 */
export const ofAccount = (accountId: string) => `(c.account_id = ${accountId}) IS TRUE`;

export const selectOwned = `SELECT c.number FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;

/** One for each field: of a statement for several, another is prepared and kept for every choice of them and of nulls. */
const updateField = (field: string) =>
  `UPDATE companions SET ${toSnakeCase(field)} = $2, updated_at = $3 WHERE number = $1`;
const deleteRefused = "DELETE FROM companions WHERE number = ANY ($1::float8[]::bigint[])";

export function* ownsCompanion(accountId: string, companionId: string): Script<boolean> {
  return (yield* get(selectOwned, companionId, accountId)) !== null;
}

/** A new companion's place in the metadata index. */
interface Indexed {
  number: number;
  metadata: JsonObject;
}

interface Inserted extends Indexed {
  id: string;
}

function* insertRows(accountId: string, many: readonly NewCompanion[], nowMs: number): Script<Inserted[]> {
  yield* voiceAgents.check(accountId, many, null);
  const rows = many.map((companion) => {
    const { id, createdByKeyId, embedToken } = companion;
    const made = { accountId, hasSources: false, embedToken: embedToken.token, createdAt: nowMs, updatedAt: nowMs };
    return { ...toStoredSettings(companion), ...made, id, createdByKeyId };
  });
  const inserted = yield* insertAll<{ id: string; number: number }>("companions", rows, "RETURNING id, number");
  const tokens = many.map(({ id: companionId, embedToken: { id, token } }) => {
    return { id, token, companionId, name: null, createdAt: nowMs, lastUsedAt: null };
  });
  yield* insertAll("embed_tokens", tokens);
  const metadata = new Map(many.map((companion) => [companion.id, companion.metadata]));
  return inserted.map((row) => ({ ...row, metadata: metadata.get(row.id) ?? {} }));
}

/** What an engine has of its own. The account of an index is told by its number. */
export interface CompanionParts {
  find(accountId: string, id: string): Script<Companion | null>;
  /** Adds companions that are not yet in the metadata index. */
  index(accountNumber: number, companions: readonly Indexed[]): Script<void>;
  reindex(accountNumber: number, number: number, before: JsonObject, after: JsonObject): Script<void>;
  /** Keeps the metadata of a companion that is about to go, for usage. */
  keepLabel(companionId: string): Script<void>;
  /** See `NewEvent`. */
  tell(events: readonly NewEvent[]): Script<void>;
}

type CompanionChanges = Pick<CompanionStore, "create" | "createMany" | "createFitting" | "update" | "delete">;

export function createCompanionChanges(
  scripts: ScriptRunner,
  { find, index, reindex, keepLabel, tell }: CompanionParts,
  removals: { start(): void },
): CompanionChanges {
  function* insert(accountId: string, many: readonly NewCompanion[], nowMs: number): Script<void> {
    const accountNumber = yield* changes.requireAccount(accountId);
    yield* index(accountNumber, yield* insertRows(accountId, many, nowMs));
  }

  function* tellCreated(accountId: string, made: readonly NewCompanion[], context: WriteContext): Script<void> {
    if (context.hasWebhooks === false) return;
    yield* tell(made.map((companion) => companionEvent("companion.created", accountId, companion, context)));
  }

  /** What becomes of its voice agent is decided by one at a time. */
  function* findLocked(accountId: string, id: string, mode: "UPDATE" | "NO KEY UPDATE") {
    const owned = yield* get<{ number: number }>(`${selectOwned} FOR ${mode}`, id, accountId);
    const companion = owned === null ? null : yield* find(accountId, id);
    return owned === null || companion === null ? null : { number: owned.number, companion };
  }

  return {
    create: (accountId, companion, context) =>
      scripts.change(accountId, function* () {
        yield* insert(accountId, [companion], context.nowMs);
        yield* holdings.checkNewCompanions(accountId, context);
        const made = toMadeCompanion(accountId, companion, context.nowMs);
        const details = { name: made.name };
        yield* changes.record(context, { accountId, action: "companion.create", targetId: made.id, details });
        yield* tellCreated(accountId, [companion], context);
        return made;
      }),

    createMany: (accountId, many, context) =>
      scripts.changeHeavy(accountId, function* () {
        yield* insert(accountId, many, context.nowMs);
        yield* holdings.checkNewCompanions(accountId, context);
        const details = { count: many.length };
        yield* changes.record(context, { accountId, action: "companion.import", targetId: null, details });
        yield* tellCreated(accountId, many, context);
      }),

    createFitting: (accountId, many, context, toAnswer) =>
      scripts.changeHeavy(accountId, function* () {
        const accountNumber = yield* changes.requireAccount(accountId);
        const inserted = yield* insertRows(accountId, many, context.nowMs);
        const numbers = inserted.map(({ number }) => number);
        const refusals = yield* holdings.findThoseWithoutRoom(accountId, numbers, context);
        const kept = inserted.filter(({ id }) => !refusals.has(id));
        const refused = inserted.filter(({ id }) => refusals.has(id)).map(({ number }) => number);
        if (refused.length > 0) yield* run(deleteRefused, refused);
        yield* index(accountNumber, kept);
        const { idempotent: _, ...rest } = context;
        const answer = toAnswer(refusals);
        const recorded = answer === null ? rest : { ...rest, idempotent: answer };
        const details = { count: kept.length };
        const change = { accountId, action: "companion.import", targetId: null, details };
        yield* changes.record(recorded, kept.length === 0 ? null : change);
        const keptIds = new Set(kept.map(({ id }) => id));
        yield* tellCreated(
          accountId,
          many.filter(({ id }) => keptIds.has(id)),
          context,
        );
        return refusals;
      }),

    update: (accountId, id, revision, context) =>
      scripts.change(accountId, function* () {
        const found = yield* findLocked(accountId, id, "NO KEY UPDATE");
        if (found === null) return null;
        const { number, companion: before } = found;
        const patch = typeof revision === "function" ? revision(before) : revision;
        if (Object.keys(patch).length === 0) return before;
        const after = { ...before, ...patch, updatedAt: context.nowMs };
        yield* voiceAgents.check(accountId, [after], before.voiceAgentId);
        const bytesBefore = yield* holdings.measure(accountId, context);
        if (patch.voiceId === null) yield* voiceAgents.dismiss([id], context.nowMs);
        for (const [field, value] of Object.entries(toStoredSettings(patch))) {
          yield* run(updateField(field), number, value, context.nowMs);
        }
        yield* holdings.checkGrowth(accountId, bytesBefore, context);
        if (patch.metadata !== undefined) {
          yield* reindex(yield* changes.requireAccount(accountId), number, before.metadata, patch.metadata);
        }
        const details = { changed: Object.keys(patch) };
        yield* changes.record(context, { accountId, action: "companion.update", targetId: id, details });
        if (context.hasWebhooks !== false) {
          const changed = Object.keys(patch).map(toSnakeCase);
          yield* tell([companionEvent("companion.updated", accountId, after, context, changed)]);
        }
        return after;
      }),

    async delete(accountId, id, context, check) {
      const isDeleted = await scripts.change(accountId, function* () {
        // Turns and sessions that are just being counted come first.
        yield* lock(`companion ${id}`);
        const found = yield* findLocked(accountId, id, "UPDATE");
        if (found === null) return false;
        const { number, companion } = found;
        check?.(companion);
        const accountNumber = yield* changes.requireAccount(accountId);
        yield* voiceAgents.dismiss([id], context.nowMs);
        yield* reindex(accountNumber, number, companion.metadata, {});
        yield* keepLabel(id);
        yield* run("DELETE FROM quota_daily WHERE companion_id = $1", id);
        // Deletes the row's embed tokens too.
        yield* run("DELETE FROM companions WHERE number = $1", number);
        yield* addRemoval("companion", id, number, context.nowMs);
        const details = { name: companion.name };
        yield* changes.record(context, { accountId, action: "companion.delete", targetId: id, details });
        if (context.hasWebhooks !== false)
          yield* tell([companionEvent("companion.deleted", accountId, companion, context)]);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}
