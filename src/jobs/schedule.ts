/** Runs what a cron schedule asks for, by the wall clock as it stands, also where that was set meanwhile. */
import type { Clock } from "../lib/clock.ts";

export interface Schedule {
  stop(): void;
}

/** One timer until the next instant would count down past a clock that is set: a machine without a battery starts in 1970. */
const lookEveryMs = 1000;
/** NTP moves by less; a run that was on time just before must not be on time again. */
const stepMs = 60_000;

/**
 * Calls `run` at the instants of `cron`: five fields, local time. Never again before the promise of the last call has
 * settled: what comes due meanwhile is left out. All that a clock set forward passes over is one run.
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

/** A function that tells, when asked at an instant, whether an instant of the schedule has come since the last one it told of. */
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
