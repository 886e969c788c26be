/** Keeps vectors of editions in memory: those used last, up to a number of bytes. */
import type { VectorBlock } from "../../../../contracts/store/store.ts";
import { scaleBytes } from "./quantised.ts";

/** In order, about 1 MiB at a time, from the first block on that begins at `firstOrdinal` or later; empty at the end. */
export type LoadVectors = (edition: number, firstOrdinal: number) => Promise<readonly VectorBlock[]>;

export interface EditionVectors {
  readonly edition: number;
  /** How many passages it has. */
  readonly chunks: number;
  readonly model: string;
  readonly dimensions: number;
}

export interface VectorCache {
  /** Those that there are, in order: while an edition is embedded anew, some are missing. */
  read(of: EditionVectors): Promise<readonly VectorBlock[]>;
  /** Of what it keeps. */
  readonly bytes: number;
}

interface Entry {
  /** Replaced, never changed: a search may be reading them. */
  blocks: readonly VectorBlock[];
  bytes: number;
  /** Of the first passage whose vector is missing. */
  missingOrdinal: number;
  /** Null while nobody loads. */
  loading: Promise<void> | null;
}

export function createVectorCache({ load, maxBytes }: { load: LoadVectors; maxBytes: number }): VectorCache {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  /** An edition never changes, but for vectors that were missing: what stands before the first of them stays right. */
  async function loadRest(entry: Entry, { edition, chunks, dimensions }: EditionVectors): Promise<void> {
    const stride = dimensions + scaleBytes;
    const blocks = entry.blocks.filter(({ firstOrdinal }) => firstOrdinal < entry.missingOrdinal);
    for (let next = entry.missingOrdinal; next < chunks; ) {
      const found = await load(edition, next);
      if (found.length === 0) break;
      for (const { firstOrdinal, vectors } of found) {
        next = Math.max(next + 1, firstOrdinal + Math.floor(vectors.length / stride));
        // Of another length are only vectors of a model that has changed behind its name.
        if (vectors.length % stride === 0) blocks.push({ firstOrdinal, vectors });
      }
    }
    entry.blocks = blocks;
    for (const { firstOrdinal, vectors } of blocks) {
      if (firstOrdinal === entry.missingOrdinal) entry.missingOrdinal += vectors.length / stride;
    }
    const before = entry.bytes;
    entry.bytes = blocks.reduce((sum, { vectors }) => sum + vectors.length, 0);
    bytes += entry.bytes - before;
  }

  /** What is being loaded stays: its bytes are still counted. */
  function makeRoom(): void {
    for (const [key, entry] of entries) {
      if (bytes <= maxBytes) return;
      if (entry.loading !== null) continue;
      entries.delete(key);
      bytes -= entry.bytes;
    }
  }

  return {
    async read(of) {
      const key = `${of.edition}/${of.dimensions}/${of.model}`;
      const entry: Entry = entries.get(key) ?? { blocks: [], bytes: 0, missingOrdinal: 0, loading: null };
      entries.delete(key);
      entries.set(key, entry);
      if (entry.missingOrdinal < of.chunks) {
        entry.loading ??= loadRest(entry, of).finally(() => {
          entry.loading = null;
          makeRoom();
        });
        await entry.loading;
      }
      return entry.blocks;
    },
    get bytes() {
      return bytes;
    },
  };
}
