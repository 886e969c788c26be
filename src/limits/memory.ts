/** The limiter engine of one process: exact windows in memory, bounded, forgotten with the process. */
import type { Clock } from "../lib/clock.ts";
import { type AddressKey, AddressWindows, fitsAddressWindows, readAddressKey } from "./address-windows.ts";
import type { Limiter, RateRule, Verdict } from "./limiter.ts";
import { TextWindows } from "./text-windows.ts";

export interface MemoryLimiterOptions {
  clock: Pick<Clock, "monotonicMs">;
  /** Addresses held for each rule, beyond which the least recently seen leave. */
  maxAddresses?: number;
  /** The same for subjects that are no addresses; each takes ten times the memory. */
  maxTexts?: number;
}

/**
 * Rules have windows of their own each, so that a flood of addresses cannot push out what is counted by token. Time is
 * counted in whole milliseconds.
 */
export function createMemoryLimiter(options: MemoryLimiterOptions): Limiter {
  return new MemoryLimiter(options);
}

interface RuleWindows {
  readonly rule: RateRule;
  readonly addresses: AddressWindows | null;
  readonly texts: TextWindows;
}

class MemoryLimiter implements Limiter {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #maxAddresses: number;
  readonly #maxTexts: number;
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  readonly #windows: RuleWindows[] = [];
  readonly #key: AddressKey = { high: 0, low: 0 };
  #nowMs = 0;

  constructor(options: MemoryLimiterOptions) {
    this.#clock = options.clock;
    this.#maxAddresses = options.maxAddresses ?? 1_000_000;
    this.#maxTexts = options.maxTexts ?? 100_000;
  }

  admit(rule: RateRule, subject: string): Verdict {
    // The windows rely on it: time that goes back would look like time that has passed.
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.monotonicMs()));
    const { addresses, texts } = this.#windowsOf(rule);
    if (addresses !== null && readAddressKey(subject, this.#key)) return addresses.admit(this.#key, this.#nowMs);
    return texts.admit(subject, this.#nowMs);
  }

  get size(): number {
    return this.#windows.reduce((sum, { addresses, texts }) => sum + (addresses?.size ?? 0) + texts.size, 0);
  }

  get evictedCount(): number {
    return this.#windows.reduce(
      (sum, { addresses, texts }) => sum + (addresses?.evictedCount ?? 0) + texts.evictedCount,
      0,
    );
  }

  close(): void {
    this.#windows.length = 0;
  }

  /** Rules are few: a search beats hashing, and equal rules made twice share their windows. */
  #windowsOf(rule: RateRule): RuleWindows {
    for (const windows of this.#windows) if (windows.rule === rule) return windows;
    for (const windows of this.#windows) if (isSameRule(windows.rule, rule)) return windows;
    const added = {
      rule,
      addresses: fitsAddressWindows(rule) ? new AddressWindows(rule, this.#maxAddresses, this.#seed) : null,
      texts: new TextWindows(rule, this.#maxTexts),
    };
    this.#windows.push(added);
    return added;
  }
}

function isSameRule(a: RateRule, b: RateRule): boolean {
  return a.name === b.name && a.limit === b.limit && a.windowMs === b.windowMs;
}
