/** The names of backups (when each was made, and how it is packed), and which of them the storage holds. */
import type { BackupStorage, StoredObject } from "../../contracts/backup-storage.ts";
import { fileStamp, toRfc3339 } from "../../lib/clock.ts";

/** What all of ours begin with, in storage and beside scheduled ones here. */
export const nameStart = "companiond-";
const stored = /^companiond-(\d{8}T\d{6}Z)\.db\.zst(\.age)?$/;
const local = /^(?:companiond|before-migration-\d+-to-\d+)-(\d{8}T\d{6}Z)\.db$/;

export const toSumsName = (name: string) => `${name}.sha256`;

export const isStoredName = (name: string) => stored.test(name);

/** Scheduled ones, and those from before migrations. */
export const isLocalName = (name: string) => local.test(name);

export const isEncryptedName = (name: string) => name.endsWith(".age");

export function toStoredName(madeAtMs: number, isEncrypted: boolean): string {
  return `${nameStart}${fileStamp(madeAtMs)}.db.zst${isEncrypted ? ".age" : ""}`;
}

/** Null for a name of another kind, or a time that there is not. */
export function findMadeAtMs(name: string): number | null {
  const stamp = stored.exec(name)?.[1] ?? local.exec(name)?.[1];
  if (stamp === undefined) return null;
  const ms = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  return Number.isNaN(ms) ? null : ms;
}

/** RFC 3339; an empty text if the name holds no time. */
export function writeMadeAt(name: string): string {
  const ms = findMadeAtMs(name);
  return ms === null ? "" : toRfc3339(ms);
}

export interface StoredBackup {
  name: string;
  bytes: number;
  madeAtMs: number;
}

export interface Catalog {
  /** Newest first. */
  good: StoredBackup[];
  /** Of uploads that did not finish, or are under way. */
  unfinished: StoredObject[];
  /** Of everything that begins like a backup. */
  names: ReadonlySet<string>;
}

/** One is good if the checksum beside it was written, which is the last step. */
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
