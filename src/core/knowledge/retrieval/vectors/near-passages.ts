/** Finds passages by what they mean: those whose vectors are nearest to those of the question. */
import type { Store, VectorBlock } from "../../../../contracts/store/store.ts";
import type { CountedEmbedder } from "../../embedding/counted-embedder.ts";
import type { NearPassages } from "../found.ts";
import { scaleBytes } from "./quantised.ts";
import { type Nearest, VectorScan } from "./vector-scan.ts";

export interface NearParts {
  readonly store: { readonly knowledge: Pick<Store["knowledge"], "readVectors"> };
  readonly embedder: CountedEmbedder;
}

/** Twice what the largest companion with vectors of 3 072 dimensions has. */
const maxCacheBytes = 128 * 1024 * 1024;

export function createNearPassages({ store, embedder }: NearParts): NearPassages {
  const cache = createVectorCache({
    load: (edition, firstOrdinal) => store.knowledge.readVectors(edition, firstOrdinal),
    maxBytes: maxCacheBytes,
  });

  return {
    async find({ companion, last, previous, editions, limit }, signal) {
      const embedded = editions.filter(({ model }) => model === embedder.model);
      if (embedded.length === 0 || last.trim() === "") return null;
      // The last message alone is what counts as found.
      const texts = previous === null ? [last] : [`${previous}\n${last}`, last];
      const queries = await embedder.embed(companion, texts, signal);
      if (queries === null) return null;
      const dimensions = queries[0]?.length ?? 0;
      const scan = new VectorScan(queries, limit);
      for (const { edition, chunks } of embedded) {
        const blocks = await cache.read({ edition, chunks, model: embedder.model, dimensions });
        signal.throwIfAborted();
        await scan.add(edition, blocks);
      }
      const nearest = scan.finish();
      const [both] = nearest;
      const alone = nearest.at(-1);
      if (both === undefined || alone === undefined || both.passages === 0) return null;
      return { ranked: both.ranked, isNear: isNear(alone) };
    },
  };
}

/** Below it, no model means anything by it. */
const leastCosine = 0.3;
/** So few passages have no meaningful mean. */
const cosineOfFew = 0.5;
const fewPassages = 8;
/** How far above the mean of all passages one is that speaks of the question. */
const aboveMean = 0.12;

/**
 * Models differ in what cosine unrelated texts have, from 0.1 to 0.7; that a passage stands out from the others of its
 * companion is what they have in common.
 */
function isNear({ ranked, mean, passages }: Nearest): boolean {
  const best = ranked[0]?.score ?? 0;
  return best >= leastCosine && best >= (passages < fewPassages ? cosineOfFew : mean + aboveMean);
}

/** In order, about 1 MiB at a time, from the first block on that begins at `firstOrdinal` or later; empty at the end. */
type LoadVectors = (edition: number, firstOrdinal: number) => Promise<readonly VectorBlock[]>;

interface EditionVectors {
  readonly edition: number;
  /** How many passages it has. */
  readonly chunks: number;
  readonly model: string;
  readonly dimensions: number;
}

interface VectorCache {
  /** Those that there are, in order: while an edition is embedded again, some are missing. */
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
  /** Null while no load is running. */
  loading: Promise<void> | null;
}

/** Keeps vectors of editions in memory: those used last, up to a number of bytes. */
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
