/** Removes what is left of editions, uploads and sources in chunks; see `removals.ts`. */

import type { RemovalKind } from "../store-shared/scripts/removals.ts";
import { part } from "../store-shared/scripts/script.ts";
import type { SourceRemover } from "../store-shared/scripts/source-writes.ts";
import type { SqliteEngine } from "./engine.ts";

/** Of text or vectors per commit: overwriting them takes a few milliseconds. */
const bytesPerChunk = 1024 * 1024;
const postingsPerChunk = 4000;
const sourcesPerChunk = 20;

/** As `Removals` has it, which calls these. */
type AddRemoval = (kind: RemovalKind, targetId: string, targetNumber: number, nowMs: number) => void;

interface BlobRow {
  number: number;
  bytes: number;
}

export type KnowledgeRemover = ReturnType<typeof createKnowledgeRemover>;

export function createKnowledgeRemover(engine: SqliteEngine) {
  const parts = createBlobRemover(engine, "knowledge_parts", "body", "edition");
  const vectors = createBlobRemover(engine, "knowledge_vectors", "vectors", "edition");
  const pieces = createBlobRemover(engine, "knowledge_uploads", "bytes", "upload_id");
  const deleteDocuments = engine.query<null, [number]>("DELETE FROM knowledge_documents WHERE edition = ?");
  const selectBound = engine.query<{ term: number; block: number }, [number, number]>(
    "SELECT term, block FROM knowledge_postings WHERE edition = ? ORDER BY term, block LIMIT 1 OFFSET ?",
  );
  const deleteBelow = engine.query<null, [number, number, number]>(
    "DELETE FROM knowledge_postings WHERE edition = ? AND (term, block) < (?, ?)",
  );
  const deletePostings = engine.query<null, [number]>("DELETE FROM knowledge_postings WHERE edition = ?");
  const selectEditions = engine.query<{ number: number }, [number, number | null]>(
    "SELECT number FROM knowledge_editions WHERE source_number = ? AND number IS NOT ?",
  );
  const deleteEdition = engine.query<null, [number]>("DELETE FROM knowledge_editions WHERE number = ?");
  const deleteBegun = engine.query<null, [number]>(
    `DELETE FROM knowledge_editions AS e WHERE e.number = ?
       AND NOT EXISTS (SELECT 1 FROM knowledge_sources s WHERE s.number = e.source_number AND s.edition = e.number)`,
  );
  const selectSources = engine.query<SourceRemains, [string, number]>(
    "SELECT number, upload_id AS uploadId FROM knowledge_sources WHERE companion_id = ? LIMIT ?",
  );
  const deleteSource = engine.query<null, [number]>("DELETE FROM knowledge_sources WHERE number = ?");
  const deleteTurns = engine.query<null, [number, number]>(
    `DELETE FROM knowledge_turns WHERE number IN
       (SELECT number FROM knowledge_turns WHERE conversation_number = ? LIMIT ?)`,
  );

  /** It answers no more, and nothing can be added to it. */
  function dropEdition(add: AddRemoval, edition: number, nowMs: number): void {
    deleteEdition.run(edition);
    add("edition", String(edition), edition, nowMs);
  }

  /** The editions of the source but `kept` are dropped; false if there were none. */
  function dropEditions(add: AddRemoval, sourceNumber: number, kept: number | null, nowMs: number): boolean {
    const dropped = selectEditions.all(sourceNumber, kept);
    for (const { number } of dropped) dropEdition(add, number, nowMs);
    return dropped.length > 0;
  }

  function dropBegun(add: AddRemoval, edition: number, nowMs: number): void {
    if (deleteBegun.run(edition) > 0) add("edition", String(edition), edition, nowMs);
  }

  function dropSource(add: AddRemoval, { number, uploadId }: SourceRemains, nowMs: number): void {
    deleteSource.run(number);
    dropEditions(add, number, null, nowMs);
    if (uploadId !== null) add("upload", uploadId, 0, nowMs);
  }

  return {
    dropBegun,
    dropEditions,
    dropSource,

    /** These remove a chunk, inside a write, and return whether nothing is left. Words go first. */
    removeEdition(edition: number): boolean {
      if (!parts.removeSome(edition) || !vectors.removeSome(edition)) return false;
      deleteDocuments.run(edition);
      const bound = selectBound.get(edition, postingsPerChunk);
      if (bound === null) deletePostings.run(edition);
      else deleteBelow.run(edition, bound.term, bound.block);
      return bound === null;
    },

    removeUpload: (uploadId: string): boolean => pieces.removeSome(uploadId),

    /** Of a vector set, all. */
    removeVectors: (edition: number): boolean => vectors.removeSome(edition),

    removeSources(add: AddRemoval, companionId: string, nowMs: number): boolean {
      const sources = selectSources.all(companionId, sourcesPerChunk);
      for (const source of sources) dropSource(add, source, nowMs);
      return sources.length < sourcesPerChunk;
    },

    /** What turns of the conversation found; returns how many were removed. */
    removeTurns: (conversationNumber: number, limit: number): number => deleteTurns.run(conversationNumber, limit),
  };
}

/** For scripts. */
export const toSourceRemover = (remover: KnowledgeRemover, add: AddRemoval): SourceRemover => ({
  dropEditions: (...of) => part(() => remover.dropEditions(add, ...of)),
  dropSource: (...of) => part(() => remover.dropSource(add, ...of)),
  dropBegun: (...of) => part(() => remover.dropBegun(add, ...of)),
});

export interface SourceRemains {
  number: number;
  uploadId: string | null;
}

/** Removes rows with long blobs: as many as a commit can overwrite. */
function createBlobRemover(
  engine: SqliteEngine,
  table: "knowledge_parts" | "knowledge_vectors" | "knowledge_uploads",
  column: string,
  owner: "edition" | "upload_id",
) {
  const select = engine.query<BlobRow, [number | string]>(
    `SELECT rowid AS number, octet_length(${column}) AS bytes FROM ${table} WHERE ${owner} = ? LIMIT 64`,
  );
  const remove = engine.query<null, [number]>(`DELETE FROM ${table} WHERE rowid = ?`);

  return {
    removeSome(of: number | string): boolean {
      const rows = select.all(of);
      let bytes = 0;
      for (const row of rows) {
        bytes += row.bytes;
        remove.run(row.number);
        if (bytes >= bytesPerChunk) return false;
      }
      return rows.length < 64;
    },
  };
}
