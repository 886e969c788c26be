/** Editions of sources: written in slices, listed, and given other vectors. */
import type { EditionSlice, VectorBlock } from "../../contracts/store/editions.ts";
import type { KnowledgeStore, UnembeddedEdition } from "../../contracts/store/knowledge.ts";
import { encodePart } from "../store-shared/rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

type EditionMethods = Pick<KnowledgeStore, "append" | "listUnembedded" | "replaceVectors" | "listDocuments">;

export function createKnowledgeEditions(engine: SqliteEngine, remover: KnowledgeRemover): EditionMethods {
  const selectEdition = engine.query<{ one: number }, [number]>(
    "SELECT 1 AS one FROM knowledge_editions WHERE number = ?",
  );
  const documents = mapColumns(tables.knowledgeDocuments, ["edition"]);
  const insertDocument = documents.createInsert(engine);
  const selectDocuments = engine.query<ReturnType<ReturnType<typeof documents.createReader>>, [number]>(
    () => `SELECT ${documents.select("d")} FROM knowledge_documents d WHERE d.edition = ? ORDER BY d.place`,
  );
  const insertPart = engine.query<null, [number, number, Uint8Array]>(
    "INSERT INTO knowledge_parts (edition, first_ordinal, body) VALUES (?, ?, ?)",
  );
  const insertPosting = engine.query<null, [number, number, number, Uint8Array]>(
    "INSERT INTO knowledge_postings (edition, block, term, entries) VALUES (?, ?, ?, ?)",
  );
  const insertVectors = engine.query<null, [number, number, Uint8Array]>(
    `INSERT INTO knowledge_vectors (edition, first_ordinal, vectors) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET vectors = excluded.vectors`,
  );
  const setModel = engine.query<null, [string | null, number, number]>(
    "UPDATE knowledge_editions SET model = ?, is_embedded = ? WHERE number = ?",
  );

  /** The source that the edition answers for, or null. */
  const selectLive = engine.query<{ model: string | null }, [number]>(
    `SELECT e.model FROM knowledge_editions e JOIN knowledge_sources s ON s.number = e.source_number
     WHERE e.number = ? AND s.edition = e.number`,
  );

  function addVectors(edition: number, blocks: readonly VectorBlock[]): void {
    for (const { firstOrdinal, vectors } of blocks) insertVectors.run(edition, firstOrdinal, vectors);
  }

  function addSlice(edition: number, slice: EditionSlice, bodies: readonly Uint8Array[]): void {
    for (const document of slice.documents ?? []) insertDocument({ ...document, edition });
    for (const [at, { firstOrdinal }] of (slice.parts ?? []).entries()) {
      insertPart.run(edition, firstOrdinal, bodies[at] ?? new Uint8Array());
    }
    for (const { block, term, entries } of slice.postings ?? []) insertPosting.run(edition, block, term, entries);
    addVectors(edition, slice.vectors ?? []);
  }

  /** Deletes those that it has, in commits of bounded size; false if the edition is gone. */
  async function clearVectors(edition: number): Promise<boolean> {
    for (;;) {
      const isDone = await engine.write(() => {
        if (selectLive.get(edition) === null) return null;
        setModel.run(null, 0, edition);
        return remover.removeVectors(edition);
      });
      if (isDone === null) return false;
      if (isDone) return true;
    }
  }

  return {
    append: (edition, slice) => {
      // Before the commit, since other writes may wait for it.
      const bodies = (slice.parts ?? []).map(({ chunks }) => encodePart(chunks));
      return engine.stage(() => {
        if (selectEdition.get(edition) === null) return false;
        addSlice(edition, slice, bodies);
        return true;
      });
    },

    listDocuments: (edition) => engine.read(() => selectDocuments.all(edition)),

    listUnembedded: createUnembeddedList(engine),

    async replaceVectors(edition, model, vectors, isLast) {
      const live = await engine.read(() => selectLive.get(edition));
      if (live === null) return false;
      if (live.model !== model && !(await clearVectors(edition))) return false;
      return await engine.write(() => {
        if (selectLive.get(edition) === null) return false;
        addVectors(edition, vectors);
        setModel.run(model, isLast ? 1 : 0, edition);
        return true;
      });
    },
  };
}

export const unembeddedQueries = {
  nextModel: `SELECT model FROM knowledge_editions INDEXED BY knowledge_editions_embedded
    WHERE is_embedded = ? AND model > ? ORDER BY model LIMIT 1`,
  list: `SELECT e.number AS edition, s.chunks, e.model, s.account_id AS accountId, s.companion_id AS companionId,
      c.created_by_key_id AS keyId
    FROM knowledge_editions AS e INDEXED BY knowledge_editions_embedded
    CROSS JOIN knowledge_sources AS s ON s.number = e.source_number AND s.edition = e.number
    CROSS JOIN companions AS c ON c.id = s.companion_id
    WHERE e.is_embedded = ? AND e.model IS ? AND e.number > ? ORDER BY e.number LIMIT ?`,
};

/**
 * Published editions that lack vectors of a model. Models are few: each has a stretch of the index, where its
 * editions are in order.
 */
function createUnembeddedList(engine: SqliteEngine): KnowledgeStore["listUnembedded"] {
  const selectNextModel = engine.query<{ model: string }, [0 | 1, string]>(unembeddedQueries.nextModel);
  const select = engine.query<UnembeddedEdition, [0 | 1, string | null, number, number]>(unembeddedQueries.list);

  function* listModels(isEmbedded: 0 | 1): Generator<string | null> {
    yield null;
    for (let next = selectNextModel.get(isEmbedded, ""); next !== null; ) {
      yield next.model;
      next = selectNextModel.get(isEmbedded, next.model);
    }
  }

  return (model, afterEdition, limit) =>
    engine.read(() => {
      const found: UnembeddedEdition[] = [];
      for (const isEmbedded of [0, 1] as const) {
        for (const other of listModels(isEmbedded)) {
          if (isEmbedded === 1 && other === model) continue;
          found.push(...select.all(isEmbedded, other, afterEdition, limit));
        }
      }
      return found.sort((one, other) => one.edition - other.edition).slice(0, limit);
    });
}
