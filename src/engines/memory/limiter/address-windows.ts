/** Sliding windows of internet addresses and networks, 48 bytes each at ten a minute, where objects take ten times that. */
import type { RateRule, Verdict } from "../../../contracts/limiter/limiter.ts";
import { readIp, readIpv4 } from "../../../lib/ip-address.ts";
import { AddressTable } from "./address-table.ts";

export interface AddressKey {
  high: number;
  low: number;
}

/** What a key stands for, since the same bits are an address and networks of several sizes. */
export type AddressKind = "client" | "/56" | "/48";

/**
 * Reads a client's address, IPv4 or an IPv6 network of the form `…/64`, or a wider IPv6 network into `key`, and returns
 * which; null for any other subject. The key is the address itself and not a hash of it, so no two of a kind ever share
 * a window. IPv4 uses the keys of `0:ffff:…/64`, a reserved prefix, which is therefore refused.
 */
export function readAddressKey(subject: string, key: AddressKey): AddressKind | null {
  const length = subject.length;
  if (length <= 15) {
    const address = readIpv4(subject, 0, length);
    if (address >= 0) {
      key.high = ipv4High;
      key.low = address;
      return "client";
    }
  }
  const kind = kindOf(subject);
  if (kind === null || readIp(subject, 0, length - 3, groups) !== 6) return null;
  key.high = (((groups[0] ?? 0) << 16) | (groups[1] ?? 0)) >>> 0;
  key.low = (((groups[2] ?? 0) << 16) | (groups[3] ?? 0)) >>> 0;
  return key.high === ipv4High ? null : kind;
}

function kindOf(subject: string): AddressKind | null {
  if (subject.endsWith("/64")) return "client";
  if (subject.endsWith("/56")) return "/56";
  return subject.endsWith("/48") ? "/48" : null;
}

/**
 * Distances of times are kept in 16 bits, and moved as they expire: long windows and high limits do not fit. Wider networks
 * are fewer, and may take more each.
 */
export function fitsAddressWindows(rule: RateRule, kind: AddressKind): boolean {
  return rule.windowMs <= 65_000 && rule.limit <= (kind === "client" ? 64 : 256);
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
  #oldestAgeMs = 0;

  constructor(rule: RateRule, maxSubjects: number, seed: number) {
    this.#rule = rule;
    this.#table = new AddressTable(maxSubjects, rule.limit, seed);
  }

  get size(): number {
    return this.#table.size;
  }

  /** While fewer than `maxSlots` slots are in use; 0 adds no one. `nowMs`: whole milliseconds that never go back. */
  admit(key: AddressKey, nowMs: number, maxSlots: number): Verdict {
    this.#forgetExpired(nowMs);
    const table = this.#table;
    const { limit, windowMs } = this.#rule;
    let record = table.find(key.high, key.low);
    if (record !== 0) table.touch(record);
    else if (maxSlots > 0) record = this.#addSubject(key);
    else return { isAdmitted: false, rule: this.#rule, remaining: limit, resetMs: windowMs };

    let count = this.#dropExpired(record, nowMs);
    const isAdmitted = count < maxSlots;
    if (isAdmitted) {
      const countAt = table.numbersAt(record);
      if (count > 0) table.numbers[countAt + count] = table.stamp(record);
      table.setStamp(record, nowMs);
      count++;
      table.numbers[countAt] = count;
    }
    return { isAdmitted, rule: this.#rule, remaining: limit - count, resetMs: windowMs - this.#oldestAgeMs };
  }

  /** How many are in the record's window; sets `#oldestAgeMs` to the age of the oldest of them, 0 for none. */
  #dropExpired(record: number, nowMs: number): number {
    const table = this.#table;
    const { windowMs } = this.#rule;
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
    numbers[countAt] = count;
    this.#oldestAgeMs = oldestAgeMs;
    return count;
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
