/** The terms that a visitor's last two messages are searched by, and which of them show what the last is about. */
import { mayHaveCompounds, type Parts, partsOf } from "./compounds.ts";
import { guessLanguages } from "./language.ts";
import { scan } from "./scan.ts";
import { greetingWords, type Language, smallTalkWords, stopWords } from "./stop-words/stop-words.ts";

/** Each is a look-up in the index. */
const maxQueryTerms = 48;
/** Of a message; a longer one is read at its beginning and at its end, where questions stand. */
const maxUnits = 4_000;

export interface QueryTerms {
  /** At most 48, each once, those of the last message first, parts last. Stop words only where there is nothing else. */
  readonly terms: readonly string[];
  /** Those of the last message that can show by themselves that a passage is about it: no stop words, no greetings. */
  readonly significant: ReadonlySet<string>;
  /** Those of the terms that are only parts of words of the last message. */
  readonly parts: Parts;
  /** The last message consists of stop words, greetings and thanks: it is no question to the knowledge. */
  readonly isSmallTalk: boolean;
}

export function queryTermsOf(lastMessage: string, previousMessage: string | null): QueryTerms {
  const last = read(lastMessage);
  const previous = previousMessage === null ? null : read(previousMessage);
  const chosen = [...last.words, ...(previous?.words ?? [])];
  // A search for a name such as "The The" finds it; so do messages in a language whose stop words are words in another.
  const terms = chosen.length > 0 ? chosen : [...last.stopWords];
  const significant = new Set([...last.words].filter((term) => !last.details.has(term)));
  // "42?" is about its number: there is nothing else that it could be about.
  if (significant.size === 0) for (const term of last.details) significant.add(term);
  const parts = new Map([...last.parts].filter(([part]) => !terms.includes(part)));
  return {
    terms: [...new Set([...terms, ...parts.keys()])].slice(0, maxQueryTerms),
    significant,
    parts,
    isSmallTalk: significant.size === 0,
  };
}

interface Reading {
  readonly words: ReadonlySet<string>;
  /** Among the words. */
  readonly details: ReadonlySet<string>;
  readonly stopWords: ReadonlySet<string>;
  /** Of long words. */
  readonly parts: Parts;
}

function read(message: string): Reading {
  const text = shorten(message);
  const guessed = guessLanguages(text);
  const isStopWord = stopWordTest(guessed);
  const mayBeGerman = guessed.length === 0 || guessed.includes("de");
  const words = new Set<string>();
  const details = new Set<string>();
  const dropped = new Set<string>();
  const compounds = new Set<string>();
  let isSmallTalk = true;
  scan(text, (term, word, weight) => {
    if (isStopWord(word)) {
      dropped.add(term);
      return;
    }
    if (!smallTalkWords().has(word)) isSmallTalk = false;
    words.add(term);
    if (weight === "detail") details.add(term);
    else {
      compounds.add(word);
      if (mayBeGerman) scan(withUmlauts(word), (other) => words.add(other));
    }
  });
  if (isSmallTalk) {
    return { words: new Set(), details: new Set(), stopWords: new Set([...words, ...dropped]), parts: new Map() };
  }
  const parts = partsOf(mayHaveCompounds(guessed) ? compounds : []);
  return { words: middleOut(words), details, stopWords: dropped, parts };
}

/** Where the language is not certain, a word is a stop word if it is one in any language that it could be. */
function stopWordTest(guessed: readonly Language[]): (word: string) => boolean {
  return (word) =>
    greetingWords().has(word) ||
    // A letter alone says nothing: "s" of "what's", "l" of "l'article".
    /^[a-z]$/.test(word) ||
    stopWords()
      .get(word)
      ?.some((language) => guessed.includes(language)) === true;
}

/** "Ruecksendung" is typed where the keyboard has no Ü. Passages are written properly: only the question is read twice. */
function withUmlauts(word: string): string {
  return word.replace(/(?<![aeiouq])([aou])e/g, "$1");
}

function shorten(message: string): string {
  if (message.length <= maxUnits) return message;
  const half = maxUnits / 2;
  return `${message.slice(0, half)} ${message.slice(-half)}`;
}

/** Of more words than are looked up, the first and the last half stay. */
function middleOut(words: ReadonlySet<string>): ReadonlySet<string> {
  if (words.size <= maxQueryTerms) return words;
  const all = [...words];
  return new Set([...all.slice(0, maxQueryTerms / 2), ...all.slice(-maxQueryTerms / 2)]);
}
