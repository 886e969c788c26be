/**
 * The passages of one block of an edition in which a term stands, as bytes: the index is these lists, keyed by edition, block
 * and term.
 *
 * A list is a number of entries, then for each passage in order: the distance from the passage before it (from -1) less
 * one, how often the term stands in it, and the class of its length. Numbers are of seven bits a byte, the low ones first.
 */
/** Ordinals are below this: far above what a block has, and low enough that a broken list allocates nothing. */
const maxOrdinal = 1 << 24;

/** Reads one list, entry by entry, and keeps the current one: nothing is allocated for an entry. */
export class PostingsReader {
  /** In so many passages the term stands. */
  readonly entries: number;
  ordinal = -1;
  count = 0;
  lengthClass = 0;
  #at = 0;
  #left: number;

  constructor(private readonly bytes: Uint8Array) {
    this.entries = this.#readNumber();
    this.#left = this.entries;
    // The shortest entry has three bytes.
    if (this.entries * 3 > bytes.length - this.#at) throw brokenList();
  }

  /** False after the last. Throws on bytes that are no list. */
  next(): boolean {
    if (this.#left === 0) {
      if (this.#at !== this.bytes.length) throw brokenList();
      return false;
    }
    this.#left--;
    this.ordinal += this.#readNumber() + 1;
    if (this.ordinal >= maxOrdinal || this.#at + 2 > this.bytes.length) throw brokenList();
    this.count = this.bytes[this.#at++] as number;
    this.lengthClass = this.bytes[this.#at++] as number;
    return true;
  }

  #readNumber(): number {
    let number = 0;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.bytes[this.#at++];
      if (byte === undefined) break;
      number |= (byte & 127) << shift;
      if (byte < 128) return number;
    }
    throw brokenList();
  }
}

export function brokenList(): Error {
  return new Error("A list of the index of knowledge cannot be read");
}

/** Sixteen classes for each doubling: lengths are kept to four per cent in a byte. */
const classesPerDoubling = 16;

export function toLengthClass(length: number): number {
  return Math.min(255, Math.round(classesPerDoubling * Math.log2(1 + length)));
}

/** In terms, by class. */
export const lengthsByClass: Float64Array = Float64Array.from(
  { length: 256 },
  (_, lengthClass) => 2 ** (lengthClass / classesPerDoubling) - 1,
);
