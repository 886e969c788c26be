/** Checks the storage to which backups are uploaded: whether it can be listed, and when the last one arrived. */
import type { Config } from "../../config/config.ts";
import { writeMadeAt } from "../../core/backups/names.ts";
import { askStorage } from "../storage-task.ts";
import { describeFailure, type Finding, fail, ok, warn } from "./finding.ts";

/** Whoever asks a running server waits for all of its checks together. */
const limitMs = 20_000;

export async function examineBackupStorage(config: Config): Promise<Finding[]> {
  const name = "backups off the machine";
  const { cron, storage } = config.backup;
  if (config.database !== null) return [];
  if (storage === null) {
    // Whoever has not scheduled any is told that by the check of backups.
    if (cron === null) return [];
    return [ok(name, "None are uploaded. Copy them elsewhere by other means, or set COMPANIOND_BACKUP_S3_BUCKET.")];
  }
  try {
    const asked = { ageRecipient: storage.ageRecipient };
    const [newest, ...older] = await askStorage(undefined, storage, "list", asked, limitMs);
    const encryption = storage.ageRecipient === null ? "Uploads are not encrypted." : "Uploads are encrypted with age.";
    if (newest === undefined) {
      const advice = "Upload one now, to see that it works: companiond backup s3:";
      return [warn(name, `The storage answers, and holds no backup yet. ${encryption}`, advice)];
    }
    const made = `The newest of ${older.length + 1} is of ${writeMadeAt(newest.name)}.`;
    return [ok(name, `${made} ${encryption}`)];
  } catch (error) {
    return [fail(name, `${describeFailure(error)}.`, "Backups stay on this machine until this is fixed.")];
  }
}
