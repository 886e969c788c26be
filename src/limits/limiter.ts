/**
 * Socket 2: who may go on. Exact sliding windows, counted per rule and subject.
 *
 * Engines: `memory.ts`. `test/contracts/limiter.ts` proves any other.
 */

import type { Awaitable } from "../lib/awaitable.ts";

/**
 * At most `limit` (from 1) admitted requests in any `windowMs` (whole milliseconds). `name` appears in the `RateLimit`
 * headers; rules that differ in any of the three have windows of their own.
 */
export interface RateRule {
  readonly name: "ip" | "token" | "key" | "session" | "sign_in" | "webhook";
  readonly limit: number;
  readonly windowMs: number;
}

export interface Verdict {
  readonly isAdmitted: boolean;
  readonly rule: RateRule;
  /** Requests still free in the window after this one; 0 when refused. */
  readonly remaining: number;
  /**
   * Milliseconds until the oldest admitted request leaves the window: when refused, waiting this long suffices if
   * nobody else uses the same window meanwhile. From 1 to the rule's `windowMs`.
   */
  readonly resetMs: number;
}

/** One window that a request is to be counted in. */
export interface Place {
  readonly rule: RateRule;
  readonly subject: string;
}

export interface Limiter {
  /**
   * Admits or refuses one request of `subject` under `rule`. Only an admitted one occupies the window: refused ones
   * never prolong the wait. Never throws or rejects. Concurrent calls never admit more than the limit in any window.
   * Time comes from the engine's monotonic clock, in whole milliseconds: stepping the wall clock neither admits nor
   * locks out.
   */
  admit(rule: RateRule, subject: string): Awaitable<Verdict>;
  /**
   * Admits a request only where each of the windows, all different, has room, and then occupies all of them;
   * a refused one occupies none. The verdict is that of the tightest window: refused, the one to wait for longest;
   * admitted, the one with the least left.
   */
  admitAll(places: readonly [Place, ...Place[]]): Awaitable<Verdict>;
  close(): void;
}
