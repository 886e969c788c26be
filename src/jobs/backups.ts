/** Backups by themselves: each in a process of its own, so that no stream waits for it, and the oldest leave. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Services } from "../dependencies.ts";
import { fileStamp } from "../lib/clock.ts";
import type { Jobs } from "./jobs.ts";
import { startSchedule } from "./schedule.ts";

export interface BackupPlan {
  dataDir: string;
  /** Where they go. */
  dir: string;
  /** How many are kept. */
  keep: number;
  /** Five fields, local time; null: none by themselves. */
  cron: string | null;
}

type BackupServices = Pick<Services, "clock" | "log" | "measurements">;

const name = /^companiond-\d{8}T\d{6}Z\.db$/;
/** What a backup that was cut off has left behind. */
const partialName = /^companiond-.*\.partial(-journal)?$/;
/** A backup that takes longer than this hangs: the next one must get its turn. */
const limitMs = 6 * 60 * 60_000;

/** This program as a command: the executable, or Bun with the program's source. */
export function ownCommand(): string[] {
  return Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN")
    ? [process.execPath]
    : [process.execPath, Bun.main];
}

/** Calls `run` at every instant of the schedule; never again before the promise of the last call has settled. */
type Scheduler = (cron: string, run: () => Promise<void>) => { stop(): void };

export function startBackups(
  services: BackupServices,
  plan: BackupPlan,
  command = ownCommand(),
  schedule: Scheduler = (cron, run) => startSchedule(services.clock, cron, run),
): Jobs {
  if (plan.cron === null) return { stop: async () => {} };
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

/** One backup, and the oldest away. Never rejects: what fails is logged and counted. */
export async function runBackup(
  { clock, log, measurements: { backups } }: BackupServices,
  { dataDir, dir, keep }: BackupPlan,
  command: readonly string[],
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
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
    // Only after a success: where backups fail, the ones that are there must stay.
    removeOldest(dir, keep, basename(file));
  } catch (error) {
    if (stopping.aborted) return;
    backups.failed++;
    log.error("backup failed", { file, error });
  }
}

async function runCommand(command: string[], signal: AbortSignal): Promise<void> {
  // An empty environment: a backup needs no secrets, and settings come as arguments.
  const child = Bun.spawn(command, { env: {}, stdin: "ignore", stdout: "ignore", stderr: "pipe", signal });
  const [problem, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (exitCode !== 0) throw new Error(problem.trim() || `the backup's process ended with ${exitCode}`);
}

/** Named by its second, or by the next one that is free: after the clock was set back, the same second comes again. */
function findFreeFile(dir: string, nowMs: number): string {
  const file = join(dir, `companiond-${fileStamp(nowMs)}.db`);
  return existsSync(file) ? findFreeFile(dir, nowMs + 1000) : file;
}

/** What claims to be later than the one just `made` is from a clock that was ahead: it is older than all others. */
function removeOldest(dir: string, keep: number, made: string): void {
  const kept = readdirSync(dir)
    .filter((one) => name.test(one))
    .sort();
  const oldestFirst = [...kept.filter((one) => one > made), ...kept.filter((one) => one <= made)];
  for (const old of oldestFirst.slice(0, Math.max(0, oldestFirst.length - keep))) rmSync(join(dir, old));
}
