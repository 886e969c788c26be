/** The storages that backups can be uploaded to; an engine is loaded when it is asked for. */
import type { BackupStorage, StorageLocation } from "../contracts/backup-storage.ts";

export async function openBackupStorage(location: StorageLocation): Promise<BackupStorage> {
  const { createS3 } = await import("../engines/s3/s3.ts");
  return createS3(location);
}
