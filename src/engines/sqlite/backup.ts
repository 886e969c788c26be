/** Snapshots of a database in use. */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { AsCaller, StorageFacts } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import { codeOf } from "../../lib/error-code.ts";
import { syncFile } from "../../lib/sync-file.ts";
import { databasePath, hasDatabase } from "./connection.ts";
import { explainOpenFailure, noDatabase } from "./open-failure.ts";
import { requireReleasedFile } from "./released.ts";
import { verifySqlite } from "./verify.ts";

/** See `StorageEngine.backup`. Blocks the event loop: use it in a separate process, or during a start. */
export function backupSqlite(dataDir: string, file: string, asCaller: AsCaller = (work) => work()): StorageFacts {
  const path = databasePath(dataDir);
  if (!hasDatabase(dataDir)) throw noDatabase(dataDir);
  requireReleasedFile(path);
  // The data is opened by its own user, who makes the files beside it; the copy is made by the caller.
  const source = openSource(dataDir, path);
  try {
    return asCaller(() => snapshot(source, file));
  } finally {
    source.close();
  }
}

function openSource(dataDir: string, path: string): Database {
  let source: Database | null = null;
  try {
    source = new Database(path, { readwrite: true });
    source.run("PRAGMA busy_timeout = 5000");
    // Reads, so that all files are open from here on.
    readOne(source, "PRAGMA user_version");
    readOne(source, "SELECT 1 FROM sqlite_master LIMIT 1");
    return source;
  } catch (error) {
    source?.close();
    const explained = explainOpenFailure(dataDir, path, error);
    if (explained instanceof AppError) throw explained;
    throw new AppError("unavailable", `The database in ${dataDir} cannot be read.`, { cause: error });
  }
}

function readOne(database: Database, sql: string): void {
  const statement = database.prepare(sql);
  statement.get();
  statement.finalize();
}

function snapshot(source: Database, file: string): StorageFacts {
  const refusal = new AppError("conflict", `${file} already exists. Name a new file.`);
  if (existsSync(file)) throw refusal;
  // Written under another name, so that nothing that collects backups ever sees half of one.
  const partial = `${file}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    discard(partial);
    // Created before SQLite writes to it: others could read a file that SQLite creates.
    closeSync(openSync(partial, "wx", 0o600));
    chmodSync(partial, 0o600);
    copyInto(source, partial);
    const facts = verifySqlite(partial, "quick");
    syncFile(partial);
    // Unlike a rename, this never replaces a file that appeared meanwhile.
    publish(partial, file, refusal);
    syncFile(dirname(file));
    return facts;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("unavailable", `The backup could not be written to ${file}.`, { cause: error });
  } finally {
    discard(partial);
  }
}

function publish(partial: string, file: string, refusal: AppError): void {
  try {
    linkSync(partial, file);
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? refusal : error;
  }
}

/** Checks first: `force` hides only the most common of the reasons why a file does not exist. */
function discard(path: string): void {
  if (existsSync(path)) rmSync(path);
}

function copyInto(source: Database, target: string): void {
  const statement = source.prepare("VACUUM INTO ?");
  try {
    statement.run(target);
  } finally {
    statement.finalize();
  }
}
