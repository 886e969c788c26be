/** Sources as changes of companions write them: call it inside a write that has locked the companion. */
import type { NewSource, SourceReplacement, SourceUpload } from "../../../contracts/store/knowledge.ts";
import { AppError } from "../../../domain/errors.ts";
import { maxSources } from "../../../domain/knowledge.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { type StoredSource, sourceFields, toKept } from "../rows/knowledge.ts";
import { withoutNul } from "../rows/text.ts";
import type { HeldCompanion } from "./companion-states.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import { all, columns, insertAll, run, type Script } from "./script.ts";

const lockMany = `SELECT ${columns<StoredSource>("s", sourceFields)} FROM knowledge_sources s
  WHERE s.id = ANY ($1::text[]) AND (s.companion_id = $2) IS TRUE ORDER BY s.id FOR UPDATE OF s`;
const queueAgain = `UPDATE knowledge_sources SET title = $2, url = $3, refresh_hours = $4, upload_id = $5, upload_bytes = $6,
    upload_hash = $7, kind = $8, due_at = $9, updated_at = $10, slug = $11, status = 'queued', error = NULL, failures = 0,
    revision = revision + 1, pages_done = NULL, pages_total = NULL
  WHERE number = $1`;
const noteKnowing = `UPDATE companions SET has_sources =
    EXISTS (SELECT 1 FROM knowledge_sources s WHERE s.companion_id = companions.id) WHERE id = ANY ($1::text[])`;

/** What an engine has of its own: all leave what is to be removed to the background. */
export interface SourceRemover {
  /** The editions of the source but `kept` answer no more. */
  dropEditions(sourceNumber: number, kept: number | null, nowMs: number): Script<unknown>;
  dropSource(source: { number: number; uploadId: string | null }, nowMs: number): Script<unknown>;
  /** Unless it answers, or is dropped already. */
  dropBegun(edition: number, nowMs: number): Script<unknown>;
}

export interface SourceChanges {
  readonly sourceCreates?: readonly NewSource[];
  readonly sourceUpdates?: readonly { readonly id: string; readonly change: SourceReplacement }[];
  readonly sourceDeletes?: readonly string[];
}

export function toSourceRow(accountId: string, companionId: string, source: NewSource, nowMs: number) {
  const { id, type, title, url, refreshHours, upload, slug = null } = source;
  return {
    ...{
      id,
      accountId,
      companionId,
      slug,
      type,
      title: withoutNul(title),
      url,
      refreshHours,
      revision: 1,
      failures: 0,
    },
    ...{ status: "queued" as const, error: null, chunks: 0, bytes: 0, tokens: 0, words: 0, contentHash: null },
    ...{ ...toKept(upload), edition: null, pagesDone: null, pagesTotal: null },
    ...{ dueAt: nowMs, indexedAt: null, createdAt: nowMs, updatedAt: nowMs },
  };
}

/** Throws `conflict` for more sources than a companion has, and for a slug that two of them have. */
export function requireSourceList(
  { companion, sources }: HeldCompanion,
  updates: NonNullable<SourceChanges["sourceUpdates"]>,
  creates: readonly NewSource[] = [],
  deletes: readonly string[] = [],
): void {
  const slugOf = new Map(updates.map(({ id, change: { slug } }) => [id, slug]));
  const kept = sources.filter(({ id }) => !deletes.includes(id));
  const after = [
    ...kept.map((source) => ({
      ...source,
      slug: slugOf.get(source.id) === undefined ? source.slug : slugOf.get(source.id),
    })),
    ...creates,
  ];
  // The source of answers is one more.
  const most = creates.some(({ id }) => id === companion.id) ? maxSources + 1 : maxSources;
  if (creates.length > 0 && after.length > most) {
    throw new AppError("conflict", `A companion has at most ${maxSources} sources. Delete one first.`);
  }
  const slugs = after.flatMap(({ slug }) => slug ?? []);
  const twice = slugs.find((slug, at) => slugs.indexOf(slug) !== at);
  if (twice !== undefined) throw new AppError("conflict", `The companion has a source with the slug ${twice} already.`);
}

export type SourceWriter = ReturnType<typeof createSourceWriter>;

export function createSourceWriter({ uploads, remover }: { uploads: KnowledgeUploads; remover: SourceRemover }) {
  return {
    /** The row is locked. Null changes nothing of it: it is read again. */
    *queue(row: StoredSource, change: SourceReplacement | null, nowMs: number): Script<void> {
      const {
        title = row.title,
        url = row.url,
        refreshHours = row.refreshHours,
        slug = row.slug,
        upload,
      } = change ?? {};
      const kept = upload === undefined ? row : toKept(upload);
      if (row.uploadId !== null && kept.uploadId !== row.uploadId) yield* uploads.remove(row.uploadId, nowMs);
      const fields = [
        withoutNul(title),
        url,
        refreshHours,
        kept.uploadId,
        kept.uploadBytes,
        kept.uploadHash,
        kept.kind,
      ];
      const updatedAt = change === null ? row.updatedAt : toLaterMs(nowMs, row.updatedAt);
      yield* run(queueAgain, row.number, ...fields, nowMs, updatedAt, slug);
      yield* remover.dropEditions(row.number, row.edition, nowMs);
    },

    /**
     * Of many companions. Throws `conflict`, and `not_found` for what is not there. Uploads are stored before, or by
     * `storeUploads`.
     */
    *change(
      accountId: string,
      many: readonly { held: HeldCompanion; revision: SourceChanges }[],
      nowMs: number,
    ): Script<void> {
      const created: ReturnType<typeof toSourceRow>[] = [];
      const counted: string[] = [];
      for (const { held, revision } of many) {
        const { sourceCreates = [], sourceUpdates = [], sourceDeletes = [] } = revision;
        if (sourceCreates.length + sourceUpdates.length + sourceDeletes.length === 0) continue;
        const { id: companionId } = held.companion;
        const updates = new Map(sourceUpdates.map(({ id, change }) => [id, change]));
        const ids = [...updates.keys(), ...sourceDeletes];
        const locked = ids.length === 0 ? [] : yield* all<StoredSource>(lockMany, ids, companionId);
        if (locked.length < new Set(ids).size) throw new AppError("not_found", "There is no such source.");
        requireSourceList(held, sourceUpdates, sourceCreates, sourceDeletes);
        for (const row of locked) {
          const change = updates.get(row.id);
          if (change === undefined) yield* remover.dropSource(row, nowMs);
          else yield* this.queue(row, change, nowMs);
        }
        if (sourceCreates.length + sourceDeletes.length > 0) counted.push(companionId);
        created.push(...sourceCreates.map((source) => toSourceRow(accountId, companionId, source, nowMs)));
      }
      yield* insertAll("knowledge_sources", created);
      if (counted.length > 0) yield* run(noteKnowing, counted);
    },

    /** Those of `changes`, in the same commit. */
    *storeUploads(changes: readonly SourceChanges[], nowMs: number): Script<void> {
      const uploaded = changes.flatMap(({ sourceCreates = [], sourceUpdates = [] }): SourceUpload[] => [
        ...sourceCreates.flatMap(({ upload }) => upload ?? []),
        ...sourceUpdates.flatMap(({ change }) => change.upload ?? []),
      ]);
      if (uploaded.length > 0) yield* uploads.add(uploaded, nowMs);
    },
  };
}
