/** Reads the lists of words from the store in small steps, and ranks passages by them. */
import { passagesPerBlock } from "../../domain/knowledge.ts";
import type { KnowledgeStore, LiveEdition } from "../../store/store.ts";
import type { QueryTerms } from "../words/query-terms.ts";
import { termNumberOf } from "../words/term-number.ts";
import { type EditionPostings, type EditionSize, rankByWords, type WordRanking } from "./bm25.ts";

/** At once, as the store has it. */
const maxEditions = 64;
const maxTerms = 48;
/** Far more than an edition may have. */
const maxBlocks = 1024;
/** Other work waits no longer than this, and a little. */
const sliceMs = 3;

/** Ranks over all editions; the ordinals of the store's lists are within their block, so that blocks stand for editions. */
export async function rankWords(
  store: Pick<KnowledgeStore, "findPostings">,
  editions: readonly LiveEdition[],
  { terms, parts }: Pick<QueryTerms, "terms" | "parts">,
  limit: number,
): Promise<WordRanking> {
  const asked = terms.slice(0, maxTerms);
  const lists = new Map(asked.map((term) => [termNumberOf(term), { term, lists: [] as EditionPostings[] }]));
  const numbers = [...lists.keys()];
  for (let at = 0; at < editions.length && numbers.length > 0; at += maxEditions) {
    if (at > 0) await letOthersRun();
    const group = editions.slice(at, at + maxEditions).map(({ edition }) => edition);
    for (const { edition, block, term, entries } of await store.findPostings(group, numbers)) {
      lists.get(term)?.lists.push({ edition: edition * maxBlocks + block, bytes: entries });
    }
  }
  const { ranked, frequencies } = await inSlices(
    rankByWords({ editions: editions.flatMap(toBlocks) }, [...lists.values()], limit, parts),
  );
  return { ranked: ranked.map(toEdition), frequencies };
}

function toBlocks({ edition, chunks, words }: LiveEdition): EditionSize[] {
  return Array.from({ length: Math.ceil(chunks / passagesPerBlock) }, (_, block) => ({
    edition: edition * maxBlocks + block,
    chunks: Math.min(passagesPerBlock, chunks - block * passagesPerBlock),
    // Only the sum counts.
    termLength: block === 0 ? words : 0,
  }));
}

function toEdition<Ranked extends { readonly edition: number; readonly ordinal: number }>(ranked: Ranked): Ranked {
  const block = ranked.edition % maxBlocks;
  const ordinal = block * passagesPerBlock + ranked.ordinal;
  return { ...ranked, edition: (ranked.edition - block) / maxBlocks, ordinal };
}

async function inSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let untilMs = performance.now() + sliceMs;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() < untilMs) continue;
    await letOthersRun();
    untilMs = performance.now() + sliceMs;
  }
}

function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
