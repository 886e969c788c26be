/** Time as an argument, so that tests decide what time it is. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch; may be stepped by the operator. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start; never goes back, never jumps. For windows and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** A function that tells by how much the wall clock was stepped since it was asked last; time that passes is no step. */
export function watchSteps(clock: Clock): () => number {
  let offsetMs = clock.nowMs() - clock.monotonicMs();
  return () => {
    const beforeMs = offsetMs;
    offsetMs = clock.nowMs() - clock.monotonicMs();
    return offsetMs - beforeMs;
  };
}

/** The UTC calendar day of an instant, `YYYY-MM-DD`. */
export function toUtcDay(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** RFC 3339 in UTC with milliseconds, the form of every instant on the wire. */
export function toRfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** An instant as part of a file's name, `20260102T030405Z`: sorts by time. */
export function fileStamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}
