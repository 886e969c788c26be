/** Asks the storage of backups for something, for a command. */
import { type BackupStorageConfig, type Config, readNetworkVariables } from "../config/config.ts";
import { runStorageTask, type StorageTasks } from "../core/backups/storage-process.ts";
import { ownCommand } from "../lib/own-command.ts";
import { type CliIo, CommandFailure } from "./command.ts";

/** An upload or a download that takes longer is considered hung. */
const hungMs = 6 * 60 * 60_000;

/** Throws `CommandFailure` if there is no storage. */
export function requireStorage({ backup: { storage } }: Config): BackupStorageConfig {
  if (storage !== null) return storage;
  throw new CommandFailure(
    "No storage is set up for backups. Set COMPANIOND_BACKUP_S3_BUCKET, _KEY_ID and _SECRET, and _ENDPOINT unless it is AWS.",
  );
}

/** Rejects with `CommandFailure` and the sentence. */
export async function askStorage<Kind extends keyof StorageTasks>(
  environment: CliIo["environment"],
  location: BackupStorageConfig,
  kind: Kind,
  asked: StorageTasks[Kind]["asked"],
  limitMs = hungMs,
): Promise<StorageTasks[Kind]["answer"]> {
  const signal = AbortSignal.timeout(limitMs);
  const network = readNetworkVariables(environment);
  try {
    return await runStorageTask({ command: ownCommand(), network, location, signal }, kind, asked);
  } catch (error) {
    if (signal.aborted) {
      const limit = limitMs === hungMs ? "6 hours" : `${limitMs / 1000} s`;
      throw new CommandFailure(`The storage was not done within ${limit}. Check the network, and try again later.`);
    }
    throw new CommandFailure(error instanceof Error ? error.message : String(error));
  }
}
