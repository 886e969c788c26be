/** The single-process limiter engine: exact windows in bounded memory, lost when the process ends. */
import {
  type Limiter,
  type RateRule,
  type RateWindow,
  tighterOf,
  type Verdict,
  type VerdictsInTurn,
} from "../../../contracts/limiter/limiter.ts";
import type { Clock } from "../../../lib/clock.ts";
import {
  type AddressKey,
  type AddressKind,
  AddressWindows,
  fitsAddressWindows,
  readAddressKey,
} from "./address-windows.ts";
import { TextWindows } from "./text-windows.ts";

export interface MemoryLimiterOptions {
  clock: Pick<Clock, "monotonicMs">;
  /** Maximum number of addresses per rule; beyond it the least recently seen are evicted. */
  maxAddresses?: number;
  /** The same for networks wider than a client's. */
  maxNetworks?: number;
  /** The same for subjects that are not addresses; each takes ten times the memory. */
  maxTexts?: number;
}

/**
 * Each rule has its own windows, so that a flood of addresses cannot evict what is counted by token. Time is in whole
 * milliseconds.
 */
export function createMemoryLimiter(options: MemoryLimiterOptions): MemoryLimiter {
  return new MemoryLimiter(options);
}

interface RuleWindows {
  readonly rule: RateRule;
  /** By kind of key; created when first needed. */
  readonly addresses: Partial<Record<AddressKind, AddressWindows>>;
  readonly texts: TextWindows;
}

class MemoryLimiter implements Limiter {
  readonly isRemote = false;
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

  async admit(rule: RateRule, subject: string): Promise<Verdict> {
    this.#readClock();
    return this.#ask(rule, subject, rule.limit);
  }

  async admitUpTo(rule: RateRule, subject: string, most: number): Promise<Verdict> {
    this.#readClock();
    return this.#ask(rule, subject, most);
  }

  async admitAll(windows: readonly [RateWindow, ...RateWindow[]]): Promise<Verdict> {
    this.#readClock();
    const tightest = windows.map(({ rule, subject }) => this.#ask(rule, subject, 0)).reduce(tighterOf);
    if (tightest.remaining === 0) return tightest;
    // Nothing runs in between, so each window has the room that it has just shown.
    return windows.map(({ rule, subject }) => this.#ask(rule, subject, rule.limit)).reduce(tighterOf);
  }

  async admitInTurn(
    windows: readonly [RateWindow, ...RateWindow[]],
    { rule, subject }: RateWindow,
  ): Promise<VerdictsInTurn> {
    const first = await this.admitAll(windows);
    return { first, second: first.isAdmitted ? await this.admit(rule, subject) : null };
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

  /** The windows rely on time that never goes back: a step back would look like elapsed time. */
  #readClock(): void {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.monotonicMs()));
  }

  #ask(rule: RateRule, subject: string, most: number): Verdict {
    const windows = this.#windowsOf(rule);
    const kind = readAddressKey(subject, this.#key);
    if (kind === null || !fitsAddressWindows(rule, kind)) return windows.texts.admit(subject, this.#nowMs, most);
    windows.addresses[kind] ??= new AddressWindows(
      rule,
      kind === "client" ? this.#maxAddresses : this.#maxNetworks,
      this.#seed,
    );
    return windows.addresses[kind].admit(this.#key, this.#nowMs, most);
  }

  #sum(figure: (windows: AddressWindows | TextWindows) => number): number {
    return this.#windows
      .flatMap(({ addresses, texts }) => [...Object.values(addresses), texts])
      .reduce((sum, windows) => sum + figure(windows), 0);
  }

  /** There are few rules: a search beats hashing, and equal rules share their windows. */
  #windowsOf(rule: RateRule): RuleWindows {
    for (const windows of this.#windows) if (windows.rule === rule) return windows;
    for (const windows of this.#windows) if (isSameRule(windows.rule, rule)) return windows;
    const added = { rule, addresses: {}, texts: new TextWindows(rule, this.#maxTexts) };
    this.#windows.push(added);
    return added;
  }
}

function isSameRule(a: RateRule, b: RateRule): boolean {
  return a.name === b.name && a.limit === b.limit && a.windowMs === b.windowMs;
}
