/** Keeps the newest good backups in the storage, and removes what interrupted uploads have left. */
import { type BackupStorage, StorageFailure } from "../../contracts/backup-storage.ts";
import { dayMs } from "../../lib/instant.ts";
import { readCatalog } from "./catalog.ts";
import { toSumsName } from "./names.ts";

export interface Rotation {
  /** The one just made, which is kept whatever the others' names say. */
  made: string;
  keep: number;
  nowMs: number;
}

export interface Rotated {
  removed: string[];
  /** Null if all that should go is gone. */
  problem: string | null;
}

/** Only after a success: while backups fail, the existing ones must stay. Touches nothing that is not a backup. */
export async function removeOldest(storage: BackupStorage, { made, keep, nowMs }: Rotation): Promise<Rotated> {
  const removed: string[] = [];
  try {
    const { good, unfinished } = await readCatalog(storage);
    const madeAt = good.findIndex(({ name }) => name === made);
    if (madeAt === -1) {
      const problem = `The storage does not list ${made}, which was just uploaded. Look with companiond backups list.`;
      return { removed, problem };
    }
    // Those that claim to be newer than the one just made date from a clock that was ahead: they count as the oldest.
    const newestFirst = [...good.slice(madeAt), ...good.slice(0, madeAt)];
    for (const { name } of newestFirst.slice(keep)) {
      // In this order: interrupted between them, it is an unfinished one, and not one that seems good.
      await storage.remove(toSumsName(name));
      await storage.remove(name);
      removed.push(name);
    }
    for (const { name, storedAtMs } of unfinished) {
      // Another server's upload may be on its way; none takes a day.
      if (nowMs - storedAtMs < dayMs) continue;
      await storage.remove(name);
      removed.push(name);
    }
    return { removed, problem: null };
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    return { removed, problem: error.message };
  }
}
