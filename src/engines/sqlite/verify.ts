/** Checks whether a database file can be trusted: a backup, a copy, or the data itself where it is. */

import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { BackupFacts, StorageFacts } from "../../contracts/store/engine.ts";
import type { StoredFacts } from "../../contracts/store/inspection.ts";
import { requireReleased, schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { codeOf } from "../../lib/error-code.ts";
import { hasSealed, hasSealedWords } from "../store-shared/rows/sealed-checks.ts";
import { databasePath } from "./connection.ts";
import { isBusy } from "./failures.ts";
import { migrations } from "./migrations.ts";
import { explainOpenFailure, findFileObstacle } from "./open-failure.ts";
import { applicationId, openUnchanging, requireReleasedFile } from "./released.ts";
import { findDifferences } from "./schema-differences.ts";

export type Depth = "quick" | "full";

/** Throws `invalid_request` with a sentence if the file is not an intact database of this program; see `requireReleased`. */
export function verifySqlite(file: string, depth: Depth): StorageFacts {
  return verifyOpened(file, depth, () => new Database(file, { readonly: true }));
}

/** The same for the database of the directory. Throws `unavailable` if it cannot be examined: then it may well be intact. */
export function verifyInPlace(dataDir: string): StorageFacts {
  return readInPlace(dataDir, (path, open) => verifyOpened(path, "full", open));
}

/** See `StorageEngine.inspectStored`. */
export function inspectStored(dataDir: string): StoredFacts | null {
  return readInPlace(dataDir, (path, open) => {
    const database = openOrRefuse(path, open);
    try {
      if (Number(readFirst(database, "PRAGMA user_version")) !== schemaAfter(migrations.length)) return null;
      const proof = readFirst(database, "SELECT sealed FROM server_secrets WHERE name = 'proof'");
      const is = (condition: string) => readFirst(database, `SELECT ${condition}`) === 1;
      return {
        proof: typeof proof === "string" ? proof : null,
        hasSealed: is(hasSealed),
        hasSealedWords: is(hasSealedWords),
        hasStopBudgets: is("EXISTS (SELECT 1 FROM budgets WHERE action = 'stop')"),
      };
    } catch (error) {
      throw refuse(path, "is damaged, or not a database.", error);
    } finally {
      database.close();
    }
  });
}

function readInPlace<T>(dataDir: string, read: (path: string, open: () => Database) => T): T {
  const path = databasePath(dataDir);
  requireReleasedFile(path);
  const obstacle = findFileObstacle(dataDir, path);
  const isReadOnly = obstacle?.kind === "read_only";
  if (isReadOnly && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new AppError(
      "unavailable",
      `${obstacle.detail} The last writes are still in the log beside the database, which cannot be read there.`,
    );
  }
  if (obstacle !== null && !isReadOnly) throw explainOpenFailure(dataDir, path, new Error("it may not be opened"));
  try {
    return read(path, () => (isReadOnly ? openUnchanging(path) : new Database(path, { readonly: true })));
  } catch (error) {
    if (!(error instanceof AppError) || !isOutOfReach(error.cause)) throw error;
    throw new AppError("unavailable", `${path} cannot be looked at now.`, { cause: error.cause });
  }
}

/** It shows nothing of the file's content. */
function isOutOfReach(cause: unknown): boolean {
  const code = codeOf(cause);
  return isBusy(cause) || /^SQLITE_(CANTOPEN|READONLY|PERM|AUTH|NOMEM)/.test(code);
}

function verifyOpened(file: string, depth: Depth, open: () => Database): StorageFacts {
  const database = openOrRefuse(file, open);
  try {
    const read = (pragma: string) => readFirst(database, `PRAGMA ${pragma}`);
    if (read("application_id") !== applicationId) throw refuse(file, "is not a companiond database.");
    const schemaVersion = Number(read("user_version"));
    requireReleased(schemaVersion);
    const known = schemaAfter(migrations.length);
    if (schemaVersion > known) {
      const versions = `schema ${schemaVersion}; this one knows ${known}`;
      throw refuse(file, `was written by a newer companiond (${versions}).`);
    }
    const verdict = read(depth === "full" ? "integrity_check(1)" : "quick_check(1)");
    if (verdict !== "ok") throw refuse(file, `is damaged: ${String(verdict)}.`);
    if (depth === "full" && read("foreign_key_check") !== null)
      throw refuse(file, "is damaged: a row refers to a missing one.");
    return { bytes: statSync(file).size, schemaVersion, differences: findDifferences(database) };
  } catch (error) {
    throw error instanceof AppError ? error : refuse(file, "is damaged, or not a database.", error);
  } finally {
    database.close();
  }
}

function openOrRefuse(file: string, open: () => Database): Database {
  try {
    return open();
  } catch (error) {
    throw refuse(file, "cannot be opened.", error);
  }
}

/** The first column of the first row; null if there is none. */
function readFirst(database: Database, sql: string): unknown {
  const statement = database.prepare<Record<string, unknown>, []>(sql);
  try {
    const row = statement.get();
    return row === null ? null : Object.values(row)[0];
  } finally {
    statement.finalize();
  }
}

function refuse(file: string, reason: string, cause?: unknown): AppError {
  return new AppError("invalid_request", `${file} ${reason}`, cause === undefined ? {} : { cause });
}

/** What a backup holds, to show its owner that it is theirs, and whole. See `StorageEngine.examine`. */
export function examineSqlite(file: string): BackupFacts {
  const facts = verifySqlite(file, "full");
  const database = new Database(file, { readonly: true });
  try {
    const count = (table: string) => {
      const statement = database.prepare<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`);
      const row = statement.get();
      statement.finalize();
      return row?.rows ?? 0;
    };
    // Every schema has had these tables.
    return {
      ...facts,
      accounts: count("accounts"),
      companions: count("companions"),
      conversations: count("conversations"),
      messages: count("messages"),
    };
  } catch (error) {
    throw new AppError("invalid_request", `${file} lacks tables of companiond.`, { cause: error });
  } finally {
    database.close();
  }
}
