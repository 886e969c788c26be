/** Which backups the storage holds: one is good if the checksum beside it was written, which is the last step. */
import type { BackupStorage, StoredObject } from "../../contracts/backup-storage.ts";
import { findMadeAtMs, isStoredName, nameStart, toSumsName } from "./names.ts";

export interface StoredBackup {
  name: string;
  bytes: number;
  madeAtMs: number;
}

export interface Catalog {
  /** Newest first. */
  good: StoredBackup[];
  /** Of uploads that did not come to their end, or are on their way. */
  unfinished: StoredObject[];
  /** Of everything that begins like a backup. */
  names: ReadonlySet<string>;
}

export async function readCatalog(storage: BackupStorage): Promise<Catalog> {
  const objects = await storage.list(nameStart);
  const names = new Set(objects.map(({ name }) => name));
  const good: StoredBackup[] = [];
  const unfinished: StoredObject[] = [];
  for (const object of objects) {
    const { name, bytes } = object;
    if (!isStoredName(name)) continue;
    const madeAtMs = findMadeAtMs(name);
    if (madeAtMs !== null && names.has(toSumsName(name))) good.push({ name, bytes, madeAtMs });
    else unfinished.push(object);
  }
  good.sort((one, other) => other.madeAtMs - one.madeAtMs || (one.name < other.name ? 1 : -1));
  return { good, unfinished, names };
}
