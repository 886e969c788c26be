/** Removes what is left of sources, their editions and their uploads in chunks; see `removals.ts`. */

import * as shared from "../store-shared/scripts/removals.ts";
import { part, run } from "../store-shared/scripts/script.ts";
import type { SourceRemover } from "../store-shared/scripts/source-writes.ts";
import { createCallRemovals, removeRows } from "../store-shared/scripts/tool-calls.ts";
import type { Queries } from "./queries.ts";
import { bindScripts } from "./scripts.ts";

/** What is to be removed later, as rows: see `removals.ts`. */
export const { addRemoval } = bindScripts(shared);

/** Of calls of tools. */
export const callRemovals = bindScripts(createCallRemovals(removeRows));

/** Rows per commit: some ten milliseconds of work. */
const postingsPerChunk = 2_000;
const turnsPerChunk = 1_000;
const sourcesPerChunk = 20;
/** Of long rows, about 2 MiB. */
const partsPerChunk = 40;
const vectorsPerChunk = 16;
const piecesPerChunk = 4;

/** By position in the table, found in the order of an index, so that the plan is the same for any number of rows. */
const deleteSome = (table: string, condition: string, limit: number) =>
  `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${limit}))`;

// Words first. All are keyed by the edition.
const ofEdition = [
  { table: "knowledge_parts", order: "first_ordinal", limit: partsPerChunk },
  { table: "knowledge_vectors", order: "first_ordinal", limit: vectorsPerChunk },
  { table: "knowledge_documents", order: "place", limit: postingsPerChunk },
  { table: "knowledge_postings", order: "term, block", limit: postingsPerChunk },
].map(({ table, order, limit }) => ({
  limit,
  text: deleteSome(table, `edition = $1 ORDER BY edition, ${order}`, limit),
}));
const deletePieces = deleteSome("knowledge_uploads", "upload_id = $1 ORDER BY upload_id, piece", piecesPerChunk);
const deleteTurns = deleteSome("knowledge_turns", "conversation_number = ANY ($1::bigint[])", turnsPerChunk);
const removeDetached = (nowMs: string) => `INSERT INTO removals (kind, target_id, target_number, created_at)
  SELECT 'edition', d.number::text, d.number, ${nowMs} FROM detached d ORDER BY d.number`;
/** Without a source: it answers no more, and nothing can be added to it. Its row stays until its remains are gone. */
const detach = (condition: string) => `WITH detached AS (
    UPDATE knowledge_editions e SET source_number = 0 WHERE e.source_number <> 0 AND ${condition} RETURNING e.number
  ) ${removeDetached("$1::bigint")}`;
const detachOthers = detach("e.source_number = ANY ($2::bigint[]) AND e.number IS DISTINCT FROM $3::bigint");
const detachBegun = detach(`e.number = $2::bigint
    AND NOT EXISTS (SELECT FROM knowledge_sources s WHERE s.number = e.source_number AND s.edition = e.number)`);
/** The same for those of `claimed` sources, in the middle of a statement whose `$3` is the time. */
export const detachBegunOfClaimed = `detached AS (
      UPDATE knowledge_editions e SET source_number = 0 FROM claimed s
      WHERE e.source_number = s.number AND e.number IS DISTINCT FROM s.edition RETURNING e.number
    ), removed AS (${removeDetached("$3")})`;
const deleteEdition = "DELETE FROM knowledge_editions WHERE number = $1 AND source_number = 0";
const deleteSources = `DELETE FROM knowledge_sources WHERE number = ANY (ARRAY (
    SELECT number FROM knowledge_sources WHERE companion_id = $1 ORDER BY number LIMIT ${sourcesPerChunk} FOR UPDATE
  )) RETURNING number::float8 AS number, upload_id AS "uploadId"`;

export interface SourceRemains {
  number: number;
  uploadId: string | null;
}

/** Call all of it inside a write, and `removals.start` after it. */
export function createKnowledgeRemover() {
  /** All editions of the sources but `kept`. */
  async function dropEditions(
    transaction: Queries,
    sources: readonly number[],
    kept: number | null,
    nowMs: number,
  ): Promise<void> {
    await transaction.run(detachOthers, [nowMs, sources, kept]);
  }

  /** What is left of sources whose rows the transaction has deleted. */
  async function dropRemains(transaction: Queries, sources: readonly SourceRemains[], nowMs: number): Promise<void> {
    if (sources.length === 0) return;
    const numbers = sources.map(({ number }) => number);
    await dropEditions(transaction, numbers, null, nowMs);
    for (const { uploadId } of sources)
      if (uploadId !== null) await addRemoval(transaction, "upload", uploadId, 0, nowMs);
  }

  return {
    dropEditions,
    dropRemains,

    /** Unless it answers. */
    async dropBegun(transaction: Queries, edition: number, nowMs: number): Promise<void> {
      await transaction.run(detachBegun, [nowMs, edition]);
    },

    /** These remove a chunk, and resolve with whether nothing is left. */
    async removeEdition(transaction: Queries, edition: number): Promise<boolean> {
      for (const { text, limit } of ofEdition) {
        if ((await transaction.run(text, [edition])) === limit) return false;
      }
      await transaction.run(deleteEdition, [edition]);
      return true;
    },

    removeUpload: async (transaction: Queries, uploadId: string): Promise<boolean> =>
      (await transaction.run(deletePieces, [uploadId])) < piecesPerChunk,

    async removeSources(transaction: Queries, companionId: string, nowMs: number): Promise<boolean> {
      const sources = await transaction.all<SourceRemains>(deleteSources, [companionId]);
      await dropRemains(transaction, sources, nowMs);
      return sources.length < sourcesPerChunk;
    },

    removeTurns: async (transaction: Queries, conversations: readonly number[]): Promise<boolean> =>
      (await transaction.run(deleteTurns, [conversations])) < turnsPerChunk,
  };
}

/** For scripts. */
export const toSourceRemover = ({ dropBegun, dropEditions, dropRemains }: KnowledgeRemover): SourceRemover => ({
  dropBegun: (...of) => part((transaction: Queries) => dropBegun(transaction, ...of)),
  dropEditions: (sourceNumber, kept, nowMs) =>
    part((transaction: Queries) => dropEditions(transaction, [sourceNumber], kept, nowMs)),
  *dropSource(source, nowMs) {
    yield* run("DELETE FROM knowledge_sources WHERE number = $1", source.number);
    yield* part((transaction: Queries) => dropRemains(transaction, [source], nowMs));
  },
});

export type KnowledgeRemover = ReturnType<typeof createKnowledgeRemover>;
