/** What is known of attempts that failed, and when the next may be made: gently enough for any authority's limits. */

export interface Attempts {
  readonly authority: string;
  readonly names: readonly string[];
  /** Since the last success. */
  readonly failures: number;
  /** When the last of them were, the oldest first. */
  readonly recentMs: readonly number[];
  readonly nextMs: number;
  /** Until when the authority accepts no further attempt; null if it did not specify. */
  readonly restUntilMs: number | null;
  /** What went wrong last, as a sentence. */
  readonly problem: string;
  /** Whether a name had no address then: once it has one, nothing is left to wait for. */
  readonly isMissing: boolean;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const pausesMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs];
const laterPauseMs = 4 * hourMs;
/** Let's Encrypt refuses after five failures for a name within an hour, no matter who requested the attempts. */
const failuresPerHour = 5;
/** Servers that lost power together would all come at the same time. */
const maxJitter = 0.1;

interface Failure {
  readonly nowMs: number;
  /** From 0 up to, but not including, 1. */
  readonly random: number;
  readonly problem: string;
  readonly retryAfterMs: number | null;
  readonly isMissing: boolean;
}

export function addFailure(
  before: Attempts | null,
  { authority, names }: Pick<Attempts, "authority" | "names">,
  { nowMs, random, problem, retryAfterMs, isMissing }: Failure,
): Attempts {
  const failures = (before?.failures ?? 0) + 1;
  const pauseMs = (pausesMs[failures - 1] ?? laterPauseMs) * (1 + maxJitter * random);
  const recentMs = [...(before?.recentMs ?? []), nowMs].slice(-failuresPerHour);
  const restUntilMs = retryAfterMs === null ? null : nowMs + retryAfterMs;
  return {
    authority,
    names,
    failures,
    recentMs,
    nextMs: Math.round(Math.max(nowMs + pauseMs, restUntilMs ?? 0)),
    restUntilMs,
    problem,
    isMissing,
  };
}

/** When the next attempt may be made; `isAsked`: for a reason to check immediately, without waiting out our own pauses. */
export function findEarliest({ nextMs, restUntilMs, recentMs }: Attempts, isAsked: boolean): number {
  const [oldest = 0] = recentMs;
  const limitMs = recentMs.length < failuresPerHour ? 0 : oldest + hourMs;
  return Math.max(isAsked ? 0 : nextMs, restUntilMs ?? 0, limitMs);
}

/** False for what a clock that was ahead has left: it would hold everything back for longer than any pause. */
export function arePlausible({ recentMs }: Attempts, nowMs: number): boolean {
  return recentMs.every((failedMs) => failedMs <= nowMs + hourMs);
}

/** Null for what this module did not write. */
export function readAttempts(text: string): Attempts | null {
  try {
    const attempts = JSON.parse(text) as Attempts;
    const { failures, nextMs, recentMs, names, restUntilMs } = attempts;
    const areNumbers = [failures, nextMs, restUntilMs ?? 0, ...recentMs].every((value) => Number.isFinite(value));
    return areNumbers && Array.isArray(names) ? attempts : null;
  } catch {
    return null;
  }
}
