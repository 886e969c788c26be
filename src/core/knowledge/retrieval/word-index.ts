/** Reads the lists of words from the store in small steps, and ranks passages by them. */
import type { KnowledgeStore, LiveEdition } from "../../../contracts/store/store.ts";
import { passagesPerBlock } from "../../../domain/knowledge.ts";
import { Slices } from "../../../lib/pause.ts";
import type { QueryTerms } from "../words/query-terms.ts";
import type { NumberTerm } from "../words/term-number.ts";
import { type EditionPostings, type EditionSize, rankByWords, type WordRanking } from "./bm25.ts";

/** Of one query, as the store limits it. */
const maxEditions = 64;
const maxTerms = 48;
/** In one query: each is a list to read, and takes some microseconds. */
const maxLookups = 500;
/** Far more than an edition may have. */
const maxBlocks = 1024;

/** Ranks over all editions; the ordinals of the store's lists are within their block, so that blocks stand for editions. */
export async function rankWords(
  store: Pick<KnowledgeStore, "findPostings">,
  numberTerm: NumberTerm,
  editions: readonly LiveEdition[],
  { terms, parts }: Pick<QueryTerms, "terms" | "parts">,
  limit: number,
): Promise<WordRanking> {
  const slices = new Slices();
  // Terms that share a number share what is found.
  const lists = new Map<number, EditionPostings[]>();
  const asked = terms.slice(0, maxTerms).map((term) => {
    const number = numberTerm(term);
    const own = lists.get(number) ?? [];
    lists.set(number, own);
    return { term, lists: own };
  });
  const numbers = [...lists.keys()];
  for (const { group, terms } of numbers.length === 0 ? [] : lookupsOf(editions, numbers)) {
    if (slices.isOver) await slices.pause();
    for (const { edition, block, term, entries } of await store.findPostings(group, terms)) {
      lists.get(term)?.push({ edition: edition * maxBlocks + block, bytes: entries });
    }
  }
  const ranking = rankByWords({ editions: editions.flatMap(toBlocks) }, asked, limit, parts);
  let step = ranking.next();
  for (; !step.done; step = ranking.next()) if (slices.isOver) await slices.pause();
  const { ranked, frequencies } = step.value;
  return { ranked: ranked.map(toEdition), frequencies };
}

interface Lookup {
  readonly group: readonly number[];
  readonly terms: readonly number[];
}

/** Small editions are asked together for all terms, large ones alone for a few terms at a time. */
function* lookupsOf(editions: readonly LiveEdition[], terms: readonly number[]): Generator<Lookup> {
  let group: number[] = [];
  let blocks = 0;
  for (const { edition, chunks } of editions) {
    const own = Math.ceil(chunks / passagesPerBlock);
    if (group.length > 0 && (group.length === maxEditions || (blocks + own) * terms.length > maxLookups)) {
      yield* divide(group, terms, blocks);
      [group, blocks] = [[], 0];
    }
    group.push(edition);
    blocks += own;
  }
  if (group.length > 0) yield* divide(group, terms, blocks);
}

function* divide(group: readonly number[], terms: readonly number[], blocks: number): Generator<Lookup> {
  const termsPerLookup = Math.max(1, Math.floor(maxLookups / Math.max(1, blocks)));
  for (let at = 0; at < terms.length; at += termsPerLookup)
    yield { group, terms: terms.slice(at, at + termsPerLookup) };
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
