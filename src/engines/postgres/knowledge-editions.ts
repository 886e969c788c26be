/** Editions of sources: written in slices, and read by turns, lists, and those that copy or embed them. */

import type {
  EditionDocument,
  IndexedPassage,
  LiveEdition,
  Posting,
  StoredChunk,
} from "../../contracts/store/editions.ts";
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import { decodePart, encodePart, findDocumentOf, toPassage } from "../store-shared/rows/knowledge.ts";
import { withoutNul } from "../store-shared/rows/text.ts";
import { findSource } from "../store-shared/scripts/knowledge-sources.ts";
import { insertAll } from "../store-shared/scripts/script.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { bindScripts } from "./scripts.ts";
import { tables } from "./tables.ts";

type EditionMethods = Pick<
  KnowledgeStore,
  "append" | "listDocuments" | "readEdition" | "listEditions" | "findPostings" | "readPassages" | "listPassages"
>;

/** A few dozen passages each at most. */
const partsAtOnce = 4;

const documentColumns = mapColumns(tables.knowledgeDocuments);

/** `LATERAL … OFFSET 0`: a lookup for each, regardless of the planner's statistics of the table. */
const partAt = (edition: string, ordinal: string) => `SELECT p.first_ordinal, p.body FROM knowledge_parts p
    WHERE p.edition = ${edition} AND p.first_ordinal <= ${ordinal} ORDER BY p.first_ordinal DESC LIMIT 1`;

export const editionQueries = {
  live: `SELECT s.edition::float8 AS edition, s.id AS "sourceId", s.chunks, s.tokens::float8 AS tokens,
      s.words::float8 AS words, (SELECT e.model FROM knowledge_editions e WHERE e.number = s.edition) AS model
    FROM knowledge_sources s WHERE s.companion_id = $1 AND s.edition IS NOT NULL ORDER BY s.companion_id, s.number`,
  postings: `SELECT p.edition::float8 AS edition, p.block, p.term::float8 AS term, p.entries
    FROM knowledge_postings p
    WHERE p.edition = ANY($1::float8[]::bigint[]) AND p.term = ANY($2::float8[]::bigint[])`,
  // Each with its document, and the part that it stands in.
  origins: `SELECT (asked.at - 1)::int AS at, s.id, s.title, s.url, d.title AS "documentTitle", d.url AS "documentUrl",
      (SELECT max(p.first_ordinal) FROM knowledge_parts p
        WHERE p.edition = asked.edition AND p.first_ordinal <= asked.ordinal) AS "firstOrdinal"
    FROM unnest($2::float8[]::bigint[], $3::int[]) WITH ORDINALITY AS asked (edition, ordinal, at)
      CROSS JOIN LATERAL (SELECT e.source_number FROM knowledge_editions e WHERE e.number = asked.edition OFFSET 0) AS e
      CROSS JOIN LATERAL (SELECT s.id, s.title, s.url FROM knowledge_sources s
        WHERE s.number = e.source_number AND s.edition = asked.edition AND s.companion_id || '' = $1 OFFSET 0) AS s
      LEFT JOIN LATERAL (SELECT d.title, d.url FROM knowledge_documents d
        WHERE d.edition = asked.edition AND d.first_ordinal <= asked.ordinal AND d.chunks > 0
        ORDER BY d.place DESC LIMIT 1) AS d ON true
    ORDER BY asked.at`,
  bodies: `SELECT DISTINCT ON (asked.edition, p.first_ordinal) asked.edition::float8 AS edition,
      p.first_ordinal AS "firstOrdinal", p.body
    FROM unnest($1::float8[]::bigint[], $2::int[]) AS asked (edition, ordinal)
      CROSS JOIN LATERAL (${partAt("asked.edition", "asked.ordinal")}) AS p`,
  parts: `SELECT p.first_ordinal AS "firstOrdinal", p.body FROM knowledge_parts p
    WHERE p.edition = $1 AND p.first_ordinal >= coalesce(
      (SELECT max(b.first_ordinal) FROM knowledge_parts b WHERE b.edition = $1 AND b.first_ordinal <= $2), 0)
    ORDER BY p.edition, p.first_ordinal LIMIT $3`,
  documents: `SELECT ${documentColumns.select("d")} FROM knowledge_documents d WHERE d.edition = $1
    ORDER BY d.edition, d.place`,
};

/** Until this commits, the edition is not dropped. */
const shareEdition = "SELECT FROM knowledge_editions WHERE number = $1 AND source_number <> 0 FOR SHARE";
const insertPart = "INSERT INTO knowledge_parts (edition, first_ordinal, body) VALUES ($1, $2, $3)";
const insertVectors = "INSERT INTO knowledge_vectors (edition, first_ordinal, vectors) VALUES ($1, $2, $3)";
const insertPostings = `INSERT INTO knowledge_postings (edition, block, term, entries)
  SELECT $1, block, term, entries FROM unnest($2::int[], $3::float8[]::bigint[], $4::bytea[]) AS p (block, term, entries)`;

interface PartRow {
  firstOrdinal: number;
  body: Uint8Array;
}

