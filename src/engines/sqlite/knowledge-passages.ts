/** Passages by their name in the index, with where they come from. */
import type { IndexedPassage, StoredChunk } from "../../contracts/store/editions.ts";
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import type { PassageRef } from "../../domain/knowledge.ts";
import { pause } from "../../lib/pause.ts";
import { decodePart, toPassage } from "../store-shared/rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";

/** Parts that are read and decoded before others get their turn: a few milliseconds. */
const partsPerSlice = 8;

interface SourceFacts {
  id: string;
  title: string;
  url: string | null;
}

interface LiveSource extends SourceFacts {
  companionId: string;
}

interface DocumentFacts {
  title: string;
  url: string | null;
}

export function createPassageReader(engine: SqliteEngine): Pick<KnowledgeStore, "readPassages" | "listPassages"> {
  const selectLive = engine.query<LiveSource, [number]>(
    `SELECT s.id, s.title, s.url, s.companion_id AS companionId FROM knowledge_editions e
     JOIN knowledge_sources s ON s.number = e.source_number WHERE e.number = ? AND s.edition = e.number`,
  );
  const selectPart = engine.query<{ firstOrdinal: number; body: Uint8Array }, [number, number]>(
    `SELECT first_ordinal AS firstOrdinal, body FROM knowledge_parts WHERE edition = ? AND first_ordinal <= ?
     ORDER BY first_ordinal DESC LIMIT 1`,
  );
  const selectDocument = engine.query<DocumentFacts, [number, number]>(
    `SELECT title, url FROM knowledge_documents WHERE edition = ? AND first_ordinal <= ? AND chunks > 0
     ORDER BY place DESC LIMIT 1`,
  );
  const selectOwn = engine.query<SourceFacts & { edition: number | null; chunks: number }, [string, string, string]>(
    `SELECT id, title, url, edition, chunks FROM knowledge_sources WHERE id = ? AND companion_id = ? AND account_id = ?
       AND EXISTS (SELECT 1 FROM companions WHERE id = companion_id AND account_id = knowledge_sources.account_id)`,
  );

  /** Those of one edition, if it answers for the companion. Passages of a part are read together. */
  function readOfEdition(companionId: string, edition: number, ordinals: readonly number[]): IndexedPassage[] {
    const live = selectLive.get(edition);
    if (live === null || live.companionId !== companionId) return [];
    let part: { firstOrdinal: number; chunks: StoredChunk[] } | null = null;
    return ordinals.flatMap((ordinal) => {
      if (part === null || ordinal < part.firstOrdinal || ordinal >= part.firstOrdinal + part.chunks.length) {
        const row = selectPart.get(edition, ordinal);
        part = row === null ? null : { firstOrdinal: row.firstOrdinal, chunks: decodePart(row.body) };
      }
      const chunk = part?.chunks[ordinal - part.firstOrdinal];
      if (chunk === undefined) return [];
      const document = selectDocument.get(edition, ordinal) ?? undefined;
      return [{ edition, ordinal, ...toPassage(live, document, chunk) }];
    });
  }

  /** In the order of `refs`, read slice by slice; what is replaced meanwhile is left out. */
  async function readAll(companionId: string, refs: readonly PassageRef[]): Promise<IndexedPassage[]> {
    const sorted = refs.toSorted((one, other) => one.edition - other.edition || one.ordinal - other.ordinal);
    const found = new Map<string, IndexedPassage>();
    for (let at = 0; at < sorted.length; ) {
      const edition = sorted[at]?.edition ?? 0;
      const slice = sorted.slice(at, at + partsPerSlice).filter((ref) => ref.edition === edition);
      const ordinals = slice.map(({ ordinal }) => ordinal);
      const passages = await engine.read(() => readOfEdition(companionId, edition, ordinals));
      for (const passage of passages) found.set(keyOf(passage), passage);
      at += slice.length;
      if (at < sorted.length) await pause();
    }
    return refs.map((ref) => found.get(keyOf(ref))).filter((passage) => passage !== undefined);
  }

  return {
    readPassages: readAll,

    async listPassages(accountId, companionId, id, { firstOrdinal, limit }) {
      const own = await engine.read(() => selectOwn.get(id, companionId, accountId));
      if (own === null) return null;
      const { edition, chunks } = own;
      if (edition === null) return [];
      const count = Math.max(0, Math.min(limit, chunks - firstOrdinal));
      const refs = Array.from({ length: count }, (_, at) => ({ edition, ordinal: firstOrdinal + at }));
      return await readAll(companionId, refs);
    },
  };
}

function keyOf({ edition, ordinal }: PassageRef): string {
  return `${edition} ${ordinal}`;
}
