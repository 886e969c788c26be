/** The stop words of each language, as the index writes them, and the words of greetings. */
import { foldWidthAndCase, foldWord } from "../fold.ts";
import { easternStopWords } from "./eastern.ts";
import { greetings } from "./greetings.ts";
import { westernStopWords } from "./western.ts";

const lists = { ...westernStopWords, ...easternStopWords };

/** A language that the words of a text can tell, by its code of ISO 639-1. */
export type Language = keyof typeof lists;

export const languages = Object.keys(lists) as Language[];

const read = new Map<Language | "greetings", ReadonlySet<string>>();

/** Folded, before endings are cut. Made when a language is first met. */
export function stopWordsOf(language: Language): ReadonlySet<string> {
  return readOnce(language, () => lists[language]);
}

/** In all languages at once. */
export function greetingWords(): ReadonlySet<string> {
  return readOnce("greetings", () => greetings);
}

function readOnce(key: Language | "greetings", list: () => string): ReadonlySet<string> {
  let words = read.get(key);
  if (words === undefined) {
    words = new Set(
      list()
        .split(/\s+/)
        .map((word) => foldWord(foldWidthAndCase(word))),
    );
    read.set(key, words);
  }
  return words;
}
