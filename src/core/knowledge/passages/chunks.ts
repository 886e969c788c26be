/** Cuts the text of a document into passages that are found and cited individually. */
import { estimateTokens } from "../../../domain/conversation.ts";
import type { Chunk, ReadDocument, ReadPage } from "../../../domain/knowledge.ts";
import { type Piece, piecesOf, targetBytes } from "./pieces.ts";

/** A section that is shorter shares a passage with the next one. */
const minSectionBytes = 320;
/** Headings without a text below them are not gathered beyond this. */
const maxHeadingsBytes = 1_000;
/** Spaces alone are no reason for a long passage. */
const maxGapUnits = 100;

/**
 * One passage at a time, so that the caller can let other work go on between them. Every character of the document
 * that is no space is in one. None is over two pages, and none has more than 4 kB. `page.markdown.slice(start, end)` is
 * its text; only where it begins within a table, the table's head stands before that.
 */
export function* cutIntoChunks(document: ReadDocument): Generator<Chunk> {
  // A section goes on over the end of a page.
  const path = new HeadingPath();
  for (const page of document.pages) yield* cutPage(page, path);
}

function* cutPage(page: ReadPage, path: HeadingPath): Generator<Chunk> {
  let open: OpenChunk | null = null;
  for (const piece of piecesOf(page.markdown)) {
    if (open !== null && endsBefore(open, piece)) {
      const { finished, rest }: Division = divide(open);
      yield toChunk(page, finished);
      open = rest;
    }
    if (piece.kind === "heading") path.enter(piece.level ?? 1, page.markdown.slice(piece.start, piece.end));
    open = open === null ? openWith(piece, path) : extend(open, piece, path);
  }
  if (open !== null) yield toChunk(page, open);
}

interface OpenChunk {
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
  /** Of its text; null as long as it has headings alone. */
  readonly heading: readonly string[] | null;
  /** The path of its headings where it has nothing else. */
  readonly lastHeading: readonly string[];
  /** Headings at its end, whose text is still to come. */
  readonly tail: { readonly start: number; readonly before: number; readonly bytes: number } | null;
  /** Rows of the table that it begins in the middle of. */
  readonly header: string | null;
}

function openWith(piece: Piece, path: HeadingPath): OpenChunk {
  const isHeading = piece.kind === "heading";
  return {
    start: piece.start,
    end: piece.end,
    bytes: piece.bytes + (piece.header?.bytes ?? 0),
    heading: isHeading ? null : path.names,
    lastHeading: path.names,
    tail: null,
    header: piece.header?.text ?? null,
  };
}

function extend(open: OpenChunk, piece: Piece, path: HeadingPath): OpenChunk {
  const gap = piece.start - open.end;
  const bytes = open.bytes + gap + piece.bytes;
  const extended = { ...open, end: piece.end, bytes, lastHeading: path.names };
  if (piece.kind !== "heading") {
    return { ...extended, tail: null, heading: open.heading === null ? path.names : shared(open.heading, path.names) };
  }
  if (open.heading === null) return extended;
  const tail = open.tail ?? { start: piece.start, before: open.end, bytes: 0 };
  return { ...extended, tail: { ...tail, bytes: tail.bytes + piece.bytes } };
}

function endsBefore(open: OpenChunk, piece: Piece): boolean {
  if (piece.start - open.end > maxGapUnits) return true;
  if (open.heading === null) return open.bytes + (piece.kind === "heading" ? piece.bytes : 0) > maxHeadingsBytes;
  const isNewSection = piece.kind === "heading" && open.tail === null;
  return (isNewSection && open.bytes >= minSectionBytes) || open.bytes + piece.bytes > targetBytes;
}

interface Division {
  readonly finished: OpenChunk;
  readonly rest: OpenChunk | null;
}

/** Headings at the end go with the text that follows them. */
function divide(open: OpenChunk): Division {
  const { tail } = open;
  if (tail === null) return { finished: open, rest: null };
  const rest = { ...open, start: tail.start, bytes: tail.bytes, heading: null, tail: null, header: null };
  return { finished: { ...open, end: tail.before }, rest };
}

function shared(one: readonly string[], other: readonly string[]): readonly string[] {
  const differs = one.findIndex((name, at) => name !== other[at]);
  return differs < 0 ? one : one.slice(0, differs);
}

function toChunk(page: ReadPage, { start, end, heading, lastHeading, header }: OpenChunk): Chunk {
  const body = page.markdown.slice(start, end);
  const text = header === null ? body : `${header}\n${body}`;
  const names = heading ?? lastHeading;
  return {
    page: page.number,
    heading: names.length === 0 ? null : names.join(" > "),
    text,
    start,
    end,
    tokens: estimateTokens(text),
  };
}

/** Of one heading, in a path: it is repeated with each passage. */
const maxNameUnits = 120;

/** The headings that a position in a document stands under. */
class HeadingPath {
  #levels: { readonly level: number; readonly name: string }[] = [];

  /** Outermost first. */
  names: readonly string[] = [];

  /** `line` with its number signs. */
  enter(level: number, line: string): void {
    const name = nameOf(line);
    this.#levels = this.#levels.filter((each) => each.level < level);
    if (name !== "") this.#levels.push({ level, name });
    this.names = this.#levels.map((each) => each.name);
  }
}

/** Without the marks of Markdown: it is shown as a line of text. */
function nameOf(line: string): string {
  const plain = line
    .replace(/^#+\s+/, "")
    .replace(/\s#+\s*$/, "")
    .replace(/[*_`]/g, "")
    .trim();
  if (plain.length <= maxNameUnits) return plain;
  return `${plain
    .slice(0, maxNameUnits)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
