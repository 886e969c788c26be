/** Reads a file of JSON lines as a stream: any number of lines in little memory. */

export interface Line {
  /** The line number, from 1. */
  number: number;
  /** The parsed value; undefined if there is none, in which case `problem` has the reason. */
  value: unknown;
  problem: string | null;
  /** As it was sent, without its end; null if it is too long. */
  bytes: Uint8Array | null;
}

const lineFeed = 10;
const blanks = [9, 13, 32];
const maxBlanksForEach = 10;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** A line as it was sent, without its end; null if it is too long. */
export interface RawLine {
  /** The line number, from 1. */
  number: number;
  bytes: Uint8Array | null;
}

/**
 * Yields every line that is not blank. `seeBytes` gets all bytes of the file in order, for a digest or a progress bar.
 */
export async function* readJsonLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  seeBytes: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<Line> {
  const splitter = createLineSplitter(maxLineBytes);
  for await (const chunk of bytes) {
    seeBytes(chunk);
    for (const line of splitter.split(chunk)) yield* parseLine(line, maxLineBytes);
  }
  for (const line of splitter.end()) yield* parseLine(line, maxLineBytes);
}

/** The lines of a text in memory that are not blank; null if there are more than `maxLines`, or no end of blank ones. */
export function splitLines(pieces: readonly Uint8Array[], maxLineBytes: number, maxLines: number): RawLine[] | null {
  const lines: RawLine[] = [];
  for (const line of eachLine(pieces, maxLineBytes)) {
    // A body of line breaks would have millions, each with an object of its own.
    if (line.number > maxLines * maxBlanksForEach) return null;
    if (line.bytes?.every((byte) => blanks.includes(byte)) === true) continue;
    if (lines.length === maxLines) return null;
    lines.push(line);
  }
  return lines;
}

function* eachLine(pieces: readonly Uint8Array[], maxLineBytes: number): Generator<RawLine> {
  const splitter = createLineSplitter(maxLineBytes);
  for (const piece of pieces) yield* splitter.split(piece);
  yield* splitter.end();
}

function createLineSplitter(maxLineBytes: number) {
  let number = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;

  function finishLine(): RawLine {
    number++;
    const bytes = heldBytes > maxLineBytes ? null : Buffer.concat(held, heldBytes);
    held = [];
    heldBytes = 0;
    return { number, bytes };
  }

  function hold(part: Uint8Array): void {
    heldBytes += part.length;
    // Drop a line that is too long.
    if (heldBytes > maxLineBytes) held = [];
    else if (part.length > 0) held.push(part);
  }

  return {
    *split(chunk: Uint8Array): Generator<RawLine> {
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        hold(chunk.subarray(start, end));
        yield finishLine();
        start = end + 1;
      }
      hold(chunk.subarray(start));
    },
    *end(): Generator<RawLine> {
      if (heldBytes > 0) yield finishLine();
    },
  };
}

/** Nothing for a blank line. */
export function* parseLine({ number, bytes }: RawLine, maxLineBytes: number): Generator<Line> {
  if (bytes === null) {
    yield { number, value: undefined, problem: `The line is longer than ${maxLineBytes / 1024} KiB.`, bytes };
    return;
  }
  let text: string;
  try {
    // The decoder drops the byte order mark that some editors add.
    text = strictUtf8.decode(bytes).trim();
  } catch {
    yield { number, value: undefined, problem: "The line is not valid UTF-8.", bytes };
    return;
  }
  if (text === "") return;
  try {
    yield { number, value: JSON.parse(text), problem: null, bytes };
  } catch {
    yield { number, value: undefined, problem: "The line is not valid JSON.", bytes };
  }
}
