/** Clocks, and times as text. */
import { dayMs } from "./instant.ts";

/** Time as a dependency, so that tests control it. */
export interface Clock {
  /** Wall-clock time in whole milliseconds since the Unix epoch; the operator may change it. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start; never goes back, never jumps. Use it for windows and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** The wall clock of several machines: this one's, corrected to that of the database that they share; whole milliseconds. */
export function createSharedClock(shared: { readonly clockOffsetMs: number }, own: Clock = systemClock): Clock {
  return { nowMs: () => Math.round(own.nowMs() + shared.clockOffsetMs), monotonicMs: own.monotonicMs };
}

/**
 * Returns a function that reports by how many milliseconds the wall clock was stepped since its last call; elapsed time
 * does not count.
 */
export function watchSteps(clock: Clock): () => number {
  let offsetMs = clock.nowMs() - clock.monotonicMs();
  return () => {
    const beforeMs = offsetMs;
    offsetMs = clock.nowMs() - clock.monotonicMs();
    return offsetMs - beforeMs;
  };
}

/** The moment of a change, later than that of the one before, even if the clock went back: no two of them are the same. */
export function toLaterMs(nowMs: number, beforeMs: number): number {
  return Math.max(nowMs, beforeMs + 1);
}

/** The UTC calendar day of an instant, `YYYY-MM-DD`. */
export function toUtcDay(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** Whole seconds until the next UTC midnight; at least 1. */
export function secondsToMidnight(nowMs: number): number {
  return Math.max(1, Math.ceil((dayMs - (nowMs % dayMs)) / 1000));
}

/** Whole seconds until the next UTC month; at least 1. */
export function secondsToNextMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Math.max(1, Math.ceil((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - nowMs) / 1000));
}

/** RFC 3339 in UTC with milliseconds: the form of every timestamp on the wire. */
export function toRfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function toNullableRfc3339(epochMs: number | null): string | null {
  return epochMs === null ? null : toRfc3339(epochMs);
}

/** A timestamp for file names, `20260102T030405Z`; sorts by time. */
export function fileStamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}
