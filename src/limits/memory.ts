/** The limiter engine of one process: exact windows in memory, bounded, forgotten with the process. */
import type { Clock } from "../lib/clock.ts";
import {
  type AddressKey,
  type AddressKind,
  AddressWindows,
  fitsAddressWindows,
  readAddressKey,
} from "./address-windows.ts";
import type { Limiter, Place, RateRule, Verdict } from "./limiter.ts";
import { TextWindows } from "./text-windows.ts";

export interface MemoryLimiterOptions {
  clock: Pick<Clock, "monotonicMs">;
  /** Addresses held for each rule, beyond which the least recently seen leave. */
  maxAddresses?: number;
  /** The same for networks wider than a client's. */
  maxNetworks?: number;
  /** The same for subjects that are no addresses; each takes ten times the memory. */
  maxTexts?: number;
}

/**
 * Rules have windows of their own each, so that a flood of addresses cannot push out what is counted by token. Time is
 * counted in whole milliseconds.
 */
export function createMemoryLimiter(options: MemoryLimiterOptions): MemoryLimiter {
  return new MemoryLimiter(options);
}

interface RuleWindows {
  readonly rule: RateRule;
  /** By what a key stands for; made as they are needed. */
  readonly addresses: Partial<Record<AddressKind, AddressWindows>>;
  readonly texts: TextWindows;
}

class MemoryLimiter implements Limiter {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #maxAddresses: number;
  readonly #maxNetworks: number;
  readonly #maxTexts: number;
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  readonly #windows: RuleWindows[] = [];
  readonly #key: AddressKey = { high: 0, low: 0 };
  #nowMs = 0;

  constructor(options: MemoryLimiterOptions) {
    this.#clock = options.clock;
    this.#maxAddresses = options.maxAddresses ?? 1_000_000;
    this.#maxNetworks = options.maxNetworks ?? 100_000;
    this.#maxTexts = options.maxTexts ?? 100_000;
  }

  admit(rule: RateRule, subject: string): Verdict {
    this.#readClock();
    return this.#ask("admit", rule, subject);
  }

  admitAll(places: readonly [Place, ...Place[]]): Verdict {
    this.#readClock();
    const [first, ...others] = places;
    let tightest = this.#ask("look", first.rule, first.subject);
    for (const { rule, subject } of others) tightest = tighterOf(tightest, this.#ask("look", rule, subject));
    // Nothing happens in between: what each window foresaw is what it does.
    if (tightest.isAdmitted) for (const { rule, subject } of places) this.#ask("admit", rule, subject);
    return tightest;
  }

  /** Subjects held now. */
  get size(): number {
    return this.#sum(({ size }) => size);
  }

  /** Subjects forgotten because memory is bounded, since the start. */
  get evictedCount(): number {
    return this.#sum(({ evictedCount }) => evictedCount);
  }

  close(): void {
    this.#windows.length = 0;
  }

  /** The windows rely on it: time that goes back would look like time that has passed. */
  #readClock(): void {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.monotonicMs()));
  }

  #ask(question: "admit" | "look", rule: RateRule, subject: string): Verdict {
    const windows = this.#windowsOf(rule);
    const kind = readAddressKey(subject, this.#key);
    if (kind === null || !fitsAddressWindows(rule, kind)) return windows.texts[question](subject, this.#nowMs);
    windows.addresses[kind] ??= new AddressWindows(
      rule,
      kind === "client" ? this.#maxAddresses : this.#maxNetworks,
      this.#seed,
    );
    return windows.addresses[kind][question](this.#key, this.#nowMs);
  }

  #sum(figure: (windows: AddressWindows | TextWindows) => number): number {
    return this.#windows
      .flatMap(({ addresses, texts }) => [...Object.values(addresses), texts])
      .reduce((sum, windows) => sum + figure(windows), 0);
  }

  /** Rules are few: a search beats hashing, and equal rules made twice share their windows. */
  #windowsOf(rule: RateRule): RuleWindows {
    for (const windows of this.#windows) if (windows.rule === rule) return windows;
    for (const windows of this.#windows) if (isSameRule(windows.rule, rule)) return windows;
    const added = { rule, addresses: {}, texts: new TextWindows(rule, this.#maxTexts) };
    this.#windows.push(added);
    return added;
  }
}

/** Who is refused waits for the last of the windows; who is admitted is stopped by the first that is full. */
function tighterOf(one: Verdict, other: Verdict): Verdict {
  if (one.isAdmitted !== other.isAdmitted) return one.isAdmitted ? other : one;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}

function isSameRule(a: RateRule, b: RateRule): boolean {
  return a.name === b.name && a.limit === b.limit && a.windowMs === b.windowMs;
}
