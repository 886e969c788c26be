/** Divides a page's Markdown into pieces that are kept together: headings, paragraphs, list items, rows of tables, lines of code. */

import type { PageText } from "../../../domain/knowledge.ts";

/** What a passage aims at: about 350 tokens, as history estimates them. */
export const targetBytes = 1_400;

export interface Piece {
  readonly kind: "heading" | "text" | "row";
  /** UTF-16 offsets of its first and behind its last character that is no space. */
  readonly start: number;
  readonly end: number;
  /** As UTF-8. */
  readonly bytes: number;
  /** Of a heading, 1–6. */
  readonly level?: number;
  /** Of a row: the rows that head its table, and where they end. */
  readonly header?: { readonly text: string; readonly bytes: number; readonly end: number };
}

interface Line {
  readonly start: number;
  /** Without its break. */
  readonly end: number;
  /** Of the next one. */
  readonly next: number;
}

const maxHeadingUnits = 300;
const maxHeaderUnits = 400;
/** A longer one goes on as another, so that the first passage does not wait for the last line. */
const maxParagraphUnits = 20_000;
/** Of a table's row, of a heading: what is longer is no such thing, and is not searched to its end. */
const maxRuleUnits = 4_000;

/** No piece has more than about `targetBytes`. In order, without overlap; between them are spaces alone. */
export function* piecesOf(markdown: PageText): Generator<Piece> {
  let at = 0;
  while (at < markdown.length) {
    const line = lineAt(markdown, at);
    const start = skipSpaces(markdown, line.start, line.end);
    if (start === line.end) {
      at = line.next;
      continue;
    }
    const level = headingLevel(markdown, start, line.end);
    if (level > 0) {
      yield { ...pieceOf(markdown, "heading", start, line.end), level };
      at = line.next;
    } else if (isFence(markdown, start)) at = yield* readCode(markdown, line, start);
    else if (isBar(markdown, start)) at = yield* readTable(markdown, line);
    else at = yield* readText(markdown, line, start);
  }
}

function lineAt(markdown: PageText, start: number): Line {
  const lineBreak = markdown.indexOf("\n", start);
  return lineBreak < 0
    ? { start, end: markdown.length, next: markdown.length }
    : { start, end: lineBreak, next: lineBreak + 1 };
}

function headingLevel(markdown: PageText, start: number, end: number): number {
  let level = 0;
  while (level < 7 && markdown.charCodeAt(start + level) === 0x23) level++;
  const isHeading =
    level > 0 &&
    level < 7 &&
    /\s/.test(markdown.slice(start + level, start + level + 1)) &&
    end - start <= maxHeadingUnits;
  return isHeading ? level : 0;
}

function isBar(markdown: PageText, at: number): boolean {
  return markdown.charCodeAt(at) === 0x7c;
}

function isFence(markdown: PageText, start: number): boolean {
  const first = markdown.charCodeAt(start);
  return (first === 0x60 || first === 0x7e) && /^(.)\1\1/.test(markdown.slice(start, start + 3));
}

/** Up to its closing fence, or to the end of the page. */
function* readCode(markdown: PageText, first: Line, start: number): Generator<Piece, number> {
  const fence = markdown.slice(start, start + 3);
  const closes = (line: Line) => {
    const start = skipSpaces(markdown, line.start, line.end);
    return markdown.slice(start, start + fence.length) === fence;
  };
  // Code that fits a passage stays one piece.
  for (let at = first.next; at < markdown.length && at - start <= targetBytes; ) {
    const line = lineAt(markdown, at);
    if (line.end - start <= targetBytes && closes(line)) {
      yield* split(markdown, "text", start, line.end);
      return line.next;
    }
    at = line.next;
  }
  // Longer code is divided between its lines.
  yield* split(markdown, "text", start, first.end);
  for (let at = first.next; at < markdown.length; ) {
    const line = lineAt(markdown, at);
    yield* split(markdown, "text", line.start, line.end);
    at = line.next;
    if (closes(line)) return at;
  }
  return markdown.length;
}

