/** Snapshots of a database in use, and the check whether such a file can be trusted. */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { StorageFacts } from "../engine.ts";
import { databasePath } from "./connection.ts";
import { migrations } from "./migrations.ts";
import { applicationId } from "./migrator.ts";
import { findDifferences } from "./schema-objects.ts";

/** See `StorageEngine.backup`. Blocks the event loop: use it in a separate process, or during a start. */
export function backupSqlite(dataDir: string, file: string): StorageFacts {
  const path = databasePath(dataDir);
  if (!existsSync(path)) throw new AppError("not_found", `There is no database in ${dataDir}.`);
  return snapshot(path, file);
}

function snapshot(path: string, file: string): StorageFacts {
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
    copyInto(path, partial);
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

function copyInto(path: string, target: string): void {
  const database = new Database(path, { readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    const statement = database.prepare("VACUUM INTO ?");
    statement.run(target);
    statement.finalize();
  } finally {
    database.close();
  }
}

/** Throws `invalid_request` with a sentence if the file is not an intact database of this program. */
export function verifySqlite(file: string, depth: "quick" | "full"): StorageFacts {
  const refuse = (reason: string, cause?: unknown) =>
    new AppError("invalid_request", `${file} ${reason}`, cause === undefined ? {} : { cause });
  let database: Database;
  try {
    database = new Database(file, { readonly: true });
  } catch (error) {
    throw refuse("cannot be opened.", error);
  }
  try {
    const read = (pragma: string) => {
      const statement = database.prepare<Record<string, unknown>, []>(`PRAGMA ${pragma}`);
      const row = statement.get();
      statement.finalize();
      return row === null ? null : Object.values(row)[0];
    };
    if (read("application_id") !== applicationId) throw refuse("is not a companiond database.");
    const schemaVersion = Number(read("user_version"));
    if (schemaVersion > migrations.length) {
      throw refuse(`was written by a newer companiond (schema ${schemaVersion}; this one knows ${migrations.length}).`);
    }
    const verdict = read(depth === "full" ? "integrity_check(1)" : "quick_check(1)");
    if (verdict !== "ok") throw refuse(`is damaged: ${String(verdict)}.`);
    if (depth === "full" && read("foreign_key_check") !== null)
      throw refuse("is damaged: a row refers to a missing one.");
    return { bytes: statSync(file).size, schemaVersion, differences: findDifferences(database) };
  } catch (error) {
    throw error instanceof AppError ? error : refuse("is damaged, or not a database.", error);
  } finally {
    database.close();
  }
}

/** Syncs a file, or a directory whose entries changed. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
