/** Companions: made, changed and deleted. Each engine finds and lists them differently. */
import { type CompanionStore, type NewCompanion, toMadeCompanion } from "../../../contracts/store/companions.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { AppError } from "../../../domain/errors.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { companionEvent } from "../rows/events.ts";
import { changes } from "./changes.ts";
import { createCompanionFaces } from "./companion-faces.ts";
import { companionStates, ofAccount } from "./companion-states.ts";
import { type CompanionWriter, findTakenSlugs, slugTaken } from "./companion-writes.ts";
import { holdings } from "./holdings.ts";
import { get, lock, run, type Script, type ScriptRunner } from "./script.ts";

export const selectOwned = `SELECT c.number FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;
const deleteRefused = "DELETE FROM companions WHERE number = ANY ($1::float8[]::bigint[])";

export function* ownsCompanion(accountId: string, companionId: string): Script<boolean> {
  return (yield* get(selectOwned, companionId, accountId)) !== null;
}

/** Of new companions those whose slug the account has, or another of them before. */
function* refuseSlugs(accountId: string, many: readonly NewCompanion[]): Script<Map<string, AppError>> {
  const taken = yield* findTakenSlugs(
    accountId,
    many.flatMap(({ slug }) => slug ?? []),
  );
  const refusals = new Map<string, AppError>();
  for (const { id, slug } of many) {
    if (slug === null) continue;
    if (taken.has(slug)) refusals.set(id, slugTaken(slug));
    taken.add(slug);
  }
  return refusals;
}

type CompanionChanges = Pick<
  CompanionStore,
  "create" | "createMany" | "createFitting" | "update" | "delete" | "setAvatar" | "findAvatar" | "recordSeen"
>;

export function createCompanionChanges(
  scripts: ScriptRunner,
  writer: CompanionWriter,
  removals: { start(): void },
): CompanionChanges {
  const { index, emit } = writer;

  function* insert(accountId: string, many: readonly NewCompanion[], nowMs: number): Script<void> {
    const accountNumber = yield* changes.requireAccount(accountId);
    yield* index(accountNumber, yield* writer.insert(accountId, many, nowMs));
  }

  function* emitCreated(accountId: string, made: readonly NewCompanion[], context: WriteContext): Script<void> {
    if (context.hasWebhooks === false) return;
    yield* emit(made.map((companion) => companionEvent("companion.created", accountId, companion, context)));
  }

  return {
    ...createCompanionFaces(scripts, writer),

    create: (accountId, companion, context) =>
      scripts.change(accountId, function* () {
        yield* insert(accountId, [companion], context.nowMs);
        yield* holdings.checkNewCompanions(accountId, context);
        const made = toMadeCompanion(accountId, companion, context.nowMs);
        const details = { name: made.name };
        yield* changes.record(context, { accountId, action: "companion.create", targetId: made.id, details });
        yield* emitCreated(accountId, [companion], context);
        return made;
      }),

    createMany: (accountId, many, context) =>
      scripts.changeHeavy(accountId, function* () {
        yield* insert(accountId, many, context.nowMs);
        yield* holdings.checkNewCompanions(accountId, context);
        const details = { count: many.length };
        yield* changes.record(context, { accountId, action: "companion.import", targetId: null, details });
        yield* emitCreated(accountId, many, context);
      }),

    createFitting: (accountId, many, context, toAnswer) =>
      scripts.changeHeavy(accountId, function* () {
        const accountNumber = yield* changes.requireAccount(accountId);
        const refusals = yield* refuseSlugs(accountId, many);
        const wanted = many.filter(({ id }) => !refusals.has(id));
        const inserted = yield* writer.insert(accountId, wanted, context.nowMs);
        const numbers = inserted.map(({ number }) => number);
        for (const refusal of yield* holdings.findThoseWithoutRoom(accountId, numbers, context))
          refusals.set(...refusal);
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
        yield* emitCreated(
          accountId,
          many.filter(({ id }) => keptIds.has(id)),
          context,
        );
        return refusals;
      }),

    update: (accountId, id, revision, context) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, id);
        if (held === null) return null;
        const patch = typeof revision === "function" ? revision(held.companion) : revision;
        if (Object.keys(patch).length === 0) return held.companion;
        const [written] = yield* writer.revise(accountId, [{ held, revision: { patch } }], context);
        const after = written?.after.companion ?? held.companion;
        const details = { changed: Object.keys(patch) };
        yield* changes.record(context, { accountId, action: "companion.update", targetId: id, details });
        if (context.hasWebhooks !== false) {
          const changed = Object.keys(patch).map(toSnakeCase);
          yield* emit([companionEvent("companion.updated", accountId, after, context, changed)]);
        }
        return after;
      }),

    async delete(accountId, id, context, check) {
      const isDeleted = await scripts.change(accountId, function* () {
        // Turns and sessions that are just being counted come first.
        yield* lock(`companion ${id}`);
        const [held] = yield* companionStates.lockToDelete(accountId, [id]);
        if (held === undefined) return false;
        const { companion } = held;
        check?.(companion);
        yield* writer.remove(accountId, held, context.nowMs);
        const details = { name: companion.name };
        yield* changes.record(context, { accountId, action: "companion.delete", targetId: id, details });
        if (context.hasWebhooks !== false)
          yield* emit([companionEvent("companion.deleted", accountId, companion, context)]);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}
