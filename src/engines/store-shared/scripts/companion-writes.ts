/** Companions as all that changes them writes them: made, changed with their tools and sources, and deleted. */
import type { NewCompanion } from "../../../contracts/store/companions.ts";
import type { CompanionRevision } from "../../../contracts/store/versions.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { AppError } from "../../../domain/errors.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { toStoredSettings } from "../rows/companion.ts";
import type { MetadataChange } from "../rows/metadata-blocks.ts";
import { changes } from "./changes.ts";
import { type HeldCompanion, selectBySlugs } from "./companion-states.ts";
import { holdings } from "./holdings.ts";
import { addRemoval } from "./removals.ts";
import { all, insertAll, type Parameter, run, runAll, type Script } from "./script.ts";
import type { SourceChanges, SourceWriter } from "./source-writes.ts";
import { changeTools, type ToolChanges } from "./tool-writes.ts";
import { versionRemovals } from "./version-room.ts";
import { versions, type WrittenChange } from "./versions.ts";
import { voiceAgents } from "./voice-agents.ts";

/** One for each field: of a statement for several, another is prepared and kept for every choice of them and of nulls. */
const updateField = (field: string) =>
  `UPDATE companions SET ${toSnakeCase(field)} = $2, updated_at = $3 WHERE number = $1`;
const clearSlugs = "UPDATE companions SET slug = NULL WHERE number = ANY ($1::float8[]::bigint[])";
const leaveSets = "DELETE FROM applied_companions WHERE companion_id = ANY ($1::text[])";

/** Versions that are deleted with their companion; the rest is deleted in the background. */
const maxRemoved = 50;

/** A new companion's entry in the metadata index. */
export interface Indexed {
  number: number;
  metadata: JsonObject;
}

export interface Inserted extends Indexed {
  id: string;
}

/** What an engine has of its own. An index knows its account by the number. */
export interface CompanionParts {
  /** Adds companions that are not yet in the metadata index. */
  index(accountNumber: number, companions: readonly Indexed[]): Script<void>;
  reindex(accountNumber: number, changes: readonly MetadataChange[]): Script<void>;
  /** Keeps the metadata of a companion that is about to go, for usage. */
  keepLabel(companionId: string): Script<void>;
  /** See `NewEvent`. */
  emit(events: readonly NewEvent[]): Script<void>;
}

export interface Furnished {
  readonly held: HeldCompanion;
  readonly revision: ToolChanges & SourceChanges;
}

export interface Revised extends Furnished {
  readonly revision: CompanionRevision & SourceChanges;
}

const resources = [
  "toolCreates",
  "toolUpdates",
  "toolDeletes",
  "sourceCreates",
  "sourceUpdates",
  "sourceDeletes",
] as const;

/** What a companion is of which only fields are changed, without reading it again. */
const toKnown =
  (nowMs: number) =>
  ({ held, revision }: Revised): HeldCompanion[] => {
    if (resources.some((name) => (revision[name] ?? []).length > 0)) return [];
    const { patch } = revision;
    if (Object.keys(patch).length === 0) return [held];
    return [{ ...held, companion: { ...held.companion, ...patch, updatedAt: nowMs } }];
  };

export const slugTaken = (slug: string) =>
  new AppError("conflict", `The account has a companion with the slug ${slug} already.`);

/** Of these slugs those that a companion has. */
export function* findTakenSlugs(accountId: string, slugs: readonly string[]): Script<Set<string>> {
  const rows = slugs.length === 0 ? [] : yield* all<{ slug: string }>(selectBySlugs, accountId, slugs);
  return new Set(rows.map(({ slug }) => slug));
}

/** Throws `conflict`. */
function* requireSlugs(accountId: string, slugs: readonly string[]): Script<void> {
  const taken = [...(yield* findTakenSlugs(accountId, slugs))][0] ?? slugs.find((slug, at) => slugs.indexOf(slug) < at);
  if (taken !== undefined) throw slugTaken(taken);
}

export type CompanionWriter = ReturnType<typeof createCompanionWriter>;

