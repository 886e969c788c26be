/** A bounded table of 64-bit keys in order of last use, each with a few 16-bit numbers, in flat memory. */

/**
 * Nothing here is an object: a million of them would cost more than their content. Nothing is copied to grow either,
 * which would stall every open stream: the buffers are resized in place within reserved address space (untouched
 * pages take no memory), and the index is a linear hash table, which splits one bucket at a time.
 *
 * A record is six 32-bit words, then the numbers. Records are identified by their position, from 1. 0 means none; the
 * record at 0 holds both ends of the recency list in its links.
 */
export class AddressTable {
  readonly maxRecords: number;
  size = 0;
  readonly #wordsPerRecord: number;
  #records: ArrayBuffer;
  #index: ArrayBuffer;
  #words: Uint32Array;
  #buckets: Uint32Array;
  readonly #seed: number;
  /** Buckets below `#splitCount` use one more bit of the hash than `#mask` has. */
  #mask = 0;
  #splitCount = 0;
  #usedRecords = 1;
  #firstFree = 0;
  /** The same memory as 16-bit numbers; those of a record start at `numbersAt(record)`. */
  numbers: Uint16Array;

  /** `seed`, 32 bits, is random, so that no one can choose keys that collide in one bucket. */
  constructor(maxRecords: number, numbersPerRecord: number, seed: number) {
    this.maxRecords = maxRecords;
    this.#wordsPerRecord = headWords + Math.ceil(numbersPerRecord / 2);
    this.#seed = seed;
    this.#records = this.#reserveRecords();
    this.#index = this.#reserveIndex();
    // Views made without a length follow their buffer when it is resized.
    this.#words = new Uint32Array(this.#records);
    this.numbers = new Uint16Array(this.#records);
    this.#buckets = new Uint32Array(this.#index);
  }

  /** The record of the key, or 0. */
  find(high: number, low: number): number {
    let record = at(this.#buckets, this.#bucketOf(this.#hash(high, low)));
    while (record !== 0) {
      const base = record * this.#wordsPerRecord;
      if (at(this.#words, base + lowWord) === low && at(this.#words, base + highWord) === high) return record;
      record = at(this.#words, base + nextWord);
    }
    return 0;
  }

  /** Adds a key that is not in the table as the most recently used. The table must not be full. */
  add(high: number, low: number): number {
    const record = this.#takeRecord();
    const base = record * this.#wordsPerRecord;
    this.#words[base + highWord] = high;
    this.#words[base + lowWord] = low;
    this.size++;
    if (this.size > this.#mask + 1 + this.#splitCount) this.#splitBucket();
    this.#intoBucket(record, this.#bucketOf(this.#hash(high, low)));
    this.#intoList(record);
    return record;
  }

  remove(record: number): void {
    const base = record * this.#wordsPerRecord;
    const bucket = this.#bucketOf(this.#hash(at(this.#words, base + highWord), at(this.#words, base + lowWord)));
    const next = at(this.#words, base + nextWord);
    let before = at(this.#buckets, bucket);
    if (before === record) {
      this.#buckets[bucket] = next;
    } else {
      while (this.#link(before, nextWord) !== record) before = this.#link(before, nextWord);
      this.#setLink(before, nextWord, next);
    }
    this.#outOfList(record);
    this.#words[base + nextWord] = this.#firstFree;
    this.#firstFree = record;
    this.size--;
  }

  /** Removes everything. Shrinking the buffers would keep their pages, so new buffers replace them. */
  clear(): void {
    this.#records = this.#reserveRecords();
    this.#index = this.#reserveIndex();
    this.#words = new Uint32Array(this.#records);
    this.numbers = new Uint16Array(this.#records);
    this.#buckets = new Uint32Array(this.#index);
    this.#mask = 0;
    this.#splitCount = 0;
    this.#usedRecords = 1;
    this.#firstFree = 0;
    this.size = 0;
  }

  touch(record: number): void {
    if (this.#link(0, olderWord) === record) return;
    this.#outOfList(record);
    this.#intoList(record);
  }

  /** The least recently used record, or 0. */
  get oldest(): number {
    return this.#link(0, newerWord);
  }

  /** A word of the record for the caller's own use. */
  stamp(record: number): number {
    return this.#link(record, stampWord);
  }

  setStamp(record: number, value: number): void {
    this.#setLink(record, stampWord, value);
  }

  numbersAt(record: number): number {
    return (record * this.#wordsPerRecord + headWords) * 2;
  }

  #reserveRecords(): ArrayBuffer {
    const recordBytes = this.#wordsPerRecord * 4;
    return new ArrayBuffer(recordBytes, { maxByteLength: (this.maxRecords + 1) * recordBytes });
  }

  #reserveIndex(): ArrayBuffer {
    return new ArrayBuffer(4, { maxByteLength: (this.maxRecords + 1) * 4 });
  }

  #takeRecord(): number {
    if (this.#firstFree !== 0) {
      const record = this.#firstFree;
      this.#firstFree = this.#link(record, nextWord);
      this.numbers.fill(0, this.numbersAt(record), this.numbersAt(record + 1) - headWords * 2);
      return record;
    }
    const record = this.#usedRecords++;
    const bytesPerRecord = this.#wordsPerRecord * 4;
    if ((record + 1) * bytesPerRecord > this.#records.byteLength) {
      const grown = Math.min(record + recordsPerGrowth, this.maxRecords + 1);
      this.#records.resize(grown * bytesPerRecord);
    }
    return record;
  }

  #splitBucket(): void {
    const bit = this.#mask + 1;
    const bucket = this.#splitCount;
    if ((bucket + bit + 1) * 4 > this.#index.byteLength) {
      this.#index.resize(Math.min((bucket + bit + recordsPerGrowth) * 4, this.#index.maxByteLength));
    }
    let record = at(this.#buckets, bucket);
    this.#buckets[bucket] = 0;
    this.#buckets[bucket + bit] = 0;
    while (record !== 0) {
      const base = record * this.#wordsPerRecord;
      const next = at(this.#words, base + nextWord);
      const hash = this.#hash(at(this.#words, base + highWord), at(this.#words, base + lowWord));
      this.#intoBucket(record, (hash & bit) === 0 ? bucket : bucket + bit);
      record = next;
    }
    this.#splitCount++;
    if (this.#splitCount === bit) {
      this.#mask = bit * 2 - 1;
      this.#splitCount = 0;
    }
  }

  #intoBucket(record: number, bucket: number): void {
    this.#setLink(record, nextWord, at(this.#buckets, bucket));
    this.#buckets[bucket] = record;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.#splitCount ? hash & (this.#mask * 2 + 1) : bucket;
  }

  #hash(high: number, low: number): number {
    let hash = Math.imul(high ^ this.#seed, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15) ^ low, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  #intoList(record: number): void {
    const newest = this.#link(0, olderWord);
    this.#setLink(record, olderWord, newest);
    this.#setLink(record, newerWord, 0);
    this.#setLink(newest, newerWord, record);
    this.#setLink(0, olderWord, record);
  }

  #outOfList(record: number): void {
    const newer = this.#link(record, newerWord);
    const older = this.#link(record, olderWord);
    this.#setLink(newer, olderWord, older);
    this.#setLink(older, newerWord, newer);
  }

  #link(record: number, word: number): number {
    return at(this.#words, record * this.#wordsPerRecord + word);
  }

  #setLink(record: number, word: number, value: number): void {
    this.#words[record * this.#wordsPerRecord + word] = value;
  }
}

const highWord = 0;
const lowWord = 1;
const stampWord = 2;
/** The next record in the same bucket or in the free list. */
const nextWord = 3;
const newerWord = 4;
const olderWord = 5;
const headWords = 6;

const recordsPerGrowth = 4096;

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}
