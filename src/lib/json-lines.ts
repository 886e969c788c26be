/** Reads a file of JSON lines as a stream: any number of lines in little memory. */

export interface Line {
  /** The line number, from 1. */
  number: number;
  /** The parsed value; undefined if there is none, in which case `problem` says why. */
  value: unknown;
  problem: string | null;
}

const lineFeed = 10;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Yields every line that is not blank. `seeBytes` gets all bytes of the file in order, for a digest or a progress bar.
 */
export async function* readJsonLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  seeBytes: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<Line> {
  let number = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;

  function* finishLine(): Generator<Line> {
    number++;
    const line = heldBytes > maxLineBytes ? null : Buffer.concat(held, heldBytes);
    held = [];
    heldBytes = 0;
    if (line === null)
      yield { number, value: undefined, problem: `The line is longer than ${maxLineBytes / 1024} KiB.` };
    else yield* readLine(line, number);
  }

  function hold(part: Uint8Array): void {
    heldBytes += part.length;
    // Drop a line that is too long.
    if (heldBytes > maxLineBytes) held = [];
    else if (part.length > 0) held.push(part);
  }

  for await (const chunk of bytes) {
    seeBytes(chunk);
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      hold(chunk.subarray(start, end));
      yield* finishLine();
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
  if (heldBytes > 0) yield* finishLine();
}

function* readLine(bytes: Uint8Array, number: number): Generator<Line> {
  let text: string;
  try {
    // The decoder drops the byte order mark that some editors add.
    text = strictUtf8.decode(bytes).trim();
  } catch {
    yield { number, value: undefined, problem: "The line is not valid UTF-8." };
    return;
  }
  if (text === "") return;
  try {
    yield { number, value: JSON.parse(text), problem: null };
  } catch {
    yield { number, value: undefined, problem: "The line is not valid JSON." };
  }
}
