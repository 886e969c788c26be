/** Parses JSON in memory whose texts may be many megabytes, in slices: `JSON.parse` alone would hold the event loop. */
import { joinInSlices } from "./byte-slices.ts";
import { Slices } from "./pause.ts";

/** A text that is too long to be made in one go: its UTF-8, well-formed and without NUL. */
export class LongText {
  constructor(readonly bytes: Uint8Array) {}
}

const [quote, backslash, letterU] = [34, 92, 117];
/** What is parsed in one go; a text up to here stays a string. */
const pieceBytes = 64 * 1024;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The value, in whose own fields long texts are `LongText`s; those that no `LongText` can be are cut to a string that has
 * the fault. Null if there are more than `maxBytes` without long texts. Throws a SyntaxError for what is no JSON, and a
 * TypeError for what is no UTF-8.
 */
export async function parseLongJson(json: Uint8Array, maxBytes: number): Promise<unknown> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const slices = new Slices();
  /** Stands for a long text until the rest is parsed: no one can have sent it. */
  const mark = crypto.randomUUID();
  const long = new Map<unknown, LongText | string>();
  let rest = "";
  let copied = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const isTooMuch = (end: number) => rest.length + end - copied > maxBytes;

  for (let start = bytes.indexOf(quote, copied); start !== -1; ) {
    if (isTooMuch(start)) return null;
    let end = findCut(bytes, start + 1);
    if (end < bytes.length && bytes[end] !== quote) {
      const text = await readLong(bytes, start + 1, slices);
      const name = mark + long.size;
      long.set(name, text.value);
      rest += strictUtf8.decode(bytes.subarray(copied, start + 1)) + name;
      end = text.end;
      copied = end;
    }
    start = bytes.indexOf(quote, end + 1);
    if (slices.isOver) await slices.pause();
  }
  if (isTooMuch(bytes.length)) return null;
  rest += strictUtf8.decode(bytes.subarray(copied));
  const value: unknown = JSON.parse(rest);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, long.get(field) ?? field]));
}

/** A text from behind its first quote on; `end` is the other one. */
async function readLong(bytes: Buffer, start: number, slices: Slices) {
  const pieces: Uint8Array[] = [];
  let fault: string | null = null;
  for (let from = start; ; ) {
    const end = findCut(bytes, from);
    const piece: string = JSON.parse(`"${strictUtf8.decode(bytes.subarray(from, end))}"`);
    if (!piece.isWellFormed() || piece.includes("\0")) fault ??= piece;
    else pieces.push(Buffer.from(piece));
    if (end === bytes.length) throw new SyntaxError("a text has no end");
    if (bytes[end] === quote) return { value: fault ?? new LongText(await joinInSlices(pieces)), end };
    from = end;
    if (slices.isOver) await slices.pause();
  }
}

/** The quote behind a text, or before it a position between two characters where it may be cut. */
function findCut(bytes: Buffer, start: number): number {
  const least = start + pieceBytes;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === quote || (at >= least && isStart(bytes, at, byte))) return at;
    // What is escaped wrongly is refused when it is parsed, no matter what follows.
    at += byte !== backslash ? 1 : bytes[at + 1] === letterU ? 6 : 2;
  }
  return bytes.length;
}

/** Neither within a character's UTF-8 nor between the two escapes of a surrogate pair. */
function isStart(bytes: Buffer, at: number, byte: number): boolean {
  if (byte === backslash) return !/^\\ud[c-f]/i.test(bytes.toString("latin1", at, at + 4));
  return (byte & 0xc0) !== 0x80;
}
