/** The index of editions, as retrieval and the reader read it. */

import type { EditionPart, LiveEdition, Posting, VectorBlock } from "../../contracts/store/editions.ts";
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import { decodePart } from "../store-shared/rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";

type IndexMethods = Pick<KnowledgeStore, "listEditions" | "findPostings" | "readEdition" | "readVectors">;

/** Of text or vectors at a time. */
const partsBytes = 192 * 1024;
const vectorsBytes = 1024 * 1024;

interface PartRow {
  firstOrdinal: number;
  bytes: Uint8Array;
}

export const knowledgeIndexQueries = {
  editions: `SELECT s.edition, s.id AS sourceId, s.chunks, s.tokens, s.words, e.model
    FROM knowledge_sources AS s INDEXED BY knowledge_sources_companion
    JOIN knowledge_editions AS e ON e.number = s.edition
    WHERE s.companion_id = ? AND s.edition IS NOT NULL ORDER BY s.number`,
  // SQLite puts both lists in order: neighbours in the index are looked up one after another.
  postings: `SELECT edition, block, term, entries FROM knowledge_postings
    WHERE edition IN (SELECT value FROM json_each(?)) AND term IN (SELECT value FROM json_each(?))`,
};

export function createKnowledgeIndex(engine: SqliteEngine): IndexMethods {
  const selectEditions = engine.query<LiveEdition, [string]>(knowledgeIndexQueries.editions);
  const selectPostings = engine.query<Posting, [string, string]>(knowledgeIndexQueries.postings);
  const parts = createBlobReader(engine, "knowledge_parts", "body");
  const vectors = createBlobReader(engine, "knowledge_vectors", "vectors");

  return {
    listEditions: (companionId) => engine.read(() => selectEditions.all(companionId)),

    findPostings: (editions, terms) =>
      engine.read(() => selectPostings.all(JSON.stringify(editions), JSON.stringify(terms))),

    readEdition: async (edition, firstOrdinal) => {
      const rows = await engine.read(() => parts(edition, firstOrdinal, partsBytes));
      const read = rows.map(({ firstOrdinal, bytes }): EditionPart => ({ firstOrdinal, chunks: decodePart(bytes) }));
      return read.filter((part) => part.firstOrdinal + part.chunks.length > firstOrdinal);
    },

    readVectors: async (edition, firstOrdinal) => {
      const rows = await engine.read(() => vectors(edition, firstOrdinal, vectorsBytes));
      return rows.map(({ firstOrdinal, bytes }): VectorBlock => ({ firstOrdinal, vectors: bytes }));
    },
  };
}

/** Reads rows with long blobs: from the one that holds the passage on, at least one, up to so many bytes. */
function createBlobReader(engine: SqliteEngine, table: "knowledge_parts" | "knowledge_vectors", column: string) {
  const selectStart = engine.query<{ start: number | null }, [number, number]>(
    `SELECT max(first_ordinal) AS start FROM ${table} WHERE edition = ? AND first_ordinal <= ?`,
  );
  const selectLengths = engine.query<{ bytes: number }, [number, number]>(
    `SELECT octet_length(${column}) AS bytes FROM ${table} WHERE edition = ? AND first_ordinal >= ?
     ORDER BY first_ordinal LIMIT 64`,
  );
  const select = engine.query<PartRow, [number, number, number]>(
    `SELECT first_ordinal AS firstOrdinal, ${column} AS bytes FROM ${table} WHERE edition = ? AND first_ordinal >= ?
     ORDER BY first_ordinal LIMIT ?`,
  );

  return (edition: number, ordinal: number, maxBytes: number): PartRow[] => {
    const start = selectStart.get(edition, ordinal)?.start ?? ordinal;
    let count = 0;
    let bytes = 0;
    for (const row of selectLengths.all(edition, start)) {
      bytes += row.bytes;
      if (count > 0 && bytes > maxBytes) break;
      count++;
    }
    return select.all(edition, start, count);
  };
}
