/** The terms of a passage, as the index keeps them. */
import { guessLanguages } from "./language.ts";
import { scan } from "./scan.ts";
import { stopWords } from "./stop-words.ts";

export interface Terms {
  /** How often each stands in the text. */
  readonly counts: ReadonlyMap<string, number>;
  /** All of them together: how long the text is in terms. */
  readonly length: number;
}

/** Different ones of one text. A passage of natural language has some hundreds. */
const maxTerms = 2_000;

export interface PassageText {
  /** Of its source. */
  readonly title: string | null;
  /** The headings above it. */
  readonly heading: string | null;
  readonly text: string;
}

/** Enough to identify the language of a passage. */
const sampleUnits = 500;

/**
 * Of a passage with what stands above it: its subject is often named there alone. Without the stop words of its
 * language, which are a third of it and find nothing.
 */
export function termsOfPassage({ title, heading, text }: PassageText): Terms {
  const counts = new Map<string, number>();
  let length = 0;
  const guessed = guessLanguages(text.slice(0, sampleUnits));
  const language = guessed.length === 1 ? guessed[0] : undefined;
  const known = stopWords();
  const count = (term: string, word: string) => {
    if (language !== undefined && known.get(word)?.includes(language)) return;
    const before = counts.get(term);
    if (before === undefined && counts.size >= maxTerms) return;
    counts.set(term, (before ?? 0) + 1);
    length++;
  };
  for (const part of [text, heading, title]) if (part !== null) scan(part, count);
  return { counts, length };
}
