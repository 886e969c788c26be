/** Time in evals with recordings: the wall clock stands, so that requests with a time in them stay the same. */
import type { Clock } from "../../../lib/clock.ts";
import type { Recordings } from "./recordings.ts";

export interface RecordedClock extends Clock {
  /** Lets recorded time pass; while recording it passes as it does. */
  pass(durationMs: number): void;
}

export function createRecordedClock({ mode, atMs }: Recordings, real: Clock): RecordedClock {
  let passedMs = 0;
  return {
    nowMs: () => atMs,
    monotonicMs: () => (mode === "record" ? real.monotonicMs() : passedMs),
    pass(durationMs) {
      passedMs += durationMs;
    },
  };
}
