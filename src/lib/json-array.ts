/** Cuts a JSON array in memory into its elements, without parsing them: any number of them in slices. */
import type { RawLine } from "./json-lines.ts";
import { Slices } from "./pause.ts";

const [quote, comma, openList, backslash, closeList, openObject, closeObject] = [34, 44, 91, 92, 93, 123, 125];
/** About a tenth of a millisecond of work. */
const stepBytes = 64 * 1024;

/**
 * The elements, numbered from 1; those that are longer than `maxBytes` without their bytes. Stops behind one more than
 * `most`. Null if it is no array, or one without an end: an element may still be no JSON.
 */
export async function splitArray(
  pieces: readonly Uint8Array[],
  maxBytes: number,
  most: number,
): Promise<RawLine[] | null> {
  const splitter = new ArraySplitter(Buffer.concat(pieces), maxBytes, most);
  const slices = new Slices();
  while (!splitter.step()) if (slices.isOver) await slices.pause();
  return splitter.elements;
}

class ArraySplitter {
  elements: RawLine[] | null = [];
  readonly #text: Uint8Array;
  readonly #maxBytes: number;
  readonly #most: number;
  #at: number;
  #start: number;
  #depth = 0;
  #isInText = false;

  constructor(text: Uint8Array, maxBytes: number, most: number) {
    this.#text = text;
    this.#maxBytes = maxBytes;
    this.#most = most;
    const hasMark = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
    const begin = this.#skipBlanks(hasMark ? 3 : 0);
    if (text[begin] !== openList) this.elements = null;
    this.#at = begin + 1;
    this.#start = this.#at;
  }

  /** Whether that was all. */
  step(): boolean {
    const text = this.#text;
    for (const until = this.#at + stepBytes; this.elements !== null && this.#at < until; this.#at++) {
      const byte = text[this.#at];
      if (byte === undefined) this.elements = null;
      else if (this.#isInText) {
        if (byte === backslash) this.#at++;
        else if (byte === quote) this.#isInText = false;
      } else if (byte === quote) this.#isInText = true;
      else if (byte === openList || byte === openObject) this.#depth++;
      else if (this.#depth > 0) {
        if (byte === closeList || byte === closeObject) this.#depth--;
      } else if (byte === comma || byte === closeList) {
        if (this.#endElement(byte === closeList)) return true;
      }
    }
    return this.elements === null;
  }

  #endElement(isLast: boolean): boolean {
    const { elements } = this;
    if (elements === null) return true;
    const start = this.#skipBlanks(this.#start);
    let end = this.#at;
    while (end > start && isBlank(this.#text[end - 1])) end--;
    const isNone = isLast && elements.length === 0 && end <= start;
    const hasRest = isLast && this.#skipBlanks(this.#at + 1) < this.#text.length;
    if (hasRest || (end <= start && !isNone)) this.elements = null;
    else if (!isNone) {
      const bytes = end - start > this.#maxBytes ? null : this.#text.subarray(start, end);
      elements.push({ number: elements.length + 1, bytes });
    }
    this.#start = this.#at + 1;
    return isLast || elements.length > this.#most;
  }

  #skipBlanks(from: number): number {
    let at = from;
    while (isBlank(this.#text[at])) at++;
    return at;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
