/** Scheduled backups. Each runs in its own process so that streams never wait for it; old backups are deleted. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Services } from "../../core/dependencies.ts";
import { type Clock, fileStamp } from "../../lib/clock.ts";
import { ownCommand } from "../../lib/own-command.ts";
import type { UploadPlan } from "./backup-upload.ts";
import type { Jobs } from "./jobs.ts";

export interface BackupPlan {
  dataDir: string;
  /** Where backups are written. */
  dir: string;
  /** How many backups are kept. */
  keep: number;
  /** Five cron fields in local time; null for no scheduled backups. */
  cron: string | null;
  /** Where they are also uploaded; null for nowhere. */
  upload?: Omit<UploadPlan, "keep"> | null;
}

type BackupServices = Pick<Services, "clock" | "log" | "measurements">;

const name = /^companiond-\d{8}T\d{6}Z\.db$/;
/** What an interrupted backup leaves behind. */
const partialName = /^companiond-.*\.partial(-journal)?$/;
/** A backup that takes longer is considered hung, so that the next one can run. */
const limitMs = 6 * 60 * 60_000;

/** Calls `run` at every instant of the schedule, but never before the promise of the previous call has settled. */
type Scheduler = (cron: string, run: () => Promise<void>) => { stop(): void };

export function startBackups(
  services: BackupServices,
  plan: BackupPlan,
  command = ownCommand(),
  schedule: Scheduler = (cron, run) => startSchedule(services.clock, cron, run),
): Jobs {
  if (plan.cron === null) return { stop: async () => {} };
  services.measurements.backupsScheduledAtMs = services.clock.nowMs();
  if (plan.upload) services.measurements.uploadsScheduledAtMs = services.clock.nowMs();
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const job = schedule(plan.cron, () => {
    running = runBackup(services, plan, command, stopping.signal);
    return running;
  });
  return {
    stop() {
      job.stop();
      stopping.abort();
      return running;
    },
  };
}

/** Makes one backup, deletes the oldest, and uploads it. Never rejects: failures are logged and counted. */
export async function runBackup(
  services: BackupServices,
  plan: BackupPlan,
  command: readonly string[],
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  const file = await makeBackup(services, plan, command, stopping);
  if (file === null || !plan.upload || stopping.aborted) return;
  const { uploadScheduled } = await import("./backup-upload.ts");
  await uploadScheduled(services, { ...plan.upload, keep: plan.keep }, { file, command, stopping, limitMs });
}

/** Resolves with the file, or null if there is none. */
async function makeBackup(
  { clock, log, measurements: { backups } }: BackupServices,
  { dataDir, dir, keep }: BackupPlan,
  command: readonly string[],
  stopping: AbortSignal,
): Promise<string | null> {
  const startedMs = performance.now();
  const file = findFreeFile(dir, clock.nowMs());
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const partial of readdirSync(dir).filter((one) => partialName.test(one))) rmSync(join(dir, partial));
    await runCommand(
      [...command, "backup", file, "--data-dir", dataDir, "--json"],
      AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]),
    );
    backups.succeeded++;
    backups.lastSuccessAtMs = clock.nowMs();
    log.info("database backed up", { file, durationMs: Math.round(performance.now() - startedMs) });
    // Only after a success: if backups fail, the existing ones must stay.
    removeOldest(dir, keep, basename(file));
    return file;
  } catch (error) {
    if (stopping.aborted) return null;
    backups.failed++;
    log.error("backup failed", { file, error });
    return null;
  }
}

async function runCommand(command: string[], signal: AbortSignal): Promise<void> {
  // An empty environment: a backup needs no secrets, and its settings come as arguments.
  const child = Bun.spawn(command, { env: {}, stdin: "ignore", stdout: "ignore", stderr: "pipe", signal });
  const [problem, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (exitCode !== 0) throw new Error(problem.trim() || `the backup process exited with code ${exitCode}`);
}

/** Named after its second, or the next free one: after the clock is set back, the same second occurs twice. */
function findFreeFile(dir: string, nowMs: number): string {
  const file = join(dir, `companiond-${fileStamp(nowMs)}.db`);
  return existsSync(file) ? findFreeFile(dir, nowMs + 1000) : file;
}

/**
 * A file that claims to be newer than the one just `made` dates from a clock that was ahead: it counts as the oldest.
 */
function removeOldest(dir: string, keep: number, made: string): void {
  const kept = readdirSync(dir)
    .filter((one) => name.test(one))
    .sort();
  const oldestFirst = [...kept.filter((one) => one > made), ...kept.filter((one) => one <= made)];
  for (const old of oldestFirst.slice(0, Math.max(0, oldestFirst.length - keep))) rmSync(join(dir, old));
}

interface Schedule {
  stop(): void;
}

/** We poll: one timer to the next instant would miss a clock change, and a machine without a battery starts in 1970. */
const pollEveryMs = 1000;
/** NTP corrects by less; a run that was on time just before must not come due again. */
const stepMs = 60_000;

/**
 * By the current wall clock, even when the clock is changed meanwhile. Calls `run` at the instants of `cron`: five
 * fields, local time. Never calls it before the promise of the previous call has settled: instants in between are
 * skipped. If the clock is set forward, everything skipped becomes one run.
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
  }, pollEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Returns a function that reports whether an instant of the schedule has passed since the last one it reported. */
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
