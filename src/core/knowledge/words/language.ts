/** Guesses the language of a message: by its script, and by stop words where languages share one. */
import { foldWidthAndCase, foldWord } from "./fold.ts";
import { type Language, languages, stopWords } from "./stop-words.ts";

/** Scripts that identify a language, the most specific first: Japanese includes Chinese characters, Persian Arabic ones. */
const scripts: readonly { readonly pattern: RegExp; readonly language: Language }[] = [
  { pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/u, language: "ja" },
  { pattern: /\p{Script=Hangul}/u, language: "ko" },
  { pattern: /\p{Script=Han}/u, language: "zh" },
  { pattern: /\p{Script=Thai}/u, language: "th" },
  { pattern: /\p{Script=Hebrew}/u, language: "he" },
  { pattern: /[پچژگکی]/u, language: "fa" },
  { pattern: /\p{Script=Arabic}/u, language: "ar" },
  { pattern: /\p{Script=Devanagari}/u, language: "hi" },
  { pattern: /\p{Script=Greek}/u, language: "el" },
  { pattern: /[іїєґ]/u, language: "uk" },
  { pattern: /\p{Script=Cyrillic}/u, language: "ru" },
];
/** Letters that few of them have. */
const letters: readonly { readonly pattern: RegExp; readonly of: readonly Language[] }[] = [
  { pattern: /ß/, of: ["de"] },
  { pattern: /[äöü]/, of: ["de"] },
  { pattern: /[ñ¿¡]/, of: ["es"] },
  { pattern: /[ãõ]/, of: ["pt"] },
  { pattern: /[çœêèàùâî]/, of: ["fr"] },
  { pattern: /[ąćęłńśźż]/, of: ["pl"] },
  { pattern: /[čěřšůžď]/, of: ["cs"] },
  { pattern: /[ğışİ]/, of: ["tr"] },
  { pattern: /[őű]/, of: ["hu"] },
  { pattern: /[ășț]/, of: ["ro"] },
  { pattern: /[åäö]/, of: ["sv"] },
  { pattern: /[æø]/, of: ["da", "no"] },
  { pattern: /[ạảấầẩẫậắằặẹẻẽếềểễệịỉọỏốồổỗộớờởỡợụủứừửữựỳỵđơư]/, of: ["vi"] },
];

/** What other tags name a language by. */
const otherTags: Readonly<Record<string, Language>> = { nb: "no", nn: "no", iw: "he", in: "id" };

/** The language of a primary subtag of BCP 47; null if it cannot be guessed. */
export function findGuessable(subtag: string): Language | null {
  return otherTags[subtag] ?? languages.find((language) => language === subtag) ?? null;
}

/** More does not change the guess. */
const maxUnits = 2_000;
const letterWeight = 1.5;

/** The first of those that are equally likely. Null where nothing identifies one: a name, a number, an unlisted word. */
export function guessLanguage(text: string): Language | null {
  return guessLanguages(text)[0] ?? null;
}

/** Those that are equally likely, more widespread ones first; none where nothing identifies one. */
export function guessLanguages(text: string): Language[] {
  const folded = foldWidthAndCase(text.slice(0, maxUnits));
  // Two dozen searches less for each passage in English.
  const isPlain = !/[^\0-\x7f]/.test(folded);
  const script = isPlain ? undefined : scripts.find(({ pattern }) => pattern.test(folded));
  if (script !== undefined && !isMostlyLatin(folded)) return [script.language];
  const scores = new Map<Language, number>();
  for (const word of new Set(folded.match(/[\p{L}\p{M}]+/gu)?.map(foldWord))) {
    for (const language of stopWords().get(word) ?? []) add(scores, language, 1);
  }
  for (const { pattern, of } of isPlain ? [] : letters) {
    if (pattern.test(folded)) for (const language of of) add(scores, language, letterWeight);
  }
  const best = Math.max(0, ...scores.values());
  return best === 0 ? [] : languages.filter((language) => scores.get(language) === best);
}

/** A name in another script within a sentence of Latin letters. */
function isMostlyLatin(text: string): boolean {
  const latinLetters = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const others = text.match(/(?!\p{Script=Latin})\p{L}/gu)?.length ?? 0;
  return latinLetters > others * 4;
}

function add(scores: Map<Language, number>, language: Language, score: number): void {
  scores.set(language, (scores.get(language) ?? 0) + score);
}
