/** Finds passages by what they mean: those whose vectors are nearest to those of the question. */
import type { Store } from "../../../../contracts/store/store.ts";
import type { CountedEmbedder } from "../../embedding/counted-embedder.ts";
import type { NearPassages } from "../found.ts";
import { createVectorCache } from "./vector-cache.ts";
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
/** Of so few passages that their mean says nothing. */
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
