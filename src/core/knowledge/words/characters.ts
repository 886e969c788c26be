/** What kind each character is to the index: part of a word, of a number, of a script without spaces, or between words. */

export const between = 0;
export const letter = 1;
export const digit = 2;
export const mark = 3;
/** Scripts without spaces: their words are found by a dictionary. */
export const han = 4;
export const hiragana = 5;
export const katakana = 6;
export const southEastAsian = 7;

const kinds = new Uint8Array(65_536);
/** Blocks of 256 are looked up when they are first met: all of them together would cost a start 20 ms. */
const isKnownBlock = new Uint8Array(256);

export function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (isKnownBlock[unit >> 8] === 0) learnBlock(unit >> 8);
  if (unit >= 0xd800 && unit <= 0xdfff) return kindOfSurrogate(text, at, unit);
  return kinds[unit] as number;
}

export function needsDictionary(kind: number): boolean {
  return kind >= han;
}

function learnBlock(block: number): void {
  for (let low = 0; low < 256; low++) {
    const unit = (block << 8) | low;
    kinds[unit] = classify(String.fromCharCode(unit));
  }
  isKnownBlock[block] = 1;
}

/** Both halves of a pair are of the pair's kind. */
function kindOfSurrogate(text: string, at: number, unit: number): number {
  const start = unit >= 0xdc00 && at > 0 ? at - 1 : at;
  const point = text.codePointAt(start) ?? 0;
  return point > 0xffff ? classify(String.fromCodePoint(point)) : between;
}

function classify(character: string): number {
  // Both belong to several scripts by their property: the mark of iteration, and that of a long vowel.
  if (character === "々" || character === "〆") return han;
  if (character === "ー") return katakana;
  if (/\p{Script=Han}/u.test(character)) return /[\p{L}\p{N}]/u.test(character) ? han : between;
  if (/\p{Script=Hiragana}/u.test(character)) return hiragana;
  if (/\p{Script=Katakana}/u.test(character)) return katakana;
  if (/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(character)) {
    if (/[\p{L}\p{M}]/u.test(character)) return southEastAsian;
  }
  if (/\p{L}/u.test(character)) return letter;
  if (/\p{N}/u.test(character)) return digit;
  return /\p{M}/u.test(character) ? mark : between;
}