interface OriginRow {
  at: number;
  id: string;
  title: string;
  url: string | null;
  documentTitle: string | null;
  documentUrl: string | null;
  firstOrdinal: number | null;
}

const scripts = bindScripts({ findSource, insertAll });

type Document = EditionDocument & { edition: number };

export function createKnowledgeEditions(engine: PostgresEngine): EditionMethods {
  async function readParts(queries: Queries, edition: number, firstOrdinal: number, limit: number) {
    const rows = await queries.all<PartRow>(editionQueries.parts, [edition, firstOrdinal, limit]);
    const parts = rows.map((row) => ({ firstOrdinal: row.firstOrdinal, chunks: decodePart(row.body) }));
    return parts.filter((part) => part.firstOrdinal + part.chunks.length > firstOrdinal);
  }

  const listDocuments = (edition: number) => engine.quick.all<Document>(editionQueries.documents, [edition]);

  return {
    append: (edition, { documents = [], parts = [], postings = [], vectors = [] }) =>
      engine.writeHeavy(async (transaction) => {
        if ((await transaction.get(shareEdition, [edition])) === null) return false;
        for (const { firstOrdinal, chunks } of parts) {
          await transaction.run(insertPart, [edition, firstOrdinal, encodePart(chunks)]);
        }
        for (const block of vectors) {
          await transaction.run(insertVectors, [edition, block.firstOrdinal, block.vectors]);
        }
        if (documents.length > 0) {
          const rows = documents.map((document) => toRow(edition, document));
          await scripts.insertAll(transaction, "knowledge_documents", rows);
        }
        if (postings.length > 0) {
          const terms = postings.map(({ term }) => term);
          const entries = postings.map((posting) => posting.entries);
          await transaction.run(insertPostings, [edition, postings.map(({ block }) => block), terms, entries]);
        }
        return true;
      }),

    async listDocuments(edition) {
      return (await listDocuments(edition)).map(({ edition: _, ...document }) => document);
    },

    readEdition: (edition, firstOrdinal) => readParts(engine.heavy, edition, firstOrdinal, partsAtOnce),

    listEditions: async (companionId) => [...(await engine.quick.all<LiveEdition>(editionQueries.live, [companionId]))],

    async findPostings(editions, terms) {
      if (editions.length === 0 || terms.length === 0) return [];
      return [...(await engine.quick.all<Posting>(editionQueries.postings, [editions, terms]))];
    },

    async readPassages(companionId, refs) {
      if (refs.length === 0) return [];
      const asked = [refs.map(({ edition }) => edition), refs.map(({ ordinal }) => ordinal)];
      const [origins, bodies] = await Promise.all([
        engine.quick.all<OriginRow>(editionQueries.origins, [companionId, ...asked]),
        engine.quick.all<PartRow & { edition: number }>(editionQueries.bodies, asked),
      ]);
      const chunksOf = new Map(
        bodies.map(({ edition, firstOrdinal, body }) => [`${edition} ${firstOrdinal}`, decodePart(body)]),
      );
      return origins.flatMap((origin): IndexedPassage[] => {
        const ref = refs[origin.at];
        if (ref === undefined || origin.firstOrdinal === null) return [];
        const chunk = chunksOf.get(`${ref.edition} ${origin.firstOrdinal}`)?.[ref.ordinal - origin.firstOrdinal];
        if (chunk === undefined) return [];
        const document = { title: origin.documentTitle ?? "", url: origin.documentUrl };
        return [{ edition: ref.edition, ordinal: ref.ordinal, ...toPassage(origin, document, chunk) }];
      });
    },

    async listPassages(accountId, companionId, id, { firstOrdinal, limit }) {
      const source = await scripts.findSource(engine.quick, [accountId, companionId, id]);
      if (source === null) return null;
      const { edition } = source;
      if (edition === null) return [];
      const documents = await listDocuments(edition);
      const found: IndexedPassage[] = [];
      for (let ordinal = firstOrdinal; found.length < limit; ) {
        const parts = await readParts(engine.quick, edition, ordinal, partsAtOnce);
        for (const part of parts) {
          found.push(
            ...takeFrom(part, ordinal).map(([at, chunk]) => {
              return { edition, ordinal: at, ...toPassage(source, findDocumentOf(documents, at), chunk) };
            }),
          );
          ordinal = part.firstOrdinal + part.chunks.length;
        }
        if (parts.length === 0) break;
      }
      return found.slice(0, limit);
    },
  };
}

function takeFrom(part: { firstOrdinal: number; chunks: StoredChunk[] }, ordinal: number): [number, StoredChunk][] {
  return part.chunks
    .map((chunk, index): [number, StoredChunk] => [part.firstOrdinal + index, chunk])
    .filter(([at]) => at >= ordinal);
}

function toRow(edition: number, document: EditionDocument) {
  const { place, url, title, contentHash, etag, lastModified, firstOrdinal, chunks } = document;
  const texts = { url: withoutNul(url), title: withoutNul(title), etag: withoutNul(etag) };
  return { edition, place, ...texts, contentHash, lastModified: withoutNul(lastModified), firstOrdinal, chunks };
}
