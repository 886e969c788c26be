/** Editions of sources: made in slices, published, and given other vectors. */
import { maxChunks, type SourceType } from "../../domain/knowledge.ts";
import type { EditionFacts, EditionSlice, VectorBlock } from "../contract/editions.ts";
import type { KnowledgeStore } from "../contract/knowledge.ts";
import { encodePart, keepsUpload } from "../rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";
import type { QueueDependencies } from "./knowledge-queue.ts";
import { createUnembeddedList } from "./knowledge-unembedded.ts";
import { mapColumns } from "./rows/columns.ts";
import { knowledgeDocuments } from "./schema/knowledge.ts";

type EditionMethods = Pick<
  KnowledgeStore,
  "openEdition" | "append" | "publish" | "listUnembedded" | "replaceVectors" | "listDocuments"
>;

interface ClaimRow {
  number: number;
  companionId: string;
  uploadId: string | null;
  type: SourceType;
}

export function createKnowledgeEditions(
  engine: SqliteEngine,
  { remover, removals }: QueueDependencies,
): EditionMethods {
  const selectClaim = engine.query<ClaimRow, [string, number]>(
    `SELECT number, companion_id AS companionId, upload_id AS uploadId, type FROM knowledge_sources
     WHERE id = ? AND revision = ? AND status = 'indexing'`,
  );
  const insertEdition = engine.query<{ number: number }, [number, string | null, number]>(
    "INSERT INTO knowledge_editions (source_number, model, created_at) VALUES (?, ?, ?) RETURNING number",
  );
  const selectEdition = engine.query<{ sourceNumber: number; model: string | null }, [number]>(
    "SELECT source_number AS sourceNumber, model FROM knowledge_editions WHERE number = ?",
  );
  const documents = mapColumns(knowledgeDocuments, ["edition"]);
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
  const sumOthers = engine.query<{ chunks: number | null }, [string, number]>(
    "SELECT sum(chunks) AS chunks FROM knowledge_sources WHERE companion_id = ? AND number <> ?",
  );
  const publishRow = engine.query<
    null,
    [
      ...[number, string, number, number, number, number, string, string | null, number | null, number],
      ...[string | null, number],
    ]
  >(
    `UPDATE knowledge_sources SET edition = ?, title = ?, chunks = ?, bytes = ?, tokens = ?, words = ?, content_hash = ?,
       error = ?, due_at = ?, indexed_at = ?, status = 'ready', failures = 0, upload_id = ?11,
       upload_bytes = iif(?11 IS NULL, 0, upload_bytes), pages_done = NULL, pages_total = NULL WHERE number = ?12`,
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

  /** Call it inside a write. */
  function publish(
    claim: ClaimRow,
    edition: number,
    facts: EditionFacts,
    nowMs: number,
  ): "published" | "too_many_chunks" {
    const { number, companionId, uploadId, type } = claim;
    const kept = keepsUpload(type) ? uploadId : null;
    const others = sumOthers.get(companionId, number)?.chunks ?? 0;
    if (others + facts.chunks > maxChunks) {
      remover.dropEdition(removals.add, edition, nowMs);
      return "too_many_chunks";
    }
    const { title, chunks, bytes, tokens, words, contentHash, notice, refreshAt } = facts;
    publishRow.run(
      ...([edition, title, chunks, bytes, tokens, words, contentHash, notice] as const),
      ...([refreshAt, nowMs, kept, number] as const),
    );
    remover.dropEditions(removals.add, number, edition, nowMs);
    if (uploadId !== kept && uploadId !== null) removals.add("upload", uploadId, 0, nowMs);
    return "published";
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
    openEdition: ({ source, revision }, model, nowMs) =>
      engine.append(() => {
        const claim = selectClaim.get(source.id, revision);
        return claim === null ? null : (insertEdition.get(claim.number, model, nowMs)?.number ?? null);
      }),

    append: (edition, slice) => {
      // Before the commit, since other writes may wait for it.
      const bodies = (slice.parts ?? []).map(({ chunks }) => encodePart(chunks));
      return engine.stage(() => {
        if (selectEdition.get(edition) === null) return false;
        addSlice(edition, slice, bodies);
        return true;
      });
    },

    publish: async ({ source, revision }, edition, facts, nowMs) => {
      const verdict = await engine.write(() => {
        const claim = selectClaim.get(source.id, revision);
        if (claim === null || selectEdition.get(edition)?.sourceNumber !== claim.number) return "outdated";
        return publish(claim, edition, facts, nowMs);
      });
      if (verdict !== "outdated") removals.start();
      return verdict;
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