export function createCompanionWriter({ reindex, keepLabel, ...parts }: CompanionParts, sources: SourceWriter) {
  /** Slugs may move from one to another of them. */
  function* changeSlugs(accountId: string, many: readonly Revised[]): Script<void> {
    const changed = many.filter(({ held, revision: { patch } }) => {
      return patch.slug !== undefined && patch.slug !== held.companion.slug;
    });
    if (changed.length === 0) return;
    yield* run(
      clearSlugs,
      changed.map(({ held }) => held.number),
    );
    yield* run(
      leaveSets,
      changed.map(({ held }) => held.companion.id),
    );
    yield* requireSlugs(
      accountId,
      changed.flatMap(({ revision }) => revision.patch.slug ?? []),
    );
  }

  function* changeFields(accountId: string, many: readonly Revised[], nowMs: number): Script<void> {
    yield* changeSlugs(accountId, many);
    const rows = new Map<string, Parameter[][]>();
    for (const { held, revision } of many) {
      const after = { ...held.companion, ...revision.patch };
      if (Object.keys(revision.patch).length > 0) {
        yield* voiceAgents.check(accountId, [after], held.companion.voiceAgentId);
      }
      for (const [field, value] of Object.entries(toStoredSettings(revision.patch))) {
        const row = [held.number, value, nowMs];
        if (rows.get(field)?.push(row) === undefined) rows.set(field, [row]);
      }
    }
    const voiceless = many.filter(({ revision: { patch } }) => patch.voiceId === null);
    if (voiceless.length > 0)
      yield* voiceAgents.dismiss(
        voiceless.map(({ held }) => held.companion.id),
        nowMs,
      );
    for (const [field, changed] of rows) yield* runAll(updateField(field), changed);
    const remetadata = many.filter(({ revision: { patch } }) => patch.metadata !== undefined);
    if (remetadata.length === 0) return;
    const replaced = remetadata.map(({ held: { number, companion }, revision }) => {
      return { number, before: companion.metadata, after: revision.patch.metadata ?? {} };
    });
    yield* reindex(yield* changes.requireAccount(accountId), replaced);
  }

  /** Changes tools and sources alone, of those that have just been made without a version. */
  function* furnish(accountId: string, many: readonly Furnished[], nowMs: number): Script<void> {
    yield* changeTools(accountId, many, nowMs);
    yield* sources.storeUploads(
      many.map(({ revision }) => revision),
      nowMs,
    );
    yield* sources.change(accountId, many, nowMs);
  }

  return {
    ...parts,
    furnish,

    /** Not yet in the metadata index. Throws `conflict` for a slug that another has. */
    *insert(accountId: string, many: readonly NewCompanion[], nowMs: number): Script<Inserted[]> {
      yield* requireSlugs(
        accountId,
        many.flatMap(({ slug }) => slug ?? []),
      );
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
    },

    /**
     * Changes fields, tools and sources of companions that are locked, in the order of creation, with a version of each
     * that it changes. Throws what the methods of each resource do. Uploads are part of it.
     */
    *revise(accountId: string, many: readonly Revised[], context: WriteContext): Script<WrittenChange[]> {
      if (many.length === 0) return [];
      const before = yield* holdings.measure(accountId, context);
      yield* changeFields(accountId, many, context.nowMs);
      yield* furnish(accountId, many, context.nowMs);
      const after = yield* holdings.measure(accountId, context);
      const held = many.map((one) => one.held);
      const written = yield* versions.write(accountId, held, context, many.flatMap(toKnown(context.nowMs)));
      yield* holdings.checkChange(accountId, { before, after }, context);
      return written;
    },

    /** The companion is locked for deletion. */
    *remove(accountId: string, { number, companion }: HeldCompanion, nowMs: number): Script<void> {
      const { id, metadata } = companion;
      const accountNumber = yield* changes.requireAccount(accountId);
      yield* voiceAgents.dismiss([id], nowMs);
      yield* reindex(accountNumber, [{ number, before: metadata, after: {} }]);
      yield* keepLabel(id);
      yield* run("DELETE FROM quota_daily WHERE companion_id = $1", id);
      // Deletes the row's embed tokens, tools, draft and applied record too.
      yield* run("DELETE FROM companions WHERE number = $1", number);
      // What most have of them makes room with the same commit.
      yield* versionRemovals.removeOfCompanion(id, maxRemoved);
      yield* addRemoval("companion", id, number, nowMs);
    },
  };
}
