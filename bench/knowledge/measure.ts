/** Measures retrieval by words: what the corpus finds, and what indexing and ranking cost. */
import { cutIntoChunks } from "../../src/core/knowledge/passages/chunks.ts";
import { rankByWords, type TermPostings } from "../../src/core/knowledge/retrieval/bm25.ts";
import { termsOfPassage } from "../../src/core/knowledge/words/terms.ts";
import type { ReadDocument } from "../../src/domain/knowledge.ts";
import { buildPostings } from "../../test/support/postings.ts";
import { type CorpusPassage, corpusLanguages, readCorpus } from "./corpus.ts";
import { evaluate, indexCorpus, type Quality } from "./evaluate.ts";

export interface KnowledgeFigures {
  readonly quality: readonly Quality[];
  /** By language: of a companion that has the passages of this language alone. */
  readonly alone: readonly Quality[];
  readonly indexing: readonly IndexingFigures[];
  readonly ranking: {
    readonly chunks: number;
    readonly terms: number;
    readonly ms: number;
    readonly maxSliceMs: number;
  };
}

export interface IndexingFigures {
  readonly name: string;
  /** UTF-8. */
  readonly megabytes: number;
  readonly chunks: number;
  readonly cutMs: number;
  readonly termsMs: number;
  readonly postingsMs: number;
  readonly terms: number;
}

export function measureKnowledge(): KnowledgeFigures {
  const corpus = readCorpus();
  const alone = corpusLanguages.map((language) => {
    const own = readCorpus([language]);
    return evaluate(own, indexCorpus(own)).find((row) => row.language === language) as Quality;
  });
  const indexing = corpusLanguages.map((language) =>
    measureIndexing(
      language,
      corpus.passages.filter((passage) => passage.language === language),
    ),
  );
  return { quality: evaluate(corpus, indexCorpus(corpus)), alone, indexing, ranking: measureRanking() };
}

/** A long document of the corpus's sections, each time with other numbers. */
function writeDocument(passages: readonly CorpusPassage[], megabytes: number): ReadDocument<string> {
  let markdown = "";
  for (let copy = 0; markdown.length < megabytes * 1e6; copy++) {
    for (const { heading, text } of passages) markdown += `## ${heading} ${copy}\n\n${text} ${text} ${text}\n\n`;
  }
  return { title: null, pages: [{ number: null, markdown }] };
}

function measureIndexing(name: string, passages: readonly CorpusPassage[]): IndexingFigures {
  const document = writeDocument(passages, 1);
  // The first round warms up.
  let best: IndexingFigures | null = null;
  for (let round = 0; round < 4; round++) {
    const startMs = performance.now();
    const chunks = [...cutIntoChunks(document)];
    const cutAtMs = performance.now();
    const terms = chunks.map((chunk) => termsOfPassage({ ...chunk, title: "A title" }));
    const termsAtMs = performance.now();
    for (let at = 0; at < terms.length; at += 512) buildPostings(terms.slice(at, at + 512));
    const figures = {
      name,
      megabytes: Buffer.byteLength(document.pages[0]?.markdown ?? "") / 1e6,
      chunks: chunks.length,
      cutMs: cutAtMs - startMs,
      termsMs: termsAtMs - cutAtMs,
      postingsMs: performance.now() - termsAtMs,
      terms: terms.reduce((sum, { length }) => sum + length, 0),
    };
    if (best === null || sumOf(figures) < sumOf(best)) best = figures;
  }
  return best as IndexingFigures;
}

export function sumOf({ cutMs, termsMs, postingsMs }: IndexingFigures): number {
  return cutMs + termsMs + postingsMs;
}

/** The worst that a companion may have: every term of the longest query stands in every passage. */
function measureRanking(): KnowledgeFigures["ranking"] {
  const [chunks, terms] = [20_000, 48];
  const passage = { counts: new Map([["word", 2]]), length: 150 };
  const bytes = buildPostings(Array.from({ length: chunks }, () => passage)).get("word") as Uint8Array;
  const corpus = { editions: [{ edition: 1, chunks, termLength: chunks * 150 }] };
  const postings: TermPostings[] = Array.from({ length: terms }, (_, at) => ({
    term: `word${at}`,
    lists: [{ edition: 1, bytes }],
  }));
  let best = { ms: Number.POSITIVE_INFINITY, maxSliceMs: 0 };
  for (let round = 0; round < 5; round++) {
    const startMs = performance.now();
    let maxSliceMs = 0;
    let sliceMs = startMs;
    const work = rankByWords(corpus, postings, 8);
    for (let step = work.next(); ; step = work.next()) {
      const nowMs = performance.now();
      maxSliceMs = Math.max(maxSliceMs, nowMs - sliceMs);
      sliceMs = nowMs;
      if (step.done === true) break;
    }
    const ms = performance.now() - startMs;
    if (ms < best.ms) best = { ms, maxSliceMs };
  }
  return { chunks, terms, ...best };
}
