/** Sliding windows of internet addresses, 48 bytes each at ten a minute, where objects take ten times that. */
import { readIp, readIpv4 } from "../lib/ip-address.ts";
import { AddressTable } from "./address-table.ts";
import type { RateRule, Verdict } from "./limiter.ts";

export interface AddressKey {
  high: number;
  low: number;
}

/**
 * Reads an IPv4 address or an IPv6 network of the form `…/64` into `key`; false for any other subject. The key is the
 * address itself and not a hash of it, so no two addresses ever share a window. IPv4 takes the place of
 * `0:ffff:…/64`, a reserved prefix, which is therefore refused.
 */
export function readAddressKey(subject: string, key: AddressKey): boolean {
  const length = subject.length;
  if (length <= 15) {
    const address = readIpv4(subject, 0, length);
    if (address >= 0) {
      key.high = ipv4High;
      key.low = address;
      return true;
    }
  }
  if (!subject.endsWith("/64") || readIp(subject, 0, length - 3, groups) !== 6) return false;
  key.high = (((groups[0] ?? 0) << 16) | (groups[1] ?? 0)) >>> 0;
  key.low = (((groups[2] ?? 0) << 16) | (groups[3] ?? 0)) >>> 0;
  return key.high !== ipv4High;
}

/** Distances of times are kept in 16 bits, and moved as they expire: long windows and high limits do not fit. */
export function fitsAddressWindows(rule: RateRule): boolean {
  return rule.windowMs <= 65_000 && rule.limit <= 64;
}

export class AddressWindows {
  evictedCount = 0;
  readonly #rule: RateRule;
  /**
   * Stamp: when the newest request was admitted, modulo 2^32 ms. Numbers: how many are in the window, then the times
   * of all but the newest modulo 2^16 ms, oldest first.
   */
  readonly #table: AddressTable;
  #lastMs = 0;

  constructor(rule: RateRule, maxSubjects: number, seed: number) {
    this.#rule = rule;
    this.#table = new AddressTable(maxSubjects, rule.limit, seed);
  }

  get size(): number {
    return this.#table.size;
  }

  /** `nowMs`: whole milliseconds that never go back. */
  admit(key: AddressKey, nowMs: number): Verdict {
    this.#forgetExpired(nowMs);
    const table = this.#table;
    let record = table.find(key.high, key.low);
    if (record === 0) record = this.#addSubject(key);
    else table.touch(record);

    const { limit, windowMs } = this.#rule;
    const { numbers } = table;
    const countAt = table.numbersAt(record);
    const timesAt = countAt + 1;
    const newest = table.stamp(record);
    const newestAgeMs = (nowMs - newest) >>> 0;
    let count = numbers[countAt] ?? 0;
    if (newestAgeMs >= windowMs) count = 0;

    let expired = 0;
    let oldestAgeMs = count === 0 ? 0 : newestAgeMs;
    for (; expired < count - 1; expired++) {
      const ageMs = newestAgeMs + ((newest - (numbers[timesAt + expired] ?? 0)) & 0xffff);
      if (ageMs < windowMs) {
        oldestAgeMs = ageMs;
        break;
      }
    }
    if (expired > 0) {
      numbers.copyWithin(timesAt, timesAt + expired, timesAt + count - 1);
      count -= expired;
    }

    const isAdmitted = count < limit;
    if (isAdmitted) {
      if (count > 0) numbers[timesAt + count - 1] = newest;
      table.setStamp(record, nowMs);
      count++;
    }
    numbers[countAt] = count;
    return { isAdmitted, rule: this.#rule, remaining: limit - count, resetMs: windowMs - oldestAgeMs };
  }

  /** A few at a time, so that no verdict is slow; more than are added, so that they never pile up. */
  #forgetExpired(nowMs: number): void {
    const table = this.#table;
    if (nowMs - this.#lastMs >= this.#rule.windowMs && table.size > 0) table.clear();
    this.#lastMs = nowMs;
    for (let i = 0; i < 16; i++) {
      const oldest = table.oldest;
      if (oldest === 0 || (nowMs - table.stamp(oldest)) >>> 0 < this.#rule.windowMs) return;
      table.remove(oldest);
    }
  }

  #addSubject(key: AddressKey): number {
    const table = this.#table;
    if (table.size >= table.maxRecords) {
      table.remove(table.oldest);
      this.evictedCount++;
    }
    return table.add(key.high, key.low);
  }
}

const groups = new Uint16Array(8);
const ipv4High = 0x0000ffff;
