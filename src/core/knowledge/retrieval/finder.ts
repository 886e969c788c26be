/** Finds the passages of a companion's knowledge that go to the model, and whether they speak of what was asked. */
import type { LiveEdition, Store } from "../../../contracts/store/store.ts";
import { type PassageRef, passagesPerTurn, wholeKnowledgeTokens } from "../../../domain/knowledge.ts";
import type { Log } from "../../../lib/log.ts";
import type { Measurements } from "../../metrics/measurements.ts";
import { type QueryTerms, queryTermsOf } from "../words/query-terms.ts";
import { openTermNumbers } from "../words/term-number.ts";
import { isFound as isFoundByWords, type Ranked } from "./bm25.ts";
import type {
  Found,
  FoundPassage,
  KnowledgeFinder,
  KnowledgeQuestion,
  NearFound,
  NearPassages,
  NearQuestion,
} from "./found.ts";
import { rankWords } from "./word-index.ts";

/** Of one query, as the store limits it. */
const maxRefs = 100;
/** What each ranking gives to a fusion: more than is wanted, since a passage may be far down in one of them. */
const fusedPassages = 50;

export interface FinderParts extends NearLimits {
  readonly store: Pick<Store, "knowledge" | "serverSecrets">;
  /** Null: passages are found by words alone. */
  readonly near: NearPassages | null;
  readonly measurements: Pick<Measurements, "knowledgeSeconds" | "knowledgeFallbacks">;
}

/** What is searched for, and how much of it. */
interface Search extends KnowledgeQuestion {
  readonly limit: number;
  /** Also where all of it would go whole. */
  readonly isRanked: boolean;
}

/** A source was read again between two lookups in the index. */
class Vanished extends Error {}

export function createKnowledgeFinder(parts: FinderParts): KnowledgeFinder {
  const { near, measurements } = parts;
  const { knowledge } = parts.store;
  const findNumbering = openTermNumbers(parts.store);

  async function searchOnce(search: Search, isLast: boolean): Promise<Found> {
    const { companion, last, previous, limit, isRanked } = search;
    const editions = await knowledge.listEditions(companion.id);
    const terms = queryTermsOf(last, previous);
    const isWhole = editions.reduce((sum, { tokens }) => sum + tokens, 0) <= wholeKnowledgeTokens;
    if (editions.length === 0) return { passages: [], isWhole, isFound: false, ...terms };
    const isListed = isWhole && !isRanked;
    const { refs, isFound } = isListed
      ? { refs: listAll(editions), isFound: await findInWhole(search, editions, terms) }
      : await rank(search, editions, terms);
    const passages = await read(companion.id, isListed ? refs : refs.slice(0, limit));
    if (passages.length < Math.min(refs.length, isListed ? refs.length : limit) && !isLast) throw new Vanished();
    return { passages, isWhole, isFound, ...terms };
  }

  async function findInWhole(search: Search, editions: readonly LiveEdition[], terms: QueryTerms): Promise<boolean> {
    if (terms.isSmallTalk) return false;
    const { significant, parts } = terms;
    const { frequencies } = await rankWords(
      knowledge,
      await findNumbering(),
      editions,
      { terms: [...significant, ...parts.keys()], parts },
      0,
    );
    if (isFoundByWords(significant, frequencies, countPassages(editions), parts)) return true;
    return near !== null && (await askNear(near, search, editions))?.isNear === true;
  }

  async function rank(
    search: Search,
    editions: readonly LiveEdition[],
    terms: QueryTerms,
  ): Promise<{ refs: readonly Ranked[]; isFound: boolean }> {
    const count = near === null ? search.limit : Math.max(search.limit, fusedPassages);
    const asking = near === null ? null : askNear(near, search, editions);
    const byWords = await rankWords(knowledge, await findNumbering(), editions, terms, count);
    const byMeaning = await asking;
    const isFound =
      !terms.isSmallTalk &&
      (isFoundByWords(terms.significant, byWords.frequencies, countPassages(editions), terms.parts) ||
        byMeaning?.isNear === true);
    if (byMeaning === null) return { refs: byWords.ranked, isFound };
    return { refs: fuseRankings([byWords.ranked, byMeaning.ranked], search.limit), isFound };
  }

  /** Null if words have to do. Never rejects. */
  function askNear(asked: NearPassages, search: Search, editions: readonly LiveEdition[]) {
    return nearWithin(asked, { ...search, editions, limit: Math.max(search.limit, fusedPassages) }, parts);
  }

  async function read(
    companionId: string,
    refs: readonly (PassageRef & { score?: number })[],
  ): Promise<FoundPassage[]> {
    const found: FoundPassage[] = [];
    for (let at = 0; at < refs.length; at += maxRefs) {
      const asked = refs.slice(at, at + maxRefs);
      const scores = new Map(asked.map((ref) => [nameOf(ref), ref.score ?? 0]));
      for (const passage of await knowledge.readPassages(companionId, asked)) {
        found.push({ ...passage, n: found.length + 1, score: scores.get(nameOf(passage)) ?? 0 });
      }
    }
    return found;
  }

  async function searchTwice(search: Search): Promise<Found> {
    const startedMs = performance.now();
    const found = await searchOnce(search, false).catch((error: unknown) => {
      if (error instanceof Vanished) return searchOnce(search, true);
      throw error;
    });
    const outcome = found.isFound ? "found" : found.isSmallTalk ? "small_talk" : "not_found";
    measurements.knowledgeSeconds[outcome].observe((performance.now() - startedMs) / 1000);
    return found;
  }

  return {
    find: (question) => searchTwice({ ...question, limit: passagesPerTurn, isRanked: false }),
    search: (companion, query, limit) =>
      searchTwice({ companion, last: query, previous: null, signal: null, limit, isRanked: true }),
  };
}

