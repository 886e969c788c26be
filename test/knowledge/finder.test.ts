/** What goes to the model: all of a small knowledge, else the best passages by words and, if there are any, by vectors. */
import { beforeEach, expect, test } from "bun:test";
import type {
  IndexedPassage,
  KnowledgeStore,
  LiveEdition,
  Posting,
  ServerSecretStore,
} from "../../src/contracts/store/store.ts";
import { createKnowledgeFinder } from "../../src/core/knowledge/retrieval/finder.ts";
import type { NearPassages } from "../../src/core/knowledge/retrieval/found.ts";
import { nameQuestion } from "../../src/core/knowledge/retrieval/question-group.ts";
import { queryTermsOf } from "../../src/core/knowledge/words/query-terms.ts";
import { numberTermsBy } from "../../src/core/knowledge/words/term-number.ts";
import { termsOfPassage } from "../../src/core/knowledge/words/terms.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { passagesPerBlock } from "../../src/domain/knowledge.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { buildPostings } from "../support/postings.ts";
import { turnCompanion as companion } from "../support/turn-companion.ts";

const key = new Uint8Array(16);
const numberTerm = numberTermsBy(key);

/** Editions in memory: the numbers count from 1. */
function createIndex(texts: readonly (readonly string[])[], tokensOfEach = 10) {
  const calls = { editions: 0, most: 0 };
  const live: LiveEdition[] = [];
  const postings: Posting[] = [];
  for (const [index, passages] of texts.entries()) {
    const terms = passages.map((text) => termsOfPassage({ title: null, heading: null, text }));
    const words = terms.reduce((sum, { length }) => sum + length, 0);
    const edition = index + 1;
    const sums = { chunks: passages.length, tokens: passages.length * tokensOfEach, words };
    live.push({ edition, sourceId: `source-${edition}`, ...sums, model: null });
    for (let first = 0; first < terms.length; first += passagesPerBlock) {
      for (const [term, entries] of buildPostings(terms.slice(first, first + passagesPerBlock))) {
        postings.push({ edition, block: first / passagesPerBlock, term: numberTerm(term), entries });
      }
    }
  }
  const gone = new Set<number>();
  const knowledge: Pick<KnowledgeStore, "listEditions" | "findPostings" | "readPassages"> = {
    async listEditions() {
      calls.editions++;
      return calls.editions === 1 ? live : live.filter(({ edition }) => !gone.has(edition));
    },
    async findPostings(editions, terms) {
      calls.most = Math.max(calls.most, editions.length);
      return postings.filter(({ edition, term }) => editions.includes(edition) && terms.includes(term));
    },
    async readPassages(_, refs) {
      const facts = { sourceId: "s", title: "T", url: null, page: null, heading: null };
      return refs
        .filter(({ edition }) => !gone.has(edition))
        .map((ref): IndexedPassage => ({ ...facts, ...ref, text: texts[ref.edition - 1]?.[ref.ordinal] ?? "" }));
    },
  };
  const serverSecrets = { find: async () => key.toHex() } as unknown as ServerSecretStore;
  return { store: { knowledge: knowledge as KnowledgeStore, serverSecrets }, calls, gone };
}

const log = createCapturedLog();
let measurements = new Measurements();
beforeEach(() => {
  measurements = new Measurements();
});

const finderOf = (index: ReturnType<typeof createIndex>, near: NearPassages | null = null) =>
  createKnowledgeFinder({ store: index.store, near, log, measurements, nearMs: 5 });
const ask = (last: string, previous: string | null = null) => ({ companion, last, previous, signal: null });
const textsOf = ({ passages }: { passages: readonly { text: string }[] }) => passages.map(({ text }) => text);

const shop = ["We open at nine.", "Parcels take three days.", "Chairs are made of oak.", "Lamps are made of brass."];

