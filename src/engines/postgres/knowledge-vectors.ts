/** Vectors of editions: which have none of the current model, and how they get them. */

import type { VectorBlock } from "../../contracts/store/editions.ts";
import type { KnowledgeStore, UnembeddedEdition } from "../../contracts/store/knowledge.ts";
import type { PostgresEngine } from "./engine.ts";

type VectorMethods = Pick<KnowledgeStore, "readVectors" | "listUnembedded" | "replaceVectors">;

const bytesAtOnce = 1024 * 1024;
/** Far more than that. */
const maxBlocks = 1_024;

export const vectorQueries = {
  // Of a block that is left out, only the length is read. The first always fits. No block records where it ends.
  read: `SELECT "firstOrdinal", vectors FROM (
      SELECT v.first_ordinal AS "firstOrdinal", v.vectors,
        sum(octet_length(v.vectors)) OVER (ORDER BY v.first_ordinal) - octet_length(v.vectors) AS before
      FROM (
        SELECT first_ordinal, vectors FROM knowledge_vectors WHERE edition = $1 AND first_ordinal >= coalesce(
          (SELECT max(b.first_ordinal) FROM knowledge_vectors b WHERE b.edition = $1 AND b.first_ordinal <= $2), 0)
          AND $2 < coalesce((SELECT s.chunks FROM knowledge_editions e
            JOIN knowledge_sources s ON s.number = e.source_number AND s.edition = e.number WHERE e.number = $1), $2 + 1)
        ORDER BY edition, first_ordinal LIMIT ${maxBlocks}
      ) AS v
    ) AS summed WHERE before < ${bytesAtOnce} ORDER BY "firstOrdinal"`,
};

const selectUnembedded = `SELECT e.number::float8 AS edition, s.chunks, e.model, s.account_id AS "accountId",
    s.companion_id AS "companionId", c.created_by_key_id AS "keyId"
  FROM knowledge_editions e JOIN knowledge_sources s ON s.number = e.source_number AND s.edition = e.number
    JOIN companions c ON c.id = s.companion_id
  WHERE e.number > $2 AND (e.is_embedded AND e.model = $1) IS NOT TRUE ORDER BY e.number LIMIT $3`;
const lockLive = `SELECT e.model FROM knowledge_editions e WHERE e.number = $1
    AND EXISTS (SELECT FROM knowledge_sources s WHERE s.number = e.source_number AND s.edition = e.number)
  FOR UPDATE`;
const deleteVectors = "DELETE FROM knowledge_vectors WHERE edition = $1";
const noteModel = "UPDATE knowledge_editions SET model = $2, is_embedded = $3 WHERE number = $1";
const writeVectors = `INSERT INTO knowledge_vectors (edition, first_ordinal, vectors) VALUES ($1, $2, $3)
  ON CONFLICT (edition, first_ordinal) DO UPDATE SET vectors = excluded.vectors`;

export function createKnowledgeVectors(engine: PostgresEngine): VectorMethods {
  return {
    readVectors: async (edition, firstOrdinal) => [
      ...(await engine.quick.all<VectorBlock>(vectorQueries.read, [edition, firstOrdinal])),
    ],

    listUnembedded: async (model, afterEdition, limit) => [
      ...(await engine.heavy.all<UnembeddedEdition>(selectUnembedded, [model, afterEdition, limit])),
    ],

    replaceVectors: (edition, model, vectors, isLast) =>
      engine.writeHeavy(async (transaction) => {
        const found = await transaction.get<{ model: string | null }>(lockLive, [edition]);
        if (found === null) return false;
        if (found.model !== model) await transaction.run(deleteVectors, [edition]);
        for (const block of vectors) {
          await transaction.run(writeVectors, [edition, block.firstOrdinal, block.vectors]);
        }
        await transaction.run(noteModel, [edition, model, isLast]);
        return true;
      }),
  };
}
