/** Vectors as bytes: the nearest are those that exact numbers find, by either kernel, from a cache with a bound. */
import { expect, test } from "bun:test";
import type { VectorBlock } from "../../../src/contracts/store/store.ts";
import { createVectorCache } from "../../../src/core/knowledge/retrieval/vectors/near-passages.ts";
import { packVectors, quantise } from "../../../src/core/knowledge/retrieval/vectors/quantised.ts";
import { VectorScan } from "../../../src/core/knowledge/retrieval/vectors/vector-scan.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(7);
const vectorOf = (dimensions: number) => Float32Array.from({ length: dimensions }, () => random.below(2001) / 1000 - 1);

function cosine(one: Float32Array, other: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

// Twenty do not fit the kernel, which takes sixteen at a time; 350 vectors of 1 536 take two slices.
for (const [dimensions, count] of [
  [20, 300],
  [64, 300],
  [1536, 350],
] as const) {
  test(`of ${count} vectors with ${dimensions} dimensions, the nearest are those that exact numbers find`, async () => {
    const vectors = Array.from({ length: count }, () => vectorOf(dimensions));
    const queries = [vectorOf(dimensions), vectors[count - 1] ?? vectorOf(dimensions)];
    const blocks = [0, 100].map((firstOrdinal) => ({
      firstOrdinal,
      vectors: packVectors(vectors.slice(firstOrdinal, firstOrdinal === 0 ? 100 : count)),
    }));
    const scan = new VectorScan(queries, 10);
    await scan.add(5, blocks);
    const found = scan.finish();
    expect(found).toHaveLength(2);
    for (const [index, query] of queries.entries()) {
      const exact = vectors.map((vector) => cosine(query, vector));
      const { ranked, mean, passages } = found[index] ?? expect.unreachable();
      expect(passages).toBe(count);
      expect(mean).toBeCloseTo(exact.reduce((sum, value) => sum + value, 0) / count, 2);
      const best = exact.toSorted((a, b) => b - a);
      for (const [place, { edition, ordinal, score }] of ranked.entries()) {
        expect(edition).toBe(5);
        expect(Math.abs(score - (exact[ordinal] ?? 0))).toBeLessThan(0.01);
        expect(Math.abs(score - (best[place] ?? 0))).toBeLessThan(0.01);
      }
      expect(ranked).toHaveLength(10);
    }
    expect(found[1]?.ranked[0]).toMatchObject({ ordinal: count - 1 });
  });
}

test("a vector without a direction is near to nothing", () => {
  expect(quantise(new Float32Array(16))).toEqual({ bytes: new Int8Array(16), scale: 0 });
  expect(quantise(new Float32Array(16).fill(3e38)).scale).toBeFinite();
});

/** A store of one edition for each number, of blocks of one vector with 16 dimensions. */
function openCache(stored: Record<number, number>, maxBytes = 1000) {
  const asked: string[] = [];
  const cache = createVectorCache({
    maxBytes,
    async load(edition, firstOrdinal) {
      asked.push(`${edition}/${firstOrdinal}`);
      if (firstOrdinal >= (stored[edition] ?? 0)) return [];
      return [{ firstOrdinal, vectors: packVectors([new Float32Array(16).fill(1)]) }];
    },
  });
  const read = (edition: number, chunks: number, model = "m"): Promise<readonly VectorBlock[]> =>
    cache.read({ edition, chunks, model, dimensions: 16 });
  return { cache, read, asked, stored };
}

test("reads an edition once, whoever asks meanwhile, and later only what was missing", async () => {
  const { read, asked, stored } = openCache({ 1: 2 });
  const [one, other] = await Promise.all([read(1, 3), read(1, 3)]);
  expect(one).toBe(other);
  expect(asked).toEqual(["1/0", "1/1", "1/2"]);
  stored[1] = 3;
  expect((await read(1, 3)).map(({ firstOrdinal }) => firstOrdinal)).toEqual([0, 1, 2]);
  await read(1, 3);
  expect(asked).toEqual(["1/0", "1/1", "1/2", "1/2"]);
  await read(1, 3, "other");
  expect(asked.slice(4)).toEqual(["1/0", "1/1", "1/2"]);
});

test("keeps the editions that were used last within its bound", async () => {
  const { cache, read, asked } = openCache({ 1: 2, 2: 2, 3: 2 }, 80);
  await read(1, 2);
  await read(2, 2);
  await read(1, 2);
  await read(3, 2);
  expect(cache.bytes).toBe(80);
  asked.length = 0;
  await read(1, 2);
  expect(asked).toEqual([]);
  await read(2, 2);
  expect(asked).toEqual(["2/0", "2/1"]);
});
