/** The queue of sources to be read: servers take them one at a time, accounts in turns, for as long as their lease. */
import { maxChunks } from "../../domain/knowledge.ts";
import type { ClaimedSource, KnowledgeStore } from "../contract/knowledge.ts";
import { keepsUpload, toFailedStatus, toSource } from "../rows/knowledge.ts";
import { withoutNul } from "../rows/text.ts";
import type { PostgresEngine } from "./engine.ts";
import { detachBegunOf } from "./knowledge-removal.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { type StoredSource, sourceColumns } from "./rows/source.ts";

type QueueMethods = Pick<
  KnowledgeStore,
  "claim" | "findNextDue" | "renew" | "release" | "openEdition" | "publish" | "confirm" | "fail"
>;

export const queueQueries = {
  // In the order of its index, of which entries that are not due are passed over without their rows.
  claim: `WITH next AS MATERIALIZED (
      SELECT s.number FROM knowledge_sources s WHERE s.account_id > $1 AND s.account_id < $2 AND s.due_at <= $3
        AND EXISTS (SELECT FROM companions c WHERE c.id = s.companion_id)
      ORDER BY s.account_id, s.due_at, s.number LIMIT 1 FOR UPDATE OF s SKIP LOCKED
    ), claimed AS (
      UPDATE knowledge_sources s SET failures = s.failures + CASE WHEN s.status = 'indexing' THEN 1 ELSE 0 END,
        status = 'indexing', revision = s.revision + 1, due_at = $4, pages_done = NULL, pages_total = NULL
      FROM next WHERE s.number = next.number RETURNING s.*
    ), ${detachBegunOf("claimed", "$3")}
    SELECT ${sourceColumns.select("s")},
      (SELECT c.created_by_key_id FROM companions c WHERE c.id = s.companion_id) AS "keyId",
      EXISTS (SELECT FROM detached) AS "isLeft"
    FROM claimed s`,
  nextDue: `SELECT s.due_at::float8 AS "dueAt" FROM knowledge_sources s
    WHERE s.due_at IS NOT NULL AND EXISTS (SELECT FROM companions c WHERE c.id = s.companion_id)
    ORDER BY s.due_at, s.number LIMIT 1`,
};

/** Of a claim: nobody asked for anything else, or took it, since. */
const isClaimed = "id = $1 AND revision = $2 AND status = 'indexing'";
const renewClaim = `UPDATE knowledge_sources SET due_at = $3, pages_done = $4, pages_total = $5 WHERE ${isClaimed}`;
const lockClaimed = `SELECT number::float8 AS number, edition::float8 AS edition, upload_id AS "uploadId", type
  FROM knowledge_sources WHERE ${isClaimed} FOR UPDATE`;
const giveBack = "UPDATE knowledge_sources SET status = 'queued', due_at = $2 WHERE number = $1";
const insertEdition = `INSERT INTO knowledge_editions (source_number, model, created_at) VALUES ($1, $2, $3)
  RETURNING number::float8 AS number`;
const lockEdition = "SELECT FROM knowledge_editions WHERE number = $1 AND source_number = $2 FOR UPDATE";
const sumOthers = `SELECT coalesce(sum(chunks), 0)::float8 AS chunks FROM knowledge_sources
  WHERE companion_id = $1 AND number <> $2`;
const keeping = (upload: string) =>
  `upload_id = ${upload}, upload_bytes = CASE WHEN ${upload}::text IS NULL THEN 0 ELSE upload_bytes END`;
const read = "failures = 0, pages_done = NULL, pages_total = NULL, status = 'ready'";
const publishEdition = `UPDATE knowledge_sources SET edition = $2, title = $3, chunks = $4, bytes = $5, tokens = $6,
    words = $7, content_hash = $8, error = $9, due_at = $10, indexed_at = $11, ${keeping("$12")}, ${read}
  WHERE number = $1`;
const confirmEdition = `UPDATE knowledge_sources SET error = $2, due_at = $3, indexed_at = $4, ${keeping("$5")}, ${read}
  WHERE number = $1`;
const updateValidators = `UPDATE knowledge_documents d SET etag = v.etag, last_modified = v.last_modified
  FROM unnest($2::int[], $3::text[], $4::text[]) AS v (place, etag, last_modified)
  WHERE d.edition = $1 AND d.place = v.place`;
const noteFailure = `UPDATE knowledge_sources SET status = $2, error = $3, due_at = $4,
    failures = failures + 1, pages_done = NULL, pages_total = NULL, ${keeping("$5")}
  WHERE number = $1`;

/** `isLeft`: a server that has stopped has begun an edition. */
type TakenRow = StoredSource & { keyId: string | null; isLeft: boolean };
type LockedRow = Pick<StoredSource, "number" | "edition" | "uploadId" | "type">;

/** Ids of accounts are between these. */
const beforeAllIds = "";
const afterAllIds = "~";

