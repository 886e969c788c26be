/** Opens the database file: its path, its permissions, and the settings that every connection needs. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { inMemory, StoreDatabase } from "./database.ts";
import { explainOpenFailure } from "./open-failure.ts";
import { retryWhileBusy } from "./retry.ts";

export function databasePath(dataDir: string): string {
  return join(dataDir, "companiond.db");
}

/** A file without a byte is what a start leaves that was killed before its first write. */
export function hasDatabase(dataDir: string): boolean {
  const path = databasePath(dataDir);
  return existsSync(path) && statSync(path).size > 0;
}

/** Creates directory and file if missing. SQLite gives `-wal` and `-shm` the permissions of the file itself. */
function preparePath(dataDir: string): string {
  if (!existsSync(dataDir)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // The umask would restrict a mode given to mkdir; a mode that the operator chose earlier stays.
    chmodSync(dataDir, 0o700);
  }
  const path = databasePath(dataDir);
  // Never open an existing file: closing any of its descriptors releases the locks that SQLite holds on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  if ((statSync(path).mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  return path;
}

const pragmas = [
  // Short: a longer wait inside SQLite would block every stream. Longer waits consist of retries.
  "PRAGMA busy_timeout = 5",
  "PRAGMA synchronous = FULL",
  "PRAGMA foreign_keys = ON",
  "PRAGMA secure_delete = ON",
  // Statement journals of savepoints may contain visitors' words, which must not reach a temporary directory.
  "PRAGMA temp_store = MEMORY",
  // Other pages come from the operating system's cache within a microsecond or two.
  "PRAGMA cache_size = -8192",
  "PRAGMA journal_size_limit = 67108864",
  "PRAGMA journal_mode = WAL",
];

export function openMemoryConnection(): StoreDatabase {
  const database = new StoreDatabase(inMemory, { readwrite: true, create: true, strict: true });
  for (const pragma of pragmas) database.run(pragma);
  return database;
}

export async function openConnection(dataDir: string): Promise<StoreDatabase> {
  let database: StoreDatabase;
  try {
    database = new StoreDatabase(preparePath(dataDir), { readwrite: true, create: true, strict: true });
  } catch (error) {
    throw explainOpenFailure(dataDir, databasePath(dataDir), error);
  }
  try {
    // Some pragmas read the file, which another process locks for a moment while it converts a new one to WAL.
    for (const pragma of pragmas) await retryWhileBusy(() => database.run(pragma));
  } catch (error) {
    database.closeWithStatements();
    throw explainOpenFailure(dataDir, databasePath(dataDir), error);
  }
  return database;
}
