/** Sources, their queue and their index: what is the same in every engine, and what each has of its own. */
import type { ClaimedSource, KnowledgeStore } from "../../../contracts/store/knowledge.ts";
import { maxChunks } from "../../../domain/knowledge.ts";
import { keepsUpload, type SourceRow, toFailedStatus } from "../rows/knowledge.ts";
import { withoutNul } from "../rows/text.ts";
import type { KnowledgeSources, SourceDependencies } from "./knowledge-sources.ts";
import { columns, get, lock, run, runAll, type Script, type ScriptRunner } from "./script.ts";

export type OwnKnowledge = Omit<KnowledgeStore, keyof KnowledgeSources | keyof ClaimMethods | "readUpload" | "purge">;

export function createKnowledgeStore(
  scripts: ScriptRunner,
  { answer: _, ...sources }: KnowledgeSources,
  dependencies: SourceDependencies,
  own: OwnKnowledge,
): KnowledgeStore {
  const { read: readUpload, purge } = dependencies.uploads;
  return { ...sources, ...createKnowledgeClaims(scripts, dependencies), ...own, readUpload, purge };
}

interface ClaimedRow extends Pick<SourceRow, "type"> {
  number: number;
  edition: number | null;
  uploadId: string | null;
  uploadBytes: number;
}

/** No one asked for anything else, or took it, since. */
const isClaimed = "id = $1 AND revision = $2 AND status = 'indexing'";
const renewClaim = `UPDATE knowledge_sources SET due_at = $3, pages_done = $4, pages_total = $5 WHERE ${isClaimed}`;
const shown = columns<ClaimedRow>("s", ["number", "edition", "uploadId", "uploadBytes", "type"]);
const lockClaimed = `SELECT ${shown} FROM knowledge_sources s WHERE ${isClaimed} FOR UPDATE`;
const insertEdition = `INSERT INTO knowledge_editions (source_number, model, created_at) VALUES ($1, $2, $3)
  RETURNING number`;
const lockEdition = "SELECT 1 AS one FROM knowledge_editions WHERE number = $1 AND source_number = $2 FOR UPDATE";
const sumOthers = `SELECT coalesce(sum(chunks), 0) AS chunks FROM knowledge_sources
  WHERE companion_id = $1 AND number <> $2`;
const giveBack = "UPDATE knowledge_sources SET status = 'queued', due_at = $2 WHERE number = $1";
const settled = `error = $2, due_at = $3, upload_id = $4, upload_bytes = $5, pages_done = NULL, pages_total = NULL`;
const read = `${settled}, status = 'ready', failures = 0, indexed_at = $6`;
const publishEdition = `UPDATE knowledge_sources SET ${read}, edition = $7, title = $8, chunks = $9, bytes = $10,
    tokens = $11, words = $12, content_hash = $13
  WHERE number = $1`;
const confirmEdition = `UPDATE knowledge_sources SET ${read} WHERE number = $1`;
const noteFailure = `UPDATE knowledge_sources SET ${settled}, status = $6, failures = failures + 1 WHERE number = $1`;
const updateValidators =
  "UPDATE knowledge_documents SET etag = $3, last_modified = $4 WHERE edition = $1 AND place = $2";

const findLocked = ({ source, revision }: ClaimedSource) => get<ClaimedRow>(lockClaimed, source.id, revision);

type Upload = readonly [id: string | null, bytes: number];
const toUpload = ({ uploadId, uploadBytes }: ClaimedRow): Upload => [uploadId, uploadBytes];
/** Once it was read. */
const toKeptUpload = (row: ClaimedRow): Upload => (keepsUpload(row.type) ? toUpload(row) : [null, 0]);

type ClaimMethods = Pick<KnowledgeStore, "renew" | "release" | "openEdition" | "publish" | "confirm" | "fail">;

