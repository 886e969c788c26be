/** Walks over a text and yields its terms, the same ones for passages and for questions. */
import { between, digit, han, hiragana, kindAt, mark, needsDictionary } from "./characters.ts";
import { foldWidthAndCase, foldWord } from "./fold.ts";
import { stem } from "./stem.ts";

/** A longer one is cut: no one types it, and the store has keys of bounded length. */
const maxTermLength = 64;
/** Of one word with joiners, such as an address; what follows is a word of its own. */
const maxParts = 12;

/** `word` is the folded word before its ending was cut: what lists of stop words know. */
export type Visit = (term: string, word: string, weight: Weight) => void;

/**
 * How much a term means. A `detail` is found, but does not show on its own what a message is about: one or two digits,
 * or the letters, of an article number. A `pair` of characters may stand across the end of a word.
 */
export type Weight = "word" | "detail" | "pair";

/** Stands between parts of one thing: article numbers, versions, prices, dates, addresses, names with a hyphen. */
const joiners = new Set(Array.from("-‐‑–/._@:,+&#'’*\\", (joiner) => joiner.charCodeAt(0)));
const hyphens = new Set(Array.from("-‐‑_", (hyphen) => hyphen.charCodeAt(0)));

export function scan(text: string, visit: Visit): void {
  const folded = foldWidthAndCase(text);
  const length = folded.length;
  const runs: string[] = [];
  for (let at = 0; at < length; ) {
    const kind = kindAt(folded, at);
    if (kind === between || kind === mark) at++;
    else if (needsDictionary(kind)) {
      const end = endOfRun(folded, at);
      runs.push(folded.slice(at, end));
      at = end;
    } else at = readWord(folded, at, visit);
  }
  if (runs.length > 0) readRuns(runs, visit);
}

function endOfRun(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const kind = kindAt(text, at);
    if (!needsDictionary(kind) && kind !== mark) break;
  }
  return at;
}

/** From a letter or digit to the end of the word, over joiners that have a letter or digit on both sides. */
function readWord(text: string, start: number, visit: Visit): number {
  let parts: string[] | null = null;
  let isHyphenated = true;
  let hasDigit = false;
  let from = start;
  let at = start;
  for (;;) {
    let kind = kindAt(text, at);
    while (kind !== between && !needsDictionary(kind)) {
      if (kind === digit) hasDigit = true;
      kind = ++at < text.length ? kindAt(text, at) : between;
    }
    const joiner = text.charCodeAt(at);
    const isJoined = joiners.has(joiner) && at + 1 < text.length && isOfWord(kindAt(text, at + 1));
    if (!isJoined || (parts !== null && parts.length === maxParts)) break;
    if (!hyphens.has(joiner)) isHyphenated = false;
    parts ??= [];
    parts.push(text.slice(from, at));
    from = ++at;
  }
  const last = text.slice(from, at);
  if (parts === null) {
    if (hasDigit) readCode([last], visit);
    else readPlain(last, visit);
    return at;
  }
  parts.push(last);
  if (hasDigit) readCode(parts, visit);
  else readJoined(parts, isHyphenated, visit);
  return at;
}

function isOfWord(kind: number): boolean {
  return kind !== between && kind !== mark && !needsDictionary(kind);
}

function readPlain(part: string, visit: Visit): void {
  const word = foldWord(part);
  if (word !== "") visit(shorten(stem(word)), word, "word");
}

/** "e-mail" is also "email", "l'article" is "article", and an address is its parts. */
function readJoined(parts: readonly string[], isHyphenated: boolean, visit: Visit): void {
  for (const part of parts) if (part.length > 1) readPlain(part, visit);
  if (isHyphenated && parts.length <= 3) readPlain(parts.join(""), visit);
}

/** What has a digit in it: found as a whole however it is joined, and by its parts, single and in twos. */
function readCode(parts: readonly string[], visit: Visit): void {
  const folded = parts.map(foldWord);
  const whole = folded.join("");
  const seen = new Set<string>();
  const report = (term: string, weight: Weight = isDetail(term) ? "detail" : "word") => {
    if (term === "" || seen.has(term)) return;
    seen.add(term);
    visit(shorten(term), term, weight);
  };
  // "Room 12": what is written as a word is one.
  report(whole, "word");
  for (let at = 0; at < folded.length; at++) {
    const part = folded[at] as string;
    if (at + 1 < folded.length && folded.length > 2) report(part + folded[at + 1]);
    if (/^\p{L}+$/u.test(part)) {
      if (part.length > 1) visitLetters(part, parts.length === 1 || part.length > 3, visit);
      continue;
    }
    report(part);
    // "xk4711b" has the parts that "XK-4711/B" has.
    for (const piece of part.match(/\d{2,}|\p{L}{2,}/gu) ?? []) {
      if (piece.charCodeAt(0) <= 0x39) report(piece);
      else if (piece !== part) visitLetters(piece, piece.length > 3, visit);
    }
  }
}

function visitLetters(part: string, isWord: boolean, visit: Visit): void {
  visit(shorten(stem(part)), part, isWord ? "word" : "detail");
}

function isDetail(term: string): boolean {
  return term.length < 3 && /^\d+$/.test(term);
}

/** One for the process: making one costs more than a passage. Chinese, Japanese and Thai share the dictionaries. */
let segmenter: Intl.Segmenter | null = null;

/** All runs in one call, since each call has a cost of its own. */
function readRuns(runs: readonly string[], visit: Visit): void {
  segmenter ??= new Intl.Segmenter("ja", { granularity: "word" });
  for (const { segment } of segmenter.segment(runs.join("\n"))) {
    const kind = kindAt(segment, 0);
    // A single kana is an ending or a particle.
    if (needsDictionary(kind) && (kind !== hiragana || segment.length > 1)) visit(shorten(segment), segment, "word");
  }
  for (const run of runs) readPairs(run, visit);
}

/** Of Chinese grammar: a pair with one of them is no part of a word. */
const functionCharacters = new Set(
  Array.from("的了吗呢吧是在和与及或把被就都也还很我你您他她它们这那个么哪什怎", (each) => each.charCodeAt(0)),
);

/** Dictionaries divide 返品送料 in one sentence and not in another; its pairs of characters are the same in both. */
function readPairs(run: string, visit: Visit): void {
  let from = -1;
  for (let at = 0; at <= run.length; at++) {
    if (at < run.length && kindAt(run, at) === han) {
      if (from < 0) from = at;
      continue;
    }
    if (from >= 0 && at - from > 2) {
      for (let pair = from; pair + 2 <= at; pair++) {
        const isOfWords =
          !functionCharacters.has(run.charCodeAt(pair)) && !functionCharacters.has(run.charCodeAt(pair + 1));
        const term = run.slice(pair, pair + 2);
        if (isOfWords) visit(term, term, "pair");
      }
    }
    from = -1;
  }
}

function shorten(term: string): string {
  return term.length <= maxTermLength ? term : cutWhole(term);
}

/** Never within a pair of surrogates. */
function cutWhole(term: string): string {
  const last = term.charCodeAt(maxTermLength - 1);
  return term.slice(0, last >= 0xd800 && last <= 0xdbff ? maxTermLength - 1 : maxTermLength);
}
