/** A clock that stands still until it is moved. */
import type { Clock } from "../../src/lib/clock.ts";

export interface ManualClock extends Clock {
  /** Advances both wall clock and monotonic time. */
  advance(durationMs: number): void;
  /** Steps only the wall clock, as an operator does. */
  step(durationMs: number): void;
}

export function createManualClock(startMs = Date.UTC(2026, 0, 15, 12)): ManualClock {
  let wallMs = startMs;
  let monotonicMs = 1000;
  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    advance(durationMs) {
      wallMs += durationMs;
      monotonicMs += durationMs;
    },
    step(durationMs) {
      wallMs += durationMs;
    },
  };
}
