/** Keeps vectors of editions in memory: those used last, up to a number of bytes. */
import type { VectorBlock } from "../../../store/store.ts";
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
  readonly blocks: VectorBlock[];
  bytes: number;
  /** Of the block that comes next. */
  nextOrdinal: number;
  /** Null while nobody loads. */
  loading: Promise<void> | null;
}

export function createVectorCache({ load, maxBytes }: { load: LoadVectors; maxBytes: number }): VectorCache {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  /** An edition never changes, but for vectors that were missing: what is known stays right, and is only added to. */
  async function loadRest(entry: Entry, { edition, chunks, dimensions }: EditionVectors): Promise<void> {
    const stride = dimensions + scaleBytes;
    while (entry.nextOrdinal < chunks) {
      const found = await load(edition, entry.nextOrdinal);
      if (found.length === 0) return;
      for (const block of found) {
        // Of another length are only vectors of a model that has changed behind its name.
        if (block.vectors.length % stride !== 0) continue;
        entry.blocks.push(block);
        entry.bytes += block.vectors.length;
        bytes += block.vectors.length;
      }
      const last = found.at(-1);
      const vectors = Math.max(1, Math.floor((last?.vectors.length ?? 0) / stride));
      entry.nextOrdinal = Math.max(entry.nextOrdinal + 1, (last?.firstOrdinal ?? 0) + vectors);
    }
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
      const entry: Entry = entries.get(key) ?? { blocks: [], bytes: 0, nextOrdinal: 0, loading: null };
      entries.delete(key);
      entries.set(key, entry);
      if (entry.nextOrdinal < of.chunks) {
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
