/** What the server does by itself in the background: retention, and clearing away what has run out. */

import type { Services } from "../dependencies.ts";
import { idleLifetimeMs } from "../domain/session.ts";
import { watchSteps } from "../lib/clock.ts";

export type JobServices = Pick<Services, "store" | "clock" | "log">;

export interface Jobs {
  /** Starts no further step; resolves when the running one has ended. */
  stop(): Promise<void>;
}

export interface JobTimes {
  /** Wait after the start, so that the first visitors are not behind a clearing. */
  firstMs: number;
  intervalMs: number;
}

/** One commit of this many, then a pause: streams must not wait for a clearing. */
const chunk = 200;
const pauseMs = 20;
/** A step forward of more than this is more than a correction: it may itself be corrected. */
const longestStepMs = 60 * 60_000;

/**
 * Starts the jobs, each once an hour. Never throws later on: what fails is logged and tried again in an hour. So is what
 * a clock that jumped ahead since the last look would delete: once deleted, no right time brings it back.
 *
 * Several processes on one database may run them at once: each deletion is one commit, and what is gone is gone.
 */
export function startJobs(services: JobServices, times: JobTimes = { firstMs: 30_000, intervalMs: 3_600_000 }): Jobs {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const takeStepMs = watchSteps(services.clock);
  let timer = arm(times.firstMs);

  function arm(delayMs: number) {
    const next = setTimeout(() => {
      running = runUnlessAhead().then(() => {
        if (!isStopped) timer = arm(times.intervalMs);
      });
    }, delayMs);
    next.unref();
    return next;
  }

  async function runUnlessAhead(): Promise<void> {
    const stepMs = takeStepMs();
    if (stepMs <= longestStepMs) return await runJobs(services, () => isStopped);
    services.log.warn("clock was set forward: nothing is cleared away before the next look", { stepMs });
  }

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

/** All jobs once, one after the other; a failure of one does not keep the others. */
export async function runJobs(services: JobServices, isStopped: () => boolean = () => false): Promise<void> {
  const { store, clock, log } = services;
  const jobs: [name: string, step: () => Promise<number>][] = [
    ["retention", () => store.conversations.deleteExpired(clock.nowMs(), chunk)],
    ["idempotency", () => store.idempotency.purge(clock.nowMs(), chunk)],
    ["sessions", () => store.sessions.purge(clock.nowMs(), clock.nowMs() - idleLifetimeMs).then(() => 0)],
  ];
  for (const [name, step] of jobs) {
    try {
      const deleted = await repeat(step, isStopped);
      if (deleted > 0) log.info("cleared away", { job: name, deleted });
    } catch (error) {
      log.error("background job failed", { job: name, error });
    }
  }
}

/** Until a step finds less than a chunk. */
async function repeat(step: () => Promise<number>, isStopped: () => boolean): Promise<number> {
  let total = 0;
  while (!isStopped()) {
    const deleted = await step();
    total += deleted;
    if (deleted < chunk) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return total;
}