/** Sources that are being read: how claims go on, and how they end. Each engine hands them out differently. */
function createKnowledgeClaims(
  scripts: ScriptRunner,
  { uploads, remover, removals }: SourceDependencies,
): ClaimMethods {
  /** Nothing is left of what was begun but `edition`, and of the upload unless it is kept. */
  function* end(row: ClaimedRow, edition: number | null, [keptId]: Upload, nowMs: number): Script<void> {
    yield* remover.dropEditions(row.number, edition, nowMs);
    if (row.uploadId !== null && row.uploadId !== keptId) yield* uploads.remove(row.uploadId, nowMs);
  }

  async function settle<Result>(script: () => Script<Result>): Promise<Result> {
    const result = await scripts.write(script);
    removals.start();
    return result;
  }

  return {
    renew: ({ source, revision }, untilMs, progress) =>
      scripts.write(function* () {
        const pages = [progress?.done ?? null, progress?.total ?? null];
        return (yield* run(renewClaim, source.id, revision, untilMs, ...pages)) > 0;
      }),

    release: (claimed, nowMs) =>
      settle(function* () {
        const row = yield* findLocked(claimed);
        if (row === null) return false;
        yield* run(giveBack, row.number, nowMs);
        yield* end(row, row.edition, toUpload(row), nowMs);
        return true;
      }),

    openEdition: (claimed, model, nowMs) =>
      scripts.write(function* () {
        const row = yield* findLocked(claimed);
        if (row === null) return null;
        // What a server that was cut off has begun meanwhile.
        yield* remover.dropEditions(row.number, row.edition, nowMs);
        return (yield* get<{ number: number }>(insertEdition, row.number, model, nowMs))?.number ?? null;
      }),

    publish: (claimed, edition, facts, nowMs) =>
      settle(function* () {
        const { companionId } = claimed.source;
        // One after the other, so that their passages are counted right.
        yield* lock(`knowledge of ${companionId}`);
        const row = yield* findLocked(claimed);
        if (row === null || (yield* get(lockEdition, edition, row.number)) === null) {
          yield* remover.dropBegun(edition, nowMs);
          return "outdated";
        }
        const others = yield* get<{ chunks: number }>(sumOthers, companionId, row.number);
        if ((others?.chunks ?? 0) + facts.chunks > maxChunks) {
          yield* remover.dropBegun(edition, nowMs);
          return "too_many_chunks";
        }
        const { title, chunks, bytes, tokens, words, contentHash, notice, refreshAt } = facts;
        const upload = toKeptUpload(row);
        const outcome = [withoutNul(notice), refreshAt, ...upload, nowMs];
        const sums = [chunks, bytes, tokens, words, contentHash];
        yield* run(publishEdition, row.number, ...outcome, edition, withoutNul(title), ...sums);
        yield* end(row, edition, upload, nowMs);
        return "published";
      }),

    confirm: (claimed, { notice, refreshAt, validators }, nowMs) =>
      settle(function* () {
        const row = yield* findLocked(claimed);
        if (row === null) return false;
        const upload = toKeptUpload(row);
        yield* run(confirmEdition, row.number, withoutNul(notice), refreshAt, ...upload, nowMs);
        const changed = validators.map(({ place, etag, lastModified }) => {
          return [row.edition, place, withoutNul(etag), withoutNul(lastModified)];
        });
        yield* runAll(updateValidators, changed);
        yield* end(row, row.edition, upload, nowMs);
        return true;
      }),

    fail: (claimed, failure, nowMs) =>
      settle(function* () {
        const row = yield* findLocked(claimed);
        if (row === null) {
          if (failure.edition !== null) yield* remover.dropBegun(failure.edition, nowMs);
          return false;
        }
        const { sentence, again, dueAt } = failure;
        const upload = again ? toUpload(row) : toKeptUpload(row);
        const outcome = [withoutNul(sentence), dueAt, ...upload];
        yield* run(noteFailure, row.number, ...outcome, toFailedStatus(row.edition, failure));
        yield* end(row, row.edition, upload, nowMs);
        return true;
      }),
  };
}
