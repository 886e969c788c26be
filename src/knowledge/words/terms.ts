/** The terms of a passage, as the index keeps them. */
import { scan } from "./scan.ts";

export interface Terms {
  /** How often each stands in the text. */
  readonly counts: ReadonlyMap<string, number>;
  /** All of them together: how long the text is in terms. */
  readonly length: number;
}

/** Different ones of one text. A passage of natural language has some hundreds. */
const maxTerms = 2_000;

export function termsOf(text: string): Terms {
  const counts = new Map<string, number>();
  let length = 0;
  scan(text, (term) => {
    const count = counts.get(term);
    if (count === undefined && counts.size >= maxTerms) return;
    counts.set(term, (count ?? 0) + 1);
    length++;
  });
  return { counts, length };
}
