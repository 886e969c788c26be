/** Ranks passages by the words that they share with a question: Okapi BM25 over the lists of the index. */
import type { Parts } from "../words/query-terms.ts";
import { brokenList, lengthsByClass, PostingsReader } from "./postings.ts";

/** What is searched: all that answers for one companion. What is called an edition here may be a block of one. */
export interface Corpus {
  readonly editions: readonly EditionSize[];
}

export interface EditionSize {
  readonly edition: number;
  /** Ordinals are below it. */
  readonly chunks: number;
  /** In terms, of all its chunks together. */
  readonly termLength: number;
}

/** The lists of one term, of the editions in which it stands. */
export interface TermPostings {
  readonly term: string;
  readonly lists: readonly EditionPostings[];
}

export interface EditionPostings {
  readonly edition: number;
  readonly bytes: Uint8Array;
}

export interface Ranked {
  readonly edition: number;
  readonly ordinal: number;
  readonly score: number;
}

export interface WordRanking {
  /** The best first; equal ones by edition and ordinal. */
  readonly ranked: readonly Ranked[];
  /** In how many passages each of the terms stands. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** How soon repetition of a word stops counting, and how much a long passage is penalised. */
const k1 = 1.2;
const b = 0.75;
/** Between two yields: a fraction of a millisecond. */
const entriesPerSlice = 20_000;

const noParts: Parts = new Map();

/**
 * In slices: the caller lets other work go on at each yield. Lists of editions that are not of the corpus are passed
 * over, and so are parts of words of which the other part stands nowhere.
 */
export function* rankByWords(
  corpus: Corpus,
  postings: readonly TermPostings[],
  limit: number,
  parts: Parts = noParts,
): Generator<undefined, WordRanking> {
  const spans = new Map<number, Span>();
  const editions = [...corpus.editions].sort((one, other) => one.edition - other.edition);
  let chunks = 0;
  let termLength = 0;
  for (const edition of editions) {
    spans.set(edition.edition, { start: chunks, chunks: edition.chunks });
    chunks += edition.chunks;
    termLength += edition.termLength;
  }
  const scores = new Float64Array(chunks);
  const norms = normsFor(termLength / Math.max(1, chunks));
  const frequencies = new Map<string, number>();
  const opened: { term: string; readers: OpenList[]; frequency: number }[] = [];
  for (const { term, lists } of postings) {
    const readers = openLists(lists, spans);
    const frequency = readers.reduce((sum, { reader }) => sum + reader.entries, 0);
    frequencies.set(term, frequency);
    opened.push({ term, readers, frequency });
    yield;
  }
  let read = 0;
  for (const { term, readers, frequency } of opened) {
    if (!counts(term, frequencies, parts)) continue;
    const weight = Math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5));
    for (const { reader, start, chunks } of readers) {
      while (reader.next()) {
        if (reader.ordinal >= chunks) throw brokenList();
        const at = start + reader.ordinal;
        const { count } = reader;
        scores[at] = (scores[at] ?? 0) + (weight * count * (k1 + 1)) / (count + (norms[reader.lengthClass] as number));
        if (++read % entriesPerSlice === 0) yield;
      }
    }
  }
  yield;
  return { ranked: best(scores, editions, limit), frequencies };
}

/** Whether it is no mere part, or one whose other part stands in the index. */
function counts(term: string, frequencies: ReadonlyMap<string, number>, parts: Parts): boolean {
  const beside = parts.get(term);
  if (beside === undefined) return true;
  for (const other of beside) if ((frequencies.get(other) ?? 0) > 0) return true;
  return false;
}

/** Of an edition's passages among all. */
interface Span {
  readonly start: number;
  readonly chunks: number;
}

interface OpenList extends Span {
  readonly reader: PostingsReader;
}

function openLists(lists: readonly EditionPostings[], spans: ReadonlyMap<number, Span>): OpenList[] {
  const open: OpenList[] = [];
  for (const { edition, bytes } of lists) {
    const span = spans.get(edition);
    if (span !== undefined) open.push({ ...span, reader: new PostingsReader(bytes) });
  }
  return open;
}

function normsFor(averageLength: number): Float64Array {
  return lengthsByClass.map((length) => k1 * (1 - b + (b * length) / Math.max(1, averageLength)));
}

/** Positions are in the order of edition and ordinal, so that of equal ones the first stays. */
function best(scores: Float64Array, editions: readonly EditionSize[], limit: number): Ranked[] {
  const top: { at: number; score: number }[] = [];
  let least = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] as number;
    if (score <= least) continue;
    let position = top.length;
    while (position > 0 && (top[position - 1]?.score ?? 0) < score) position--;
    top.splice(position, 0, { at, score });
    if (top.length > limit) top.pop();
    if (top.length === limit) least = top[limit - 1]?.score ?? 0;
  }
  return top.map(({ at, score }) => ({ ...locate(at, editions), score }));
}

function locate(at: number, editions: readonly EditionSize[]): { edition: number; ordinal: number } {
  let rest = at;
  for (const { edition, chunks } of editions) {
    if (rest < chunks) return { edition, ordinal: rest };
    rest -= chunks;
  }
  throw new RangeError("No edition has this passage");
}

/** A word is distinctive that stands in at most a fifth of the passages, or in at most so many. */
const distinctiveShare = 1 / 5;
const distinctivePassages = 3;

/**
 * Whether a passage shares a distinctive word with the message whose significant terms these are. A compound is shared
 * by its parts, if there are passages for both.
 */
export function isFound(
  significant: ReadonlySet<string>,
  frequencies: ReadonlyMap<string, number>,
  passages: number,
  parts: Parts = noParts,
): boolean {
  const isDistinctive = (term: string) => {
    const frequency = frequencies.get(term) ?? 0;
    return frequency > 0 && (frequency <= distinctivePassages || frequency <= passages * distinctiveShare);
  };
  for (const term of significant) if (isDistinctive(term)) return true;
  for (const term of parts.keys()) if (isDistinctive(term) && counts(term, frequencies, parts)) return true;
  return false;
}
