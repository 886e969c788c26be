/** Takes compounds of a question apart: "Rücksendekosten" is asked where the passage says "Kosten der Rücksendung". */
import { stem } from "./stem.ts";
import type { Language } from "./stop-words/stop-words.ts";

/**
 * Terms that are parts of a word alone, each with the parts that stand beside it. Most divisions are nonsense: a part
 * counts where one beside it stands in the index too.
 */
export type Parts = ReadonlyMap<string, ReadonlySet<string>>;

/** They write compounds as one word. */
const compounding: ReadonlySet<Language> = new Set(["de", "nl", "sv", "da", "no", "fi", "hu"]);
const minPart = 4;
/** Shorter ones are seldom compounds. */
const minWord = 9;
const maxWord = 40;
/** Of a question; the look-ups for more would not fit into a query. */
const maxWords = 6;
/** Of long words only the places near the end are tried: the last part says what the thing is. */
const maxPlaces = 10;

export function mayHaveCompounds(guessed: readonly Language[]): boolean {
  return guessed.length === 0 || guessed.some((language) => compounding.has(language));
}

/** Of folded words. */
export function partsOf(words: Iterable<string>): Parts {
  const parts = new Map<string, Set<string>>();
  const add = (part: string, beside: string) => parts.set(part, (parts.get(part) ?? new Set()).add(beside));
  let left = maxWords;
  for (const word of words) {
    if (word.length < minWord || word.length > maxWord || !/^[a-z]+$/.test(word)) continue;
    if (left-- === 0) break;
    const last = word.length - minPart;
    for (let at = Math.max(minPart, last - maxPlaces + 1); at <= last; at++) {
      // The sound between the parts, as in "Zahlungsarten", goes with the ending of the first.
      const [head, tail] = [stem(word.slice(0, at)), stem(word.slice(at))];
      add(head, tail);
      add(tail, head);
    }
  }
  return parts;
}
