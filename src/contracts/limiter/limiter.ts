/**
 * Who may proceed. Exact sliding windows, counted per rule and subject.
 *
 * Engines: `memory.ts`; `redis/` for several instances. `test/contracts/limiter.ts` checks every engine.
 */

/** Identifies the rule in windows and metrics. */
export const ruleNames = [
  "ip",
  "token",
  "config_ip",
  "config_token",
  "read",
  "live",
  "key",
  "chat",
  "visitor",
  "person",
  "contact",
  "session",
  "sign_in",
  "solution",
  "webhook",
] as const;
export type RuleName = (typeof ruleNames)[number];

/**
 * At most `limit` (from 1) admitted requests in any `windowMs` (whole milliseconds). `name` appears in the `RateLimit`
 * headers. Rules that differ in any of the three have separate windows.
 */
export interface RateRule {
  readonly name: RuleName;
  readonly limit: number;
  readonly windowMs: number;
}

export interface Verdict {
  readonly isAdmitted: boolean;
  readonly rule: RateRule;
  /** Requests left in the window after this one; 0 if refused, unless by `admitUpTo` before the window was full. */
  readonly remaining: number;
  /**
   * Milliseconds until the oldest admitted request leaves the window. After a refusal, waiting this long suffices if
   * no one else uses the same window meanwhile. From 1 to the rule's `windowMs`.
   */
  readonly resetMs: number;
}

/** The verdicts of `admitInTurn`; `second` is null where `first` is a refusal. */
export interface VerdictsInTurn {
  readonly first: Verdict;
  readonly second: Verdict | null;
}

/** One window in which a request is counted. */
export interface RateWindow {
  readonly rule: RateRule;
  readonly subject: string;
}

export interface Limiter {
  /** Whether a verdict takes a round trip, so that it is worth asking for several together. */
  readonly isRemote: boolean;
  /**
   * Admits or refuses one request of `subject` under `rule`. Only admitted requests occupy the window: refusals never
   * prolong the wait. Never throws or rejects. Concurrent calls never admit more than the limit in any window.
   * Time comes from the engine's own clock, in whole milliseconds: stepping an instance's wall clock neither admits nor
   * locks out anyone.
   */
  admit(rule: RateRule, subject: string): Promise<Verdict>;
  /**
   * Admits a request only if all the windows, which must differ, have room, and then occupies all of them; a refused
   * request occupies none. The verdict is that of the tightest window: after a refusal the one with the longest wait,
   * otherwise the one with the least left.
   */
  admitAll(windows: readonly [RateWindow, ...RateWindow[]]): Promise<Verdict>;
  /** As `admitAll` of the first and, only if that admits, `admit` of the other window, which must differ: one round trip. */
  admitInTurn(first: readonly [RateWindow, ...RateWindow[]], second: RateWindow): Promise<VerdictsInTurn>;
  /**
   * As `admit`, but only while fewer than `most` slots (up to the rule's limit) are in use, by either call: the others
   * stay for those who use `admit`. 0 only checks, and adds nothing to what the engine holds.
   */
  admitUpTo(rule: RateRule, subject: string, most: number): Promise<Verdict>;
  close(): void;
}

/** A refused request waits for the slowest window; an admitted one is limited by the fullest. */
export function tighterOf(one: Verdict, other: Verdict): Verdict {
  if (one.isAdmitted !== other.isAdmitted) return one.isAdmitted ? other : one;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}
