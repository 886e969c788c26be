/** The terms that a visitor's last two messages are searched by, and which of them show what the last is about. */
import { guessLanguages } from "./language.ts";
import { scan } from "./scan.ts";
import { stem } from "./stem.ts";
import { greetingWords, type Language, smallTalkWords, stopWords } from "./stop-words.ts";

/** Each is a lookup in the index. */
const maxQueryTerms = 48;
/** Of a message; a longer one is read at its beginning and at its end, where questions stand. */
const maxUnits = 4_000;

export interface QueryTerms {
  /** At most 48, each once, those of the last message first, parts last. Stop words only where there is nothing else. */
  readonly terms: readonly string[];
  /** Those of the last message that alone can show that a passage is about it: no stop words, no greetings. */
  readonly significant: ReadonlySet<string>;
  /** Of the significant ones, those that name the question: it has the same ones however it is put. */
  readonly topic: ReadonlySet<string>;
  /** Those of the terms that are only parts of words of the last message. */
  readonly parts: Parts;
  /** The last message consists of stop words, greetings and thanks: it is no question to the knowledge. */
  readonly isSmallTalk: boolean;
}

/** Chinese asks with them: 停车场有没有, 请问有停车场吗. */
const asking = /[有没沒无無请請问問能可会會要想]/;

export function queryTermsOf(lastMessage: string, previousMessage: string | null): QueryTerms {
  const last = read(lastMessage);
  const previous = previousMessage === null ? null : read(previousMessage);
  const chosen = [...last.words, ...(previous?.words ?? [])];
  // A search for a name such as "The The" finds it; so do messages in a language whose stop words are words in another.
  const terms = chosen.length > 0 ? chosen : [...last.stopWords];
  const significant = new Set([...last.words].filter((term) => !last.details.has(term)));
  // "42?" is about its number: there is nothing else that it could be about.
  if (significant.size === 0) for (const term of last.details) significant.add(term);
  const topic = new Set([...significant].filter((term) => !last.loosePairs.has(term)));
  const parts = new Map([...last.parts].filter(([part]) => !terms.includes(part)));
  return {
    terms: [...new Set([...terms, ...parts.keys()])].slice(0, maxQueryTerms),
    significant,
    topic: topic.size > 0 ? topic : significant,
    parts,
    isSmallTalk: significant.size === 0,
  };
}

interface Reading {
  readonly words: ReadonlySet<string>;
  /** Among the words. */
  readonly details: ReadonlySet<string>;
  /** Among the words: of the end of one and of what the question is asked with. */
  readonly loosePairs: ReadonlySet<string>;
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
  const loosePairs = new Set<string>();
  const dropped = new Set<string>();
  const compounds = new Set<string>();
  let isSmallTalk = true;
  scan(text, (term, word, weight) => {
    if (isStopWord(word)) {
      dropped.add(term);
      return;
    }
    if (!smallTalkWords().has(word)) isSmallTalk = false;
    if (weight === "pair" && !words.has(term) && asking.test(term)) loosePairs.add(term);
    words.add(term);
    if (weight === "detail") details.add(term);
    else {
      compounds.add(word);
      const other = withUmlauts(word);
      if (mayBeGerman && other !== word) scan(other, (spelling) => words.add(spelling));
    }
  });
  if (isSmallTalk) {
    const none: ReadonlySet<string> = new Set();
    return { words: none, details: none, loosePairs: none, stopWords: words.union(dropped), parts: new Map() };
  }
  // "die casting", "hat size": of so few words, the one that is a stop word somewhere may be none here.
  if (dropped.size === 1 && words.size <= 2) {
    for (const term of dropped) {
      words.add(term);
      details.add(term);
    }
  }
  const parts = partsOf(mayHaveCompounds(guessed) ? compounds : []);
  return { words: middleOut(words), details, loosePairs, stopWords: dropped, parts };
}

/** Where the language is not certain, a word is a stop word if it is one in any language that it could be. */
function stopWordTest(guessed: readonly Language[]): (word: string) => boolean {
  return (word) =>
    greetingWords().has(word) ||
    // A letter alone has no meaning: "s" of "what's", "l" of "l'article".
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
/** Of a question; the lookups for more would not fit into a query. */
const maxWords = 6;
/** Of long words only the positions near the end are tried: the last part names the thing. */
const maxPositions = 10;

function mayHaveCompounds(guessed: readonly Language[]): boolean {
  return guessed.length === 0 || guessed.some((language) => compounding.has(language));
}

/** "Rücksendekosten" is asked where the passage has "Kosten der Rücksendung". Of folded words. */
function partsOf(words: Iterable<string>): Parts {
  const parts = new Map<string, Set<string>>();
  const add = (part: string, beside: string) => parts.set(part, (parts.get(part) ?? new Set()).add(beside));
  let left = maxWords;
  for (const word of words) {
    if (word.length < minWord || word.length > maxWord || !/^[a-z]+$/.test(word)) continue;
    if (left-- === 0) break;
    const last = word.length - minPart;
    for (let at = Math.max(minPart, last - maxPositions + 1); at <= last; at++) {
      // The sound between the parts, as in "Zahlungsarten", goes with the ending of the first.
      const [head, tail] = [stem(word.slice(0, at)), stem(word.slice(at))];
      add(head, tail);
      add(tail, head);
    }
  }
  return parts;
}
