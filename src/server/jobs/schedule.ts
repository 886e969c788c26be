/** Runs a cron schedule by the current wall clock, even when the clock is changed meanwhile. */
import type { Clock } from "../../lib/clock.ts";

export interface Schedule {
  stop(): void;
}

/** We poll: one timer to the next instant would miss a clock change, and a machine without a battery starts in 1970. */
const lookEveryMs = 1000;
/** NTP corrects by less; a run that was on time just before must not come due again. */
const stepMs = 60_000;

/**
 * Calls `run` at the instants of `cron`: five fields, local time. Never calls it before the promise of the previous
 * call has settled: instants in between are skipped. If the clock is set forward, everything skipped becomes one run.
 */
export function startSchedule(clock: Pick<Clock, "nowMs">, cron: string, run: () => Promise<void>): Schedule {
  const isDue = createDueCheck(cron, clock.nowMs());
  let isRunning = false;
  const timer = setInterval(() => {
    if (!isDue(clock.nowMs()) || isRunning) return;
    isRunning = true;
    void run().finally(() => {
      isRunning = false;
    });
  }, lookEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Returns a function that says whether an instant of the schedule has passed since the last one it reported. */
export function createDueCheck(cron: string, startMs: number): (nowMs: number) => boolean {
  let nextMs = findNext(cron, startMs);
  let askedAtMs = startMs;
  return (nowMs) => {
    if (nowMs < askedAtMs - stepMs) nextMs = findNext(cron, nowMs);
    askedAtMs = nowMs;
    if (nowMs < nextMs) return false;
    nextMs = findNext(cron, nowMs);
    return true;
  };
}

function findNext(cron: string, afterMs: number): number {
  return Bun.cron.parse(cron, new Date(afterMs))?.getTime() ?? Number.POSITIVE_INFINITY;
}
