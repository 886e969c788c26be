/** Cuts a JSON array in memory into its elements, without parsing them: any number of them in slices. */
import type { RawLine } from "./json-lines.ts";
import { Slices } from "./pause.ts";

const [quote, comma, openList, backslash, closeList, openObject, closeObject] = [34, 44, 91, 92, 93, 123, 125];
/** Well below a millisecond of work. */
const stepBytes = 32 * 1024;

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
  while (splitter.step()) if (slices.isOver) await slices.pause();
  return splitter.elements;
}

class ArraySplitter {
  elements: RawLine[] | null = [];
  #at: number;
  #where: "before" | "inside" | "behind" = "before";
  #depth = 0;
  #isInText = false;
  /** Of the element, without blanks; the same where there is nothing yet. */
  #start = 0;
  #end = 0;

  constructor(
    private readonly text: Uint8Array,
    private readonly maxBytes: number,
    private readonly most: number,
  ) {
    const hasMark = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
    this.#at = hasMark ? 3 : 0;
  }

  /** False if that was all. */
  step(): boolean {
    const { text } = this;
    const until = Math.min(this.#at + stepBytes, text.length);
    let at = this.#at;
    while (at < until) {
      if (this.#where === "inside") at = this.#scan(at, until);
      if (at >= until) break;
      const byte = text[at++];
      if (isBlank(byte)) continue;
      if (this.#where === "before" && byte === openList) this.#where = "inside";
      else if (this.#where !== "inside" || !this.#endElement(byte === closeList)) return this.#fail();
      if (this.elements !== null && this.elements.length > this.most) return false;
    }
    this.#at = at;
    if (at < text.length) return true;
    return this.#where === "behind" ? false : this.#fail();
  }

  /** Up to the end of an element; or to `until`, or behind it with what is escaped there. */
  #scan(from: number, until: number): number {
    const { text } = this;
    let [at, depth, isInText, start, end] = [from, this.#depth, this.#isInText, this.#start, this.#end];
    for (; at < until; at++) {
      const byte = text[at];
      if (isInText) {
        if (byte === backslash) at++;
        else if (byte === quote) {
          isInText = false;
          end = at + 1;
        }
        continue;
      }
      if (isBlank(byte)) continue;
      if (depth === 0 && (byte === comma || byte === closeList)) break;
      if (start === end) start = at;
      end = at + 1;
      if (byte === quote) isInText = true;
      else if (byte === openList || byte === openObject) depth++;
      else if (depth > 0 && (byte === closeList || byte === closeObject)) depth--;
    }
    [this.#depth, this.#isInText, this.#start, this.#end] = [depth, isInText, start, end];
    return at;
  }

  /** False if there is none. */
  #endElement(isLast: boolean): boolean {
    const { elements } = this;
    const length = this.#end - this.#start;
    if (isLast) this.#where = "behind";
    if (elements === null || length === 0) return isLast && elements?.length === 0;
    const bytes = length > this.maxBytes ? null : this.text.subarray(this.#start, this.#end);
    elements.push({ number: elements.length + 1, bytes });
    this.#start = this.#end;
    return true;
  }

  #fail(): false {
    this.elements = null;
    return false;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
