/** Words are numbers in the index: nobody can choose two that share one, and two that do cost no source. */
import { expect, test } from "bun:test";
import { index, onSqlite, openBenchWorld } from "../../bench/knowledge/stores.ts";
import { BlockPostings, PostingsReader } from "../../src/core/knowledge/retrieval/postings.ts";
import { rankWords } from "../../src/core/knowledge/retrieval/word-index.ts";
import { openTermNumbers } from "../../src/core/knowledge/words/term-number.ts";

test("words that are one in a hash without a key can be read in one source, and are found apart", async () => {
  const world = await openBenchWorld(onSqlite);
  const companion = await world.createCompanion(await world.createAccount());
  const markdown = "# Lamps\n\nOrder number 10024090 is a lamp.\n\n# Chairs\n\nOrder number 10030048 is a chair.\n";
  expect(await index(world, companion, [{ title: "List", document: toDocument(markdown) }])).toBeGreaterThan(0);
  const find = async (words: string) => (await world.finder.search(companion, words, 8)).isFound;
  expect([await find("10024090"), await find("10030048"), await find("10030049")]).toEqual([true, true, false]);

  // The key belongs to the database: its numbers stay, and are not those of another.
  const numberOf = async () => (await openTermNumbers(world.store)())("lamp");
  const other = await openBenchWorld(onSqlite);
  const [first, second, foreign] = [await numberOf(), await numberOf(), (await openTermNumbers(other.store)())("lamp")];
  expect(second).toBe(first);
  expect(foreign).not.toBe(first);
  expect([first, foreign].every((number) => Number.isSafeInteger(number) && number >= 0)).toBe(true);
  await Promise.all([world.close(), other.close()]);
});

test("lists come in the order of their numbers, in which they are stored in slices without being sorted all together", () => {
  const numbers = new Map([
    ["kettle", 2 ** 52],
    ["lamp", 10],
    ["chair", 9],
    ["table", 0],
  ]);
  const block = new BlockPostings((term) => numbers.get(term) ?? 1);
  block.add({ counts: new Map(numbers.keys().map((term) => [term, 1])), length: 4 });
  expect(
    block
      .lists()
      .map(([number]) => number)
      .toArray(),
  ).toEqual([0, 9, 10, 2 ** 52]);
});

test("words that share a number nevertheless share a list, and each finds what either does", async () => {
  const block = new BlockPostings(() => 7);
  const passages = [{ lamp: 2, chair: 3 }, {}, { chair: 126, lamp: 2 }, { lamp: 1 }];
  for (const words of passages) block.add({ counts: new Map(Object.entries(words)), length: 10 });
  const lists = [...block.lists()];
  expect(lists).toHaveLength(1);
  const [number, entries] = lists[0] as (typeof lists)[0];
  const reader = new PostingsReader(entries);
  const seen: number[][] = [];
  while (reader.next()) seen.push([reader.ordinal, reader.count]);
  expect(seen).toEqual([
    [0, 5],
    [2, 127],
    [3, 1],
  ]);

  const store = { findPostings: async () => [{ edition: 1, block: 0, term: number, entries }] };
  const live = { edition: 1, sourceId: "s", chunks: passages.length, tokens: 40, words: 40, model: null };
  const { ranked, frequencies } = await rankWords(
    store,
    () => 7,
    [live],
    { terms: ["lamp", "chair"], parts: new Map() },
    8,
  );
  expect(ranked.map(({ ordinal }) => ordinal).toSorted()).toEqual([0, 2, 3]);
  expect([...frequencies]).toEqual([
    ["lamp", 3],
    ["chair", 3],
  ]);
});

function toDocument(markdown: string) {
  return { title: null, pages: [{ number: null, markdown }] };
}
