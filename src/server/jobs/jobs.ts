/** The server's background jobs: retention, and the deletion of expired data. */

import type { Services } from "../../core/dependencies.ts";
import { noteReached } from "../../core/turns/spending.ts";
import { failedMailKeptMs } from "../../domain/mail.ts";
import { idleLifetimeMs } from "../../domain/session.ts";
import { deliveryLifetimeMs, maxDeliveries } from "../../domain/webhook.ts";
import { watchSteps } from "../../lib/clock.ts";

export type JobServices = Pick<
  Services,
  "store" | "coordination" | "clock" | "log" | "measurements" | "indexing" | "events" | "live"
>;

export interface Jobs {
  /** Starts no further steps; resolves when the current one has finished, or takes too long to wait for. */
  stop(): Promise<void>;
}

export interface JobTimes {
  /** Delay after the start, so that the first visitors do not wait for a cleanup. */
  firstMs: number;
  intervalMs: number;
  /** How long stopping waits for the current step: with a database that does not answer, it would be a minute. */
  lastStepMs?: number;
}

/** Rows per commit, with a pause after each: streams must not wait for a cleanup. */
const chunk = 200;
const pauseMs = 20;
/** Of calls of tools whose reply was not stored: as long as a client may send the message again, for which they are not made again. */
const orphanedAfterMs = 24 * 60 * 60_000;
const usualLastStepMs = 5_000;
/** A larger forward step is more than a correction, and may itself be corrected. */
const maxStepMs = 60 * 60_000;

/**
 * Starts the jobs, each of which runs once an hour. Later failures never throw: they are logged and retried an hour
 * later. The same holds for deletions that become due because the clock jumped ahead since the last run: a corrected
 * clock would not bring the data back.
 *
 * Of several servers on one database one runs them. Even if two did: each deletion is one commit and can run twice.
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

  async function isOurs(): Promise<boolean> {
    try {
      return await services.coordination.duties.take("jobs");
    } catch (error) {
      services.log.error("background jobs left for an hour", { error });
      return false;
    }
  }

  async function runUnlessAhead(): Promise<void> {
    if (!(await isOurs())) return;
    const stepMs = takeStepMs();
    if (stepMs <= maxStepMs) return await runJobs(services, () => isStopped);
    services.log.warn("the clock was set forward: deleting nothing before the next run", { stepMs });
  }

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return Promise.race([running, Bun.sleep(times.lastStepMs ?? usualLastStepMs)]);
    },
  };
}

/** Runs all jobs once, one after the other; a failing job does not stop the rest. */
export async function runJobs(services: JobServices, isStopped: () => boolean = () => false): Promise<void> {
  const { store, clock, log } = services;
  const jobs: [name: string, step: () => Promise<number>][] = [
    ["retention", () => deleteExpired(services)],
    ["tool calls", () => store.toolCalls.deleteOrphans(clock.nowMs() - orphanedAfterMs, chunk)],
    ["idempotency", () => store.idempotency.purge(clock.nowMs(), chunk)],
    ["challenges", () => store.challenges.purge(clock.nowMs(), chunk)],
    ["spending", () => settleDueSpending(services)],
    ["knowledge", () => wakeIndexing(services)],
    ["webhooks", () => clearDeliveries(services)],
    ["mail", () => store.mails.purge(clock.nowMs() - failedMailKeptMs, chunk)],
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

/** A command may have queued sources. */
async function wakeIndexing({ indexing }: JobServices): Promise<number> {
  indexing.wake();
  return 0;
}

/** A command may have changed something. */
async function clearDeliveries({ store, events, clock }: JobServices): Promise<number> {
  events.wake();
  return await store.webhooks.purge(clock.nowMs() - deliveryLifetimeMs, maxDeliveries, chunk);
}

/** Of calls whose end was never reported: they count as if they had cost all that was reserved for them. */
async function settleDueSpending(services: JobServices): Promise<number> {
  const { settled, reached } = await services.store.spending.settleDue(services.clock.nowMs(), chunk);
  noteReached(services, reached);
  return settled;
}

/** Repeats until a step finds less than a full chunk. */
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

async function deleteExpired({ store, clock, live }: JobServices): Promise<number> {
  const deleted = await store.conversations.deleteExpired(clock.nowMs(), chunk);
  if (deleted > 0) live.noteErased(null);
  return deleted;
}