function* readTable(markdown: PageText, first: Line): Generator<Piece, number> {
  const second = lineAt(markdown, first.next);
  const rule = markdown.slice(second.start, Math.min(second.end, second.start + maxRuleUnits)).trim();
  const isHeaded =
    // Both are examined in place: a line may be as long as a document.
    second.end - first.start <= maxHeaderUnits + maxRuleUnits &&
    second.end - second.start <= maxRuleUnits &&
    /^\|[\s:|-]+$/.test(rule) &&
    rule.includes("-");
  const text = isHeaded ? markdown.slice(first.start, second.end).trim() : "";
  const header =
    isHeaded && text.length <= maxHeaderUnits ? { text, bytes: Buffer.byteLength(text), end: second.end } : null;
  let at = first.start;
  while (at < markdown.length) {
    const line = lineAt(markdown, at);
    if (!isBar(markdown, skipSpaces(markdown, line.start, line.end)) || line.end === line.start) break;
    for (const piece of split(markdown, "row", line.start, line.end)) {
      yield header !== null && piece.start >= header.end ? { ...piece, header } : piece;
    }
    at = line.next;
  }
  return at;
}

/** A paragraph, or an item of a list: to an empty line, or to the next thing. */
function* readText(markdown: PageText, first: Line, start: number): Generator<Piece, number> {
  let { end, next } = first;
  while (next < markdown.length && next - start < maxParagraphUnits) {
    const line = lineAt(markdown, next);
    const from = skipSpaces(markdown, line.start, line.end);
    if (from === line.end || isListItem(markdown, from) || isBar(markdown, from) || isFence(markdown, from)) break;
    if (headingLevel(markdown, from, line.end) > 0) break;
    end = line.end;
    next = line.next;
  }
  yield* split(markdown, "text", start, end);
  return next;
}

function isListItem(markdown: PageText, start: number): boolean {
  return /^(?:[-*+]|\d{1,9}[.)])\s/.test(markdown.slice(start, start + 12));
}

function* split(markdown: PageText, kind: "text" | "row", start: number, end: number): Generator<Piece> {
  const from = skipSpaces(markdown, start, end);
  if (from === end) return;
  // No need to count the bytes of what is long anyway.
  if (end - from <= targetBytes) {
    const piece = pieceOf(markdown, kind, from, end);
    if (piece.bytes <= targetBytes) {
      yield piece;
      return;
    }
  }
  for (const part of splitLong(markdown, from, end, targetBytes)) yield pieceOf(markdown, kind, part.start, part.end);
}

function pieceOf(markdown: PageText, kind: Piece["kind"], start: number, lineEnd: number): Piece {
  const text = markdown.slice(start, lineEnd).trimEnd();
  return { kind, start, end: start + text.length, bytes: Buffer.byteLength(text) };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Divides a long stretch of text: between sentences, else between words, else between characters. Each part has at
 * most `maxBytes` as UTF-8. Spaces between parts belong to none.
 */
function* splitLong(text: PageText, start: number, end: number, maxBytes: number): Generator<Span> {
  let from = skipSpaces(text, start, end);
  while (from < end) {
    // Each unit has a byte at least.
    const to = from + endOfPart(text.slice(from, Math.min(end, from + maxBytes + 1)), maxBytes);
    yield { start: from, end: to };
    from = skipSpaces(text, to, end);
  }
}

/** Of the part that begins `text`. */
function endOfPart(text: string, maxBytes: number): number {
  let bytes = 0;
  let sentenceEnd = 0;
  let wordEnd = 0;
  let isAfterSentence = false;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (isSpace(unit)) {
      wordEnd = at;
      if (isAfterSentence || unit === 0x0a) sentenceEnd = at;
      isAfterSentence = false;
    } else if (closesSentence.has(unit)) isAfterSentence = true;
    else if (!closers.has(unit)) isAfterSentence = false;
    const isPair = unit >= 0xd800 && unit <= 0xdbff && at + 1 < text.length;
    bytes += isPair ? 4 : utf8Bytes(unit);
    if (bytes > maxBytes) return sentenceEnd || wordEnd || Math.max(at, 1);
    at += isPair ? 2 : 1;
    // Chinese and Japanese put no space behind a sentence.
    if (isAfterSentence && unit > 0x3000) sentenceEnd = at;
  }
  return text.length;
}

const unitsOf = (characters: string) => new Set(Array.from(characters, (character) => character.charCodeAt(0)));
const closesSentence = unitsOf(".!?…。！？｡؟۔।");
const closers = unitsOf("\"'”’»)]」』）*_");

function utf8Bytes(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

function isSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0xa0) return false;
  return (
    unit === 0xa0 ||
    unit === 0x3000 ||
    unit === 0xfeff ||
    (unit >= 0x1680 && unit <= 0x205f && /\s/.test(String.fromCharCode(unit)))
  );
}

function skipSpaces(text: PageText, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  return at;
}
