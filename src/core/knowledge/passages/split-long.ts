/** Divides a long stretch of text: between sentences, else between words, else between characters. */
import { isSpace, skipSpaces } from "./spaces.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Each part has at most `maxBytes` as UTF-8. Spaces between parts belong to none. */
export function* splitLong(text: string, start: number, end: number, maxBytes: number): Generator<Span> {
  let from = skipSpaces(text, start, end);
  while (from < end) {
    const to = endOfPart(text, from, end, maxBytes);
    yield { start: from, end: to };
    from = skipSpaces(text, to, end);
  }
}

/** Looks no farther than the part is long, so that all parts together are looked at about twice. */
function endOfPart(text: string, start: number, end: number, maxBytes: number): number {
  let bytes = 0;
  let sentenceEnd = 0;
  let wordEnd = 0;
  let isAfterSentence = false;
  for (let at = start; at < end; ) {
    const unit = text.charCodeAt(at);
    if (isSpace(unit)) {
      wordEnd = at;
      if (isAfterSentence || unit === 0x0a) sentenceEnd = at;
      isAfterSentence = false;
    } else if (closesSentence.has(unit)) isAfterSentence = true;
    else if (!closers.has(unit)) isAfterSentence = false;
    const isPair = unit >= 0xd800 && unit <= 0xdbff && at + 1 < end;
    bytes += isPair ? 4 : utf8Bytes(unit);
    if (bytes > maxBytes) return sentenceEnd || wordEnd || Math.max(at, start + 1);
    at += isPair ? 2 : 1;
    // Chinese and Japanese put no space behind a sentence.
    if (isAfterSentence && unit > 0x3000) sentenceEnd = at;
  }
  return end;
}

const unitsOf = (characters: string) => new Set(Array.from(characters, (character) => character.charCodeAt(0)));
const closesSentence = unitsOf(".!?…。！？｡؟۔।");
const closers = unitsOf("\"'”’»)]」』）*_");

function utf8Bytes(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}
