/** Asks the questions of the corpus and tells how many are answered by their passage, and how many of the others are recognised. */
import { isFound, rankByWords } from "../../src/core/knowledge/retrieval/bm25.ts";
import { queryTermsOf } from "../../src/core/knowledge/words/query-terms.ts";
import { termsOfPassage } from "../../src/core/knowledge/words/terms.ts";
import { buildPostings } from "../../test/support/postings.ts";
import { type CorpusLanguage, corpusLanguages, type KnowledgeCorpus } from "./corpus.ts";

/** What a search tells of one question. */
export interface Answer {
  /** Indexes of passages, the best first. */
  readonly passages: readonly number[];
  readonly isFound: boolean;
}

export type Search = (question: string) => Answer;

export interface Quality {
  readonly language: CorpusLanguage | "all";
  readonly questions: number;
  /** The share of questions whose passage is among the best 8. */
  readonly recall: number;
  /** The mean of 1 / place of the right passage. */
  readonly meanReciprocalRank: number;
  /** The share of questions with an answer that are taken for such. */
  readonly found: number;
  readonly unanswerable: number;
  /** The share of questions without an answer that are taken for such. */
  readonly recognised: number;
  readonly missed: readonly string[];
}

export const places = 8;

/** The corpus as one edition, in memory. */
export function indexCorpus({ passages }: KnowledgeCorpus): Search {
  const terms = passages.map((passage) => termsOfPassage({ ...passage, title: null }));
  const postings = buildPostings(terms);
  const termLength = terms.reduce((sum, { length }) => sum + length, 0);
  const corpus = { editions: [{ edition: 1, chunks: passages.length, termLength }] };
  return (question) => {
    const query = queryTermsOf(question, null);
    const lists = query.terms.flatMap((term) => {
      const bytes = postings.get(term);
      return bytes === undefined ? [] : [{ term, lists: [{ edition: 1, bytes }] }];
    });
    const search = rankByWords(corpus, lists, places, query.parts);
    let step = search.next();
    while (step.done !== true) step = search.next();
    const { ranked, frequencies } = step.value;
    return {
      passages: ranked.map(({ ordinal }) => ordinal),
      isFound: isFound(query.significant, frequencies, passages.length, query.parts),
    };
  };
}

/** For each language, and for all together last. */
export function evaluate(corpus: KnowledgeCorpus, search: Search): Quality[] {
  const answers = corpus.questions.map((question) => ({ ...question, answer: search(question.text) }));
  return [...corpusLanguages, "all" as const].map((language) => {
    const own = answers.filter((each) => language === "all" || each.language === language);
    const answerable = own.flatMap(({ text, passage, answer }) =>
      passage === null ? [] : [{ text, place: answer.passages.indexOf(passage) + 1, isFound: answer.isFound }],
    );
    const others = own.filter(({ passage }) => passage === null);
    return {
      language,
      questions: answerable.length,
      recall: share(answerable, ({ place }) => place > 0),
      meanReciprocalRank:
        answerable.reduce((sum, { place }) => sum + (place > 0 ? 1 / place : 0), 0) / answerable.length,
      found: share(answerable, (each) => each.isFound),
      unanswerable: others.length,
      recognised: share(others, ({ answer }) => !answer.isFound),
      missed: answerable.filter(({ place }) => place === 0).map(({ text }) => text),
    };
  });
}

function share<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.filter(test).length / items.length;
}