export function createKnowledgeQueue(
  engine: PostgresEngine,
  { knowledge: remover, removals }: StoreParts,
): QueueMethods {
  const lock = (transaction: Queries, { source, revision }: ClaimedSource) =>
    transaction.get<LockedRow>(lockClaimed, [source.id, revision]);

  /** Ends a claim: nothing is left of what was begun but `kept`, and of the upload unless it is kept too. */
  async function end(
    transaction: Queries,
    row: LockedRow,
    left: { kept: number | null; upload: string | null },
    nowMs: number,
  ) {
    await remover.dropEditions(transaction, [row.number], left.kept, nowMs);
    if (row.uploadId !== left.upload && row.uploadId !== null)
      await removals.add(transaction, "upload", row.uploadId, 0, nowMs);
  }

  async function endClaim(work: () => Promise<boolean>): Promise<boolean> {
    const isDone = await work();
    removals.start();
    return isDone;
  }

  return {
    async claim({ nowMs, leaseMs, afterAccountId, exceptAccountIds }) {
      for (const [above, below] of toRanges(afterAccountId, exceptAccountIds)) {
        const parameters = [above, below, nowMs, nowMs + leaseMs];
        const row = await engine.quickPool.once.get<TakenRow>(queueQueries.claim, parameters);
        if (row === null) continue;
        if (row.isLeft) removals.start();
        const { accountId, revision, uploadId, kind, edition, failures, keyId } = row;
        return { source: toSource(row), accountId, revision, uploadId, kind, edition, failures, keyId };
      }
      return null;
    },

    async findNextDue() {
      return (await engine.quick.get<{ dueAt: number }>(queueQueries.nextDue))?.dueAt ?? null;
    },

    async renew({ source, revision }, untilMs, progress) {
      const pages = [progress?.done ?? null, progress?.total ?? null];
      return (await engine.quickPool.once.run(renewClaim, [source.id, revision, untilMs, ...pages])) > 0;
    },

    release: (claimed, nowMs) =>
      endClaim(() =>
        engine.write(async (transaction) => {
          const row = await lock(transaction, claimed);
          if (row === null) return false;
          await transaction.run(giveBack, [row.number, nowMs]);
          await end(transaction, row, { kept: row.edition, upload: row.uploadId }, nowMs);
          return true;
        }),
      ),

    openEdition: (claimed, model, nowMs) =>
      engine.write(async (transaction) => {
        const row = await lock(transaction, claimed);
        if (row === null) return null;
        // What a server that was cut off has begun meanwhile.
        await remover.dropEditions(transaction, [row.number], row.edition, nowMs);
        return (await transaction.get<{ number: number }>(insertEdition, [row.number, model, nowMs]))?.number ?? null;
      }),

    async publish(claimed, edition, facts, nowMs) {
      const { companionId } = claimed.source;
      const verdict = await engine.write(async (transaction) => {
        // One after the other, so that their passages are counted right.
        await transaction.lock(`knowledge of ${companionId}`);
        const row = await lock(transaction, claimed);
        const isThere = row !== null && (await transaction.get(lockEdition, [edition, row.number])) !== null;
        if (row === null || !isThere) {
          await remover.dropBegun(transaction, edition, nowMs);
          return "outdated";
        }
        const others = await transaction.get<{ chunks: number }>(sumOthers, [companionId, row.number]);
        if ((others?.chunks ?? 0) + facts.chunks > maxChunks) {
          await remover.dropBegun(transaction, edition, nowMs);
          return "too_many_chunks";
        }
        const { title, chunks, bytes, tokens, words, contentHash, notice, refreshAt } = facts;
        const sums = [chunks, bytes, tokens, words, contentHash];
        const upload = toKeptUpload(row);
        const told = [toText(notice), refreshAt, nowMs, upload];
        await transaction.run(publishEdition, [row.number, edition, withoutNul(title), ...sums, ...told]);
        await end(transaction, row, { kept: edition, upload }, nowMs);
        return "published";
      });
      removals.start();
      return verdict;
    },

    confirm: (claimed, { notice, refreshAt, validators }, nowMs) =>
      endClaim(() =>
        engine.write(async (transaction) => {
          const row = await lock(transaction, claimed);
          if (row === null) return false;
          const upload = toKeptUpload(row);
          await transaction.run(confirmEdition, [row.number, toText(notice), refreshAt, nowMs, upload]);
          if (validators.length > 0) {
            const etags = validators.map(({ etag }) => toText(etag));
            const times = validators.map(({ lastModified }) => toText(lastModified));
            await transaction.run(updateValidators, [row.edition, validators.map(({ place }) => place), etags, times]);
          }
          await end(transaction, row, { kept: row.edition, upload }, nowMs);
          return true;
        }),
      ),

    fail: (claimed, failure, nowMs) =>
      endClaim(() =>
        engine.write(async (transaction) => {
          const row = await lock(transaction, claimed);
          if (row === null) {
            if (failure.edition !== null) await remover.dropBegun(transaction, failure.edition, nowMs);
            return false;
          }
          const { sentence, again, dueAt } = failure;
          const told = [toFailedStatus(row.edition, failure), withoutNul(sentence), dueAt];
          const upload = again ? row.uploadId : toKeptUpload(row);
          await transaction.run(noteFailure, [row.number, ...told, upload]);
          await end(transaction, row, { kept: row.edition, upload }, nowMs);
          return true;
        }),
      ),
  };
}

/** Once it was read. */
const toKeptUpload = ({ type, uploadId }: LockedRow) => (keepsUpload(type) ? uploadId : null);
const toText = (notice: string | null) => (notice === null ? null : withoutNul(notice));

/** Ids of accounts in the order of their turns: behind the last one, then from the first on; both ends excluded. */
function* toRanges(after: string | null, except: readonly string[]): Generator<[above: string, below: string]> {
  const left = [...new Set(except)].sort();
  // Nothing is between an id and this.
  const behindLast = `${after ?? ""}\u0001`;
  const parts: [string, string][] =
    after === null
      ? [[beforeAllIds, afterAllIds]]
      : [
          [after, afterAllIds],
          [beforeAllIds, behindLast],
        ];
  for (const [from, to] of parts) {
    let above = from;
    for (const id of left) {
      if (id <= above || id >= to) continue;
      yield [above, id];
      above = id;
    }
    yield [above, to];
  }
}
