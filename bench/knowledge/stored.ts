/** Knowledge in a database: whether it finds what it finds in memory, and how long retrieval and indexing take. */
import type { KnowledgeFinder } from "../../src/core/knowledge/retrieval/found.ts";
import type { Companion } from "../../src/domain/companion.ts";
import type { OpenStore, StoreWorld } from "../../test/support/store-world.ts";
import { type KnowledgeCorpus, readCorpus } from "./corpus.ts";
import { type Answer, evaluate, indexCorpus, places, type Quality } from "./evaluate.ts";
import { type Hold, measureHold, threadCpuMs } from "./event-loop.ts";
import { index, openBenchWorld } from "./stores.ts";
import { createWriter, toDocument, type Writer } from "./texts.ts";

export interface StoredQuality extends Quality {
  /** Questions for which the passages and their order, or the verdict, are not those of the index in memory. */
  readonly differing: number;
}

/** Milliseconds by the clock, and of this thread alone. */
export interface Spread {
  readonly wallP50: number;
  readonly wallP99: number;
  readonly cpuP50: number;
  readonly cpuP99: number;
}

export interface RetrievalFigures {
  readonly passages: number;
  readonly companions: number;
  readonly query: string;
  readonly spread: Spread;
  readonly hold: Hold;
}

export interface RateFigures {
  readonly what: string;
  readonly passages: number;
  readonly wallSeconds: number;
  /** Of this process with all its threads; without the database server's. */
  readonly cpuSeconds: number;
}

export interface StoredFigures {
  readonly engine: string;
  readonly quality: StoredQuality;
  readonly retrieval: readonly RetrievalFigures[];
  readonly rates: readonly RateFigures[];
}

const sizes = [
  { companions: 1, passagesEach: 10_000 },
  { companions: 5, passagesEach: 20_000 },
];
const rounds = 400;

export async function measureStored(
  engine: string,
  open: OpenStore,
  say: (sentence: string) => void,
): Promise<StoredFigures> {
  const retrieval: RetrievalFigures[] = [];
  const rates: RateFigures[] = [];
  say(`${engine}: the corpus`);
  const quality = await measureQuality(open);
  for (const { companions: count, passagesEach } of sizes) {
    const world = await openBenchWorld(open);
    try {
      const account = await world.createAccount();
      const companions: Companion[] = [];
      for (let at = 0; at < count; at++) {
        say(`${engine}: indexing ${passagesEach} passages, ${at + 1} of ${count}`);
        const companion = await world.createCompanion(account);
        rates.push(await measureRate(world, companion, createWriter(at + 1).markdown(passagesEach)));
        companions.push(companion);
      }
      say(`${engine}: asking ${count * passagesEach} passages`);
      retrieval.push(...(await measureRetrieval(world.finder, companions, count * passagesEach)));
    } finally {
      await world.close();
    }
  }
  return { engine, quality, retrieval, rates };
}

/** Each passage of the corpus as a page of its own, under its heading: as the index in memory has it. */
async function measureQuality(open: OpenStore): Promise<StoredQuality> {
  const corpus = readCorpus();
  const inMemory = indexCorpus(corpus);
  const world = await openBenchWorld(open);
  try {
    const companion = await world.createCompanion(await world.createAccount());
    const documents = corpus.passages.map(({ heading, text }) => ({ title: heading, document: toDocument(text) }));
    const passages = await index(world, companion, documents);
    if (passages !== corpus.passages.length) throw new Error("a passage of the corpus was divided");
    const answers = await askAll(corpus, world.finder, companion);
    const search = (question: string) => answers.get(question) as Answer;
    const all = evaluate(corpus, search).find(({ language }) => language === "all") as Quality;
    const differs = ({ text }: { text: string }) => JSON.stringify(search(text)) !== JSON.stringify(inMemory(text));
    return { ...all, differing: corpus.questions.filter(differs).length };
  } finally {
    await world.close();
  }
}

async function askAll(
  { questions }: KnowledgeCorpus,
  finder: KnowledgeFinder,
  companion: Companion,
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const { text } of questions) {
    const { passages, isFound } = await finder.search(companion, text, places);
    answers.set(text, { passages: passages.map(({ ordinal }) => ordinal), isFound });
  }
  return answers;
}

async function measureRate(world: StoreWorld, companion: Companion, markdown: string): Promise<RateFigures> {
  const document = toDocument(markdown);
  const before = { wallMs: performance.now(), cpu: process.cpuUsage() };
  const passages = await index(world, companion, [{ title: "A handbook", document }]);
  const { user, system } = process.cpuUsage(before.cpu);
  const wallSeconds = (performance.now() - before.wallMs) / 1000;
  return { what: "words of no language", passages, wallSeconds, cpuSeconds: (user + system) / 1e6 };
}

function queriesOf(writer: Writer): { name: string; write: () => string }[] {
  const lengths = { next: 0 };
  return [
    { name: "2 to 12 words as they come", write: () => writer.words(2 + (lengths.next++ % 11)) },
    { name: "the 5 most frequent words", write: () => writer.common(5) },
    { name: "the 48 most frequent words", write: () => writer.common(48) },
  ];
}

async function measureRetrieval(
  finder: KnowledgeFinder,
  companions: readonly Companion[],
  passages: number,
): Promise<RetrievalFigures[]> {
  const figures: RetrievalFigures[] = [];
  for (const { name, write } of queriesOf(createWriter(99))) {
    const ask = (round: number) => {
      const companion = companions[round % companions.length] as Companion;
      return finder.find({ companion, last: write(), previous: null, signal: null });
    };
    // Compilers and caches settle.
    for (let round = 0; round < rounds / 4; round++) await ask(round);
    const [walls, cpus]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const before = { wallMs: performance.now(), cpuMs: threadCpuMs() };
      await ask(round);
      walls.push(performance.now() - before.wallMs);
      cpus.push(threadCpuMs() - before.cpuMs);
    }
    const hold = await measureHold(async () => {
      for (let round = 0; round < rounds / 4; round++) {
        await ask(round);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const spread = {
      wallP50: quantile(walls, 0.5),
      wallP99: quantile(walls, 0.99),
      cpuP50: quantile(cpus, 0.5),
      cpuP99: quantile(cpus, 0.99),
    };
    figures.push({ passages, companions: companions.length, query: name, spread, hold });
  }
  return figures;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
