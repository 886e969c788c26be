/** Uploads a scheduled backup, in a separate process. The local one counts as made even if this fails. */
import { basename } from "node:path";
import type { BackupStorageConfig } from "../../config/config.ts";
import { findMadeAtMs } from "../../core/backups/names.ts";
import { runStorageTask } from "../../core/backups/storage-process.ts";
import type { Services } from "../../core/dependencies.ts";

export interface UploadPlan {
  storage: BackupStorageConfig;
  /** What of the environment the process gets. */
  network: Readonly<Record<string, string>>;
  /** How many are kept there. */
  keep: number;
}

/** Never rejects: failures are logged and counted. `signal` has the limit on its time, too. */
export async function uploadScheduled(
  { clock, log, measurements: { backupUploads } }: Pick<Services, "clock" | "log" | "measurements">,
  { storage, network, keep }: UploadPlan,
  {
    file,
    command,
    stopping,
    limitMs,
  }: { file: string; command: readonly string[]; stopping: AbortSignal; limitMs: number },
): Promise<void> {
  const startedMs = performance.now();
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]);
  const nowMs = clock.nowMs();
  const madeAtMs = findMadeAtMs(basename(file)) ?? nowMs;
  try {
    const upload = { file, madeAtMs, keep, ageRecipient: storage.ageRecipient, nowMs };
    const done = await runStorageTask({ command, network, location: storage, signal }, "upload", upload);
    backupUploads.succeeded++;
    backupUploads.lastSuccessAtMs = clock.nowMs();
    const durationMs = Math.round(performance.now() - startedMs);
    log.info("backup uploaded", { name: done.name, bytes: done.bytes, removed: done.removed, durationMs });
    if (done.rotationProblem !== null) log.warn("old uploads could not be removed", { reason: done.rotationProblem });
  } catch (error) {
    if (stopping.aborted) return;
    backupUploads.failed++;
    log.error("backup upload failed", { file, reason: error instanceof Error ? error.message : String(error) });
  }
}
