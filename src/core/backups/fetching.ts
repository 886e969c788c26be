/** Fetches one backup from the storage, checks it against its checksum, and opens it. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { BackupStorage } from "../../contracts/backup-storage.ts";
import { AppError } from "../../domain/errors.ts";
import { isEncryptedName, readCatalog, type StoredBackup, toSumsName } from "./names.ts";
import { findSha256, requireSpace, sumBytes, unpackBackup } from "./packing.ts";

export interface Fetching {
  /** Null for the newest. */
  name: string | null;
  /** An empty directory that is this user's alone. */
  dir: string;
  /** The text of an identity file; null if none was given. */
  identityText: string | null;
}

export interface Fetched {
  name: string;
  /** Of the stored object. */
  bytes: number;
  /** The database. */
  file: string;
}

const maxSumsBytes = 4096;

/** Rejects with `not_found`, `invalid_request`, `unavailable` or `StorageFailure`, and a sentence. */
export async function fetchBackup(storage: BackupStorage, { name, dir, identityText }: Fetching): Promise<Fetched> {
  const backup = await choose(storage, name);
  if (isEncryptedName(backup.name) && identityText === null) {
    throw new AppError(
      "invalid_request",
      `${backup.name} is encrypted. Add --age-identity <file>, the file with its key.`,
    );
  }
  const stored = join(dir, "stored");
  const target = join(dir, "database");
  try {
    requireSpace(stored, backup.bytes);
    await download(storage, backup, stored);
    await unpackBackup({ file: stored, target, identityText: isEncryptedName(backup.name) ? identityText : null });
  } catch (error) {
    // Those of the steps speak of "it", whose name they do not know.
    if (!(error instanceof AppError) || !error.message.startsWith("It ")) throw error;
    throw new AppError(error.code, `${backup.name} cannot be used. ${error.message}`, { cause: error.cause });
  }
  return { name: backup.name, bytes: backup.bytes, file: target };
}

async function choose(storage: BackupStorage, name: string | null): Promise<StoredBackup> {
  const { good, unfinished } = await readCatalog(storage);
  const found = name === null ? good[0] : good.find((one) => one.name === name);
  if (found !== undefined) return found;
  if (name === null)
    throw new AppError("not_found", "There is no backup in the storage. Make one: companiond backup s3:");
  if (unfinished.some((one) => one.name === name)) {
    throw new AppError("invalid_request", `The upload of ${name} did not finish: it has no ${toSumsName(name)}.`);
  }
  throw new AppError("not_found", `There is no backup ${name} in the storage. List them with companiond backups list.`);
}

async function download(storage: BackupStorage, { name, bytes }: StoredBackup, file: string): Promise<void> {
  const sha256 = findSha256(await readSmall(storage, toSumsName(name)), name);
  if (sha256 === null) throw new AppError("invalid_request", `It has no checksum in ${toSumsName(name)}.`);
  const summed = sumBytes(storage.get(name, bytes));
  const output = await open(file, "wx", 0o600);
  try {
    for await (const piece of summed.content) await output.appendFile(piece);
  } finally {
    await output.close();
  }
  if (summed.read().sha256 !== sha256) {
    throw new AppError(
      "invalid_request",
      "It does not match its checksum: it was changed or damaged. Use another backup.",
    );
  }
}

async function readSmall(storage: BackupStorage, name: string): Promise<string> {
  const found = await storage.find(name);
  const pieces: Uint8Array[] = [];
  for await (const piece of storage.get(name, Math.min(found?.bytes ?? 0, maxSumsBytes))) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
