/** The stop words of each language, as the index writes them, and the words of greetings. */
import { foldWidthAndCase, foldWord } from "../fold.ts";
import { easternStopWords } from "./eastern.ts";
import { greetings, smallTalk } from "./greetings.ts";
import { westernStopWords } from "./western.ts";

const lists = { ...westernStopWords, ...easternStopWords };

/** A language that the words of a text can tell, by its code of ISO 639-1. */
export type Language = keyof typeof lists;

/** Of those of one script, the more widespread ones first. */
export const languages = Object.keys(lists) as Language[];

/** Folded, before endings are cut, with the languages that have them. Made when the first text is read. */
export const stopWords = once(() => {
  const words = new Map<string, Language[]>();
  for (const language of languages) {
    // Of one script each, so that a whole list folds as its words do, in a fraction of the time.
    for (const word of foldWord(foldWidthAndCase(lists[language])).split(/\s+/)) {
      const languages = words.get(word);
      if (languages === undefined) words.set(word, [language]);
      else languages.push(language);
    }
  }
  return words;
});

export const greetingWords = once(() => read(greetings));
export const smallTalkWords = once(() => read(smallTalk));

function read(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).map((word) => foldWord(foldWidthAndCase(word))));
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | null = null;
  return () => {
    value ??= make();
    return value;
  };
}