test("small knowledge goes whole and in order, and is found by the last message alone", async () => {
  const finder = finderOf(createIndex([shop.slice(0, 2), shop.slice(2)]));
  const found = await finder.find(ask("Which chairs are there?"));
  expect(textsOf(found)).toEqual(shop);
  expect(found.passages.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  expect(found).toMatchObject({ isWhole: true, isFound: true, isSmallTalk: false });
  expect(await finder.find(ask("And giraffes?", "Which chairs are there?"))).toMatchObject({ isFound: false });
  expect(await finder.find(ask("Thank you!", "Which chairs?"))).toMatchObject({ isFound: false, isSmallTalk: true });
  const { passages, isWhole } = await finder.search(companion, "brass lamps", 2);
  expect([passages[0]?.text, isWhole]).toEqual(["Lamps are made of brass.", true]);
  expect(measurements.knowledgeSeconds.found.sum).toBeGreaterThan(0);
});

test("of more, the best eight are chosen by the last two messages, over many sources and over blocks of one", async () => {
  const long = Array.from({ length: 2 * passagesPerBlock + 5 }, (_, index) => `Part number ZX${index} is in stock.`);
  const small = Array.from({ length: 150 }, (_, index) => [`Shelf Q${index} is empty.`]);
  const index = createIndex([...small.slice(0, 75), long, ...small.slice(75)]);
  const finder = finderOf(index);
  const found = await finder.find(ask("And Q140?", `Where is ZX${2 * passagesPerBlock + 1}?`));
  expect(textsOf(found).slice(0, 2).sort()).toEqual(["Part number ZX1025 is in stock.", "Shelf Q140 is empty."]);
  expect(found.passages[0]).toMatchObject({ n: 1 });
  expect(found.passages.length).toBeLessThanOrEqual(8);
  expect(found).toMatchObject({ isWhole: false, isFound: true });
  expect(index.calls.most).toBeLessThanOrEqual(64);
  // In every passage: it says nothing about any.
  expect(await finder.find(ask("stock"))).toMatchObject({ isFound: false });
});

test("a source that was read anew in between is looked for once more", async () => {
  const index = createIndex([shop.slice(0, 2), shop.slice(2)]);
  index.gone.add(1);
  expect(textsOf(await finderOf(index).find(ask("Which chairs?")))).toEqual(shop.slice(2));
  expect(index.calls.editions).toBe(2);
});

test("vectors join what words find, and can show alone that there is an answer", async () => {
  const index = createIndex([shop], 2_000);
  const asked: (string | null)[] = [];
  const near: NearPassages = {
    async find({ last, previous }) {
      asked.push(last, previous);
      return { ranked: [{ edition: 1, ordinal: 1, score: 0.9 }], isNear: true };
    },
  };
  const found = await finderOf(index, near).find(ask("How long does delivery of a chair take?", "Hello"));
  expect(textsOf(found)[0]).toBe("Parcels take three days.");
  expect(found.passages.map(({ text }) => text)).toContain("Chairs are made of oak.");
  expect(asked).toEqual(["How long does delivery of a chair take?", "Hello"]);
  expect(await finderOf(index, near).find(ask("giraffes?"))).toMatchObject({ isFound: true });
});

test.each([
  ["fails", () => Promise.reject(new Error("the provider is away"))],
  ["does not answer in time", () => new Promise<never>(() => {})],
])("words do where the provider of vectors %s", async (_, find) => {
  const found = await finderOf(createIndex([shop], 2_000), { find }).find(ask("Which chairs are there?"));
  expect(textsOf(found)).toEqual(["Chairs are made of oak."]);
  expect(measurements.knowledgeFallbacks).toBe(1);
  expect(log.text()).not.toContain("chairs");
});

test("questions have one name in any order and inflection, and another for another companion", () => {
  const nameOf = (text: string, id = "one") => nameQuestion(id, queryTermsOf(text, null).topic);
  expect(nameOf("Do you repair old chairs?")).toBe(nameOf("old CHAIR – do you repair?"));
  expect(nameOf("Do you repair old chairs?")).not.toBe(nameOf("Do you repair old lamps?"));
  expect(nameOf("有停车场吗？")).toBe(nameOf("请问停车场有没有"));
  expect(nameOf("Is room 12 free?")).not.toBe(nameOf("Is room 13 free?"));
  expect(nameOf("chairs")).not.toBe(nameOf("chairs", "two"));
  expect(nameOf("chairs")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