/** In the order of sources and their texts. */
function listAll(editions: readonly LiveEdition[]): PassageRef[] {
  return editions.flatMap(({ edition, chunks }) =>
    Array.from({ length: chunks }, (_, ordinal) => ({ edition, ordinal })),
  );
}

function countPassages(editions: readonly LiveEdition[]): number {
  return editions.reduce((sum, { chunks }) => sum + chunks, 0);
}

function nameOf({ edition, ordinal }: PassageRef): string {
  return `${edition}/${ordinal}`;
}

/** The usual constant: how little the first rank is above the second. */
const smoothing = 60;

/**
 * Joins rankings of different methods: by reciprocal rank, since their scores do not compare. The scores
 * are of the fusion; equal ones by edition and ordinal.
 */
export function fuseRankings(
  rankings: readonly (readonly Pick<Ranked, "edition" | "ordinal">[])[],
  limit: number,
): Ranked[] {
  const fused = new Map<string, { edition: number; ordinal: number; score: number }>();
  for (const ranking of rankings) {
    ranking.forEach(({ edition, ordinal }, rank) => {
      const key = `${edition}/${ordinal}`;
      const entry = fused.get(key) ?? { edition, ordinal, score: 0 };
      entry.score += 1 / (smoothing + rank + 1);
      fused.set(key, entry);
    });
  }
  return [...fused.values()]
    .sort((a, b) => b.score - a.score || a.edition - b.edition || a.ordinal - b.ordinal)
    .slice(0, limit);
}

/** After this long words have to do. */
const defaultNearMs = 2_000;

interface NearLimits {
  readonly log: Log;
  readonly measurements: Pick<Measurements, "knowledgeFallbacks">;
  /** Shortened in tests. */
  readonly nearMs?: number;
}

/**
 * Asks for passages by meaning, within the time that a visitor waits for it. Null if words have to do. Never rejects.
 */
async function nearWithin(
  near: NearPassages,
  question: NearQuestion,
  { log, measurements, nearMs = defaultNearMs }: NearLimits,
): Promise<NearFound | null> {
  const waiting = new AbortController();
  const stop = { handleEvent: () => waiting.abort() };
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error("no answer in time"));
    waiting.abort();
  }, nearMs);
  question.signal?.addEventListener("abort", stop);
  try {
    return await Promise.race([near.find(question, waiting.signal), late.promise]);
  } catch (error) {
    // The visitor has left: no one waits for words either.
    if (question.signal?.aborted) return null;
    measurements.knowledgeFallbacks++;
    log.warn("passages are found by words alone", { companionId: question.companion.id, error });
    return null;
  } finally {
    clearTimeout(timer);
    question.signal?.removeEventListener("abort", stop);
  }
}
