/** Lists of the index, and what is found by them. */
import { expect, test } from "bun:test";
import { readCorpus } from "../../bench/knowledge/corpus.ts";
import { evaluate, indexCorpus } from "../../bench/knowledge/evaluate.ts";
import { isFound, rankByWords, type TermPostings } from "../../src/core/knowledge/retrieval/bm25.ts";
import { fuseRankings } from "../../src/core/knowledge/retrieval/finder.ts";
import { PostingsReader } from "../../src/core/knowledge/retrieval/postings.ts";
import type { Terms } from "../../src/core/knowledge/words/terms.ts";
import { buildPostings } from "../support/postings.ts";

const passage = (counts: Record<string, number>, length = 100): Terms => ({
  counts: new Map(Object.entries(counts)),
  length,
});

function rank(editions: Record<number, Terms[]>, terms: string[], limit = 8, parts?: Map<string, Set<string>>) {
  const lists = new Map(
    Object.entries(editions).map(([edition, passages]) => [Number(edition), buildPostings(passages)]),
  );
  const corpus = Object.entries(editions).map(([edition, passages]) => ({
    edition: Number(edition),
    chunks: passages.length,
    termLength: passages.reduce((sum, { length }) => sum + length, 0),
  }));
  const postings: TermPostings[] = terms.map((term) => ({
    term,
    lists: [...lists].flatMap(([edition, list]) => {
      const bytes = list.get(term);
      return bytes === undefined ? [] : [{ edition, bytes }];
    }),
  }));
  const work = rankByWords({ editions: corpus }, postings, limit, parts);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

test("questions of the corpus find their passage among the best eight, by words alone", () => {
  const corpus = readCorpus();
  const rows = evaluate(corpus, indexCorpus(corpus));
  expect(corpus.passages).toHaveLength(150);
  for (const { language, recall, found, recognised } of rows) {
    expect({ language, isGood: recall >= 0.95 && found >= 0.95 }).toEqual({ language, isGood: true });
    expect(recognised).toBeGreaterThanOrEqual(0.4);
  }
  const all = rows.at(-1);
  expect(all?.questions).toBeGreaterThanOrEqual(120);
  expect(all?.unanswerable).toBe(30);
  expect(all?.meanReciprocalRank).toBeGreaterThan(0.9);
});

test("a list of the index tells what it was made of, and broken bytes are refused", () => {
  const passages = Array.from({ length: 700 }, (_, at) =>
    passage(at % 3 === 0 || at > 650 ? { word: 1 + at } : {}, at * 5),
  );
  const bytes = buildPostings(passages).get("word") as Uint8Array;
  const reader = new PostingsReader(bytes);
  const seen: number[][] = [];
  while (reader.next()) seen.push([reader.ordinal, reader.count]);
  const wanted = passages.flatMap(({ counts }, at) => (counts.has("word") ? [[at, Math.min(127, at + 1)]] : []));
  expect(seen).toEqual(wanted);
  expect(reader.entries).toBe(wanted.length);
  const readAll = (broken: Uint8Array) => {
    const each = new PostingsReader(broken);
    while (each.next());
  };
  for (let cut = 0; cut < bytes.length; cut += 13)
    expect(() => readAll(bytes.subarray(0, cut))).toThrow("cannot be read");
  expect(() => readAll(Uint8Array.of(...bytes, 0))).toThrow("cannot be read");
  expect(() => readAll(new Uint8Array(100).fill(255))).toThrow("cannot be read");
});

test("rare words, repeated words and short passages rank higher; equal ones by edition and ordinal", () => {
  const plain = Array.from({ length: 6 }, () => passage({ common: 1 }));
  const editions = {
    7: [...plain, passage({ common: 1, rare: 1 }), passage({ common: 3 }), passage({ common: 1 }, 30)],
    3: plain,
  };
  const { ranked, frequencies } = rank(editions, ["common", "rare"], 6);
  expect(ranked.map(({ edition, ordinal }) => [edition, ordinal])).toEqual([
    [7, 6],
    [7, 7],
    [7, 8],
    [3, 0],
    [3, 1],
    [3, 2],
  ]);
  expect(frequencies).toEqual(
    new Map([
      ["common", 15],
      ["rare", 1],
    ]),
  );
});

test("a part of a compound counts where its other part stands in the index", () => {
  const editions = { 1: [passage({ kost: 1 }), passage({ rucksend: 1 }), passage({ verk: 1 })] };
  const parts = new Map([
    ["kost", new Set(["rucksend"])],
    ["rucksend", new Set(["kost"])],
    ["verk", new Set(["auft"])],
    ["auft", new Set(["verk"])],
  ]);
  const { ranked, frequencies } = rank(editions, [...parts.keys()], 8, parts);
  expect(ranked.map(({ ordinal }) => ordinal)).toEqual([0, 1]);
  expect(isFound(new Set(), frequencies, 3, parts)).toBe(true);
  parts.delete("kost");
  parts.delete("rucksend");
  expect(isFound(new Set(), frequencies, 3, parts)).toBe(false);
});

test.each([
  [1, 1, true],
  [3, 4, true],
  [4, 4, false],
  [4, 20, true],
  [4, 19, false],
  [0, 100, false],
  [21, 100, false],
])("a word that stands in %d of %d passages tells that there is an answer: %p", (frequency, passages, isTold) => {
  expect(isFound(new Set(["word"]), new Map([["word", frequency]]), passages)).toBe(isTold);
});

test("rankings are joined by their places", () => {
  const at = (ordinal: number) => ({ edition: 1, ordinal });
  const fused = fuseRankings(
    [
      [at(5), at(1), at(2)],
      [at(2), at(5), at(9)],
    ],
    3,
  );
  expect(fused.map(({ ordinal }) => ordinal)).toEqual([5, 2, 1]);
  expect(fuseRankings([[at(4)], [at(3)]], 8).map(({ ordinal }) => ordinal)).toEqual([3, 4]);
});
