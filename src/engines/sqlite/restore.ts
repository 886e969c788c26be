/** Replaces the database with a backup: verified first, never while in use, and keeping the old database aside. */
import { Database } from "bun:sqlite";
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import type { AsCaller, Restored, StorageFacts } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import { fileStamp } from "../../lib/clock.ts";
import { codeOf } from "../../lib/error-code.ts";
import { syncFile } from "../../lib/sync-file.ts";
import { databasePath } from "./connection.ts";
import { lockDataDir } from "./data-lock.ts";
import { isBusy } from "./failures.ts";
import { requireReleasedFile } from "./released.ts";
import { verifySqlite } from "./verify.ts";

/** SQLite's files beside a database: without them it may lack its last commits. */
const companions = ["-wal", "-shm"];
const pieceBytes = 1024 * 1024;

/** See `StorageEngine.restore`. */
export function restoreSqlite(
  dataDir: string,
  file: string,
  nowMs: number,
  asCaller: AsCaller = (work) => work(),
): Restored {
  const path = databasePath(dataDir);
  requireReleasedFile(path);
  const given = asCaller(() => openGiven(file));
  try {
    const lock = lockDataDir(dataDir);
    const incoming = `${path}.restoring`;
    try {
      const facts = takeIn(file, given, incoming);
      const keptAs = existsSync(path) ? setAside(path, `${path}.before-restore-${fileStamp(nowMs)}`) : null;
      // Left over without their database, they would be mistaken for the new one's.
      for (const suffix of companions) rmSync(path + suffix, { force: true });
      renameSync(incoming, path);
      syncFile(dataDir);
      return { ...facts, path, keptAs };
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `The backup could not be written to ${dataDir}.`, { cause: error });
    } finally {
      for (const suffix of ["", ...companions, "-journal"]) rmSync(incoming + suffix, { force: true });
      lock.release();
    }
  } finally {
    for (const descriptor of [given.backup, given.log]) if (descriptor !== null) closeSync(descriptor);
  }
}

/** Descriptors of what is restored. */
interface Given {
  backup: number;
  /** A database copied with its log, by other means than ours, is only complete with it. */
  log: number | null;
}

function openGiven(file: string): Given {
  const backup = openToRead(file);
  if (backup === null) throw new AppError("not_found", `There is no file ${file}.`);
  try {
    return { backup, log: openToRead(`${file}-wal`) };
  } catch (error) {
    closeSync(backup);
    throw error;
  }
}

/** Null if there is no such file. */
function openToRead(file: string): number | null {
  let descriptor: number | null = null;
  try {
    // Without waiting for the writer of a pipe, which no signal would end.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (fstatSync(descriptor).isFile()) return descriptor;
  } catch (error) {
    const code = codeOf(error) || "no reason given";
    if (code === "ENOENT") return null;
    throw new AppError("invalid_request", `${file} cannot be read (${code}).`, { cause: error });
  }
  closeSync(descriptor);
  throw new AppError("invalid_request", `${file} is not a regular file.`);
}

/** Makes a copy, so that exactly what was verified is used, and the backup stays untouched. */
function takeIn(file: string, { backup, log }: Given, incoming: string): StorageFacts {
  for (const suffix of ["", ...companions, "-journal"]) rmSync(incoming + suffix, { force: true });
  copyInto(backup, incoming);
  if (log !== null) {
    copyInto(log, `${incoming}-wal`);
    foldIn(incoming, file);
  }
  try {
    const facts = verifySqlite(incoming, "full");
    syncFile(incoming);
    return facts;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const cause = error.cause === undefined ? {} : { cause: error.cause };
    throw new AppError(error.code, error.message.replace(incoming, file), cause);
  }
}

/** Fails if anything is there, even a link that leads nowhere. */
function copyInto(source: number, path: string): void {
  const target = openSync(path, "wx", 0o600);
  try {
    fchmodSync(target, 0o600);
    const piece = Buffer.allocUnsafe(pieceBytes);
    for (let length = readSync(source, piece); length > 0; length = readSync(source, piece)) {
      for (let written = 0; written < length; ) written += writeSync(target, piece, written, length - written);
    }
  } finally {
    closeSync(target);
  }
}

function foldIn(incoming: string, file: string): void {
  try {
    const database = new Database(incoming, { readwrite: true });
    try {
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      database.run("PRAGMA journal_mode = DELETE");
    } finally {
      database.close();
    }
  } catch (error) {
    throw new AppError("invalid_request", `${file} is damaged, or not a database.`, { cause: error });
  }
}

/** Returns the new path. */
function setAside(path: string, kept: string): string {
  foldLogOf(path);
  for (const suffix of ["", ...companions]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
  }
  return kept;
}

/** Refuses if any process has it open; if the database is too damaged to find out, all of its files are moved. */
function foldLogOf(path: string): void {
  let database: Database | null = null;
  try {
    database = new Database(path, { readwrite: true });
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
    database.run("COMMIT");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isBusy(error)) return;
    throw new AppError("conflict", "another program has the database open. Stop it first.", { cause: error });
  } finally {
    database?.close();
  }
}
