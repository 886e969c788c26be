/** Finds the passages of an edition that have no vector, with their texts. */
import type { EditionDocument, Store, StoredChunk } from "../../../contracts/store/store.ts";
import { scaleBytes } from "../retrieval/vectors/quantised.ts";

export interface IncompleteEdition {
  readonly edition: number;
  readonly chunks: number;
  readonly dimensions: number;
  /** Whether the vectors that it has are of the model. */
  readonly isCurrent: boolean;
  readonly documents: readonly Pick<EditionDocument, "firstOrdinal">[];
  readonly knowledge: Pick<Store["knowledge"], "readVectors" | "readEdition">;
}

/** Passages in a row, of one document. */
export interface MissingVectors {
  readonly firstOrdinal: number;
  readonly texts: readonly string[];
}

/** At most a few dozen at a time. */
export async function* findMissing(of: IncompleteEdition): AsyncGenerator<MissingVectors> {
  const isThere = await mark(of);
  const begins = new Set(of.documents.map(({ firstOrdinal }) => firstOrdinal));
  for (let next = isThere.indexOf(0); next !== -1; ) {
    const parts = await of.knowledge.readEdition(of.edition, next);
    if (parts.length === 0) return;
    let end = next + 1;
    for (const { firstOrdinal, chunks } of parts) {
      let run: string[] = [];
      for (const [index, chunk] of chunks.entries()) {
        const ordinal = firstOrdinal + index;
        end = Math.max(end, ordinal + 1);
        const isMissing = ordinal >= next && isThere[ordinal] === 0;
        if (run.length > 0 && (!isMissing || begins.has(ordinal))) {
          yield { firstOrdinal: ordinal - run.length, texts: run };
          run = [];
        }
        if (isMissing) run.push(textOf(chunk));
      }
      if (run.length > 0) yield { firstOrdinal: firstOrdinal + chunks.length - run.length, texts: run };
    }
    next = isThere.indexOf(0, end);
  }
}

/** A byte for each passage: 1 where it has a vector. */
async function mark({ edition, chunks, dimensions, isCurrent, knowledge }: IncompleteEdition): Promise<Uint8Array> {
  const isThere = new Uint8Array(chunks);
  const stride = dimensions + scaleBytes;
  for (let next = 0; isCurrent && next < chunks; ) {
    const blocks = await knowledge.readVectors(edition, next);
    if (blocks.length === 0) break;
    for (const { firstOrdinal, vectors } of blocks) {
      const end = firstOrdinal + Math.floor(vectors.length / stride);
      isThere.fill(1, firstOrdinal, end);
      next = Math.max(next + 1, end);
    }
  }
  return isThere;
}

/** With its headings, which say what it is about; never empty, since models refuse that. */
function textOf({ heading, text }: StoredChunk): string {
  const whole = heading === null ? text : `${heading}\n${text}`;
  return whole.trim() === "" ? "-" : whole;
}
