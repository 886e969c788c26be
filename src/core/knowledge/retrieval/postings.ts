/**
 * The passages of one block of an edition in which a term stands, as bytes: the index is these lists, keyed by edition, block
 * and term.
 *
 * A list is a number of entries, then for each passage in order: the distance from the passage before it (from -1) less
 * one, how often the term stands in it, and the class of its length. Numbers are of seven bits a byte, the low ones first.
 */
import type { NumberTerm } from "../words/term-number.ts";
import type { Terms } from "../words/terms.ts";

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

/** Further repetitions add nothing to a passage's score. */
const maxCount = 127;
/** A list's head has at most three bytes, and each entry at most five. */
const maxHeadBytes = 3;
const maxEntryBytes = 5;

/**
 * Gathers the lists of one block of passages, a passage at a time, and gives them out a list at a time: neither takes
 * long. One list for each term would be tens of thousands of small arrays. All entries stand in one, in the order in
 * which they came, and each knows which of its term is next. Terms that share a number share a list: a passage is
 * then found by a word that it does not have.
 */
export class BlockPostings {
  /** By term, and by the number of a term. */
  readonly #slots = new Map<string, number>();
  readonly #numbers = new Map<number, number>();
  /** By term: its first entry, its last one, and how many it has. */
  #first = new Int32Array(16_384);
  #last = new Int32Array(16_384);
  #counts = new Int32Array(16_384);
  /** By entry. */
  #next = new Int32Array(65_536);
  #passages = new Int32Array(65_536);
  #times = new Uint8Array(65_536);
  readonly #lengthClasses: number[] = [];
  #entries = 0;

  constructor(private readonly numberTerm: NumberTerm) {}

  /** Of the passages that were added. */
  get size(): number {
    return this.#lengthClasses.length;
  }

  /** The next passage of the block. */
  add({ counts, length }: Terms): void {
    const passage = this.#lengthClasses.length;
    this.#lengthClasses.push(toLengthClass(length));
    for (const [term, count] of counts) {
      const slot = this.#slots.get(term) ?? this.#addTerm(term);
      const last = this.#last[slot] as number;
      if (this.#counts[slot] === 0) this.#first[slot] = this.#addEntry(passage, count);
      else if (this.#passages[last] === passage) {
        this.#times[last] = Math.min((this.#times[last] as number) + count, maxCount);
        continue;
      } else this.#next[last] = this.#addEntry(passage, count);
      this.#last[slot] = this.#entries - 1;
      this.#counts[slot] = (this.#counts[slot] as number) + 1;
    }
  }

  /** The number of each term with its list, as `PostingsReader` reads it; in the order in which an index grows fastest. */
  *lists(): Generator<readonly [number: number, list: Uint8Array]> {
    // Not a sort by a function, which takes milliseconds for the words of a block.
    for (const number of Float64Array.from(this.#numbers.keys()).sort()) {
      yield [number, this.#encode(this.#numbers.get(number) as number)];
    }
  }

  #addEntry(passage: number, count: number): number {
    const entry = this.#entries++;
    if (entry === this.#next.length) {
      this.#next = doubled(this.#next);
      this.#passages = doubled(this.#passages);
      this.#times = doubled(this.#times);
    }
    this.#passages[entry] = passage;
    this.#times[entry] = Math.min(count, maxCount);
    return entry;
  }

  #addTerm(term: string): number {
    const number = this.numberTerm(term);
    const known = this.#numbers.get(number);
    const slot = known ?? this.#addSlot(number);
    this.#slots.set(term, slot);
    return slot;
  }

  /** For a list without entries. */
  #addSlot(number: number): number {
    const slot = this.#numbers.size;
    if (slot === this.#first.length) {
      this.#first = doubled(this.#first);
      this.#last = doubled(this.#last);
      this.#counts = doubled(this.#counts);
    }
    this.#numbers.set(number, slot);
    return slot;
  }

  #encode(slot: number): Uint8Array {
    const entries = this.#counts[slot] as number;
    const list = new Uint8Array(maxHeadBytes + entries * maxEntryBytes);
    let at = writeNumber(list, 0, entries);
    let entry = this.#first[slot] as number;
    let before = -1;
    for (let left = entries; left > 0; left--) {
      const passage = this.#passages[entry] as number;
      at = writeNumber(list, at, passage - before - 1);
      list[at++] = this.#times[entry] as number;
      list[at++] = this.#lengthClasses[passage] as number;
      before = passage;
      entry = this.#next[entry] as number;
    }
    return list.slice(0, at);
  }
}

function doubled<List extends Int32Array | Uint8Array>(list: List): List {
  const longer = new (list.constructor as new (length: number) => List)(list.length * 2);
  longer.set(list);
  return longer;
}

/** Returns where the next one goes. */
function writeNumber(bytes: Uint8Array, at: number, number: number): number {
  let rest = number;
  let end = at;
  while (rest > 127) {
    bytes[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}
