/** Opens the database file: its place, its permissions, and the settings that every connection needs. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreDatabase } from "./database.ts";
import { toStoreError, unavailable } from "./failures.ts";
import { retryWhileBusy } from "./retry.ts";

export function databasePath(dataDir: string): string {
  return join(dataDir, "companiond.db");
}

/** Makes directory and file where missing. SQLite gives `-wal` and `-shm` the permissions of the file itself. */
function preparePath(dataDir: string): string {
  if (!existsSync(dataDir)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // A mode given to mkdir passes through the umask; one that the operator chose earlier is left alone.
    chmodSync(dataDir, 0o700);
  }
  const path = databasePath(dataDir);
  // Never opened where it exists: closing any descriptor of a file gives up the locks that SQLite has on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  if ((statSync(path).mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  return path;
}

const pragmas = [
  // Short: a longer wait inside SQLite would hold up every stream. Longer ones are made of retries.
  "PRAGMA busy_timeout = 5",
  "PRAGMA synchronous = FULL",
  "PRAGMA foreign_keys = ON",
  "PRAGMA secure_delete = ON",
  // Statement journals of savepoints may hold visitors' words, and must not reach a temporary directory.
  "PRAGMA temp_store = MEMORY",
  // What is not in it comes out of the system's own cache for a microsecond or two.
  "PRAGMA cache_size = -8192",
  "PRAGMA journal_size_limit = 67108864",
  "PRAGMA journal_mode = WAL",
];

export async function openConnection(dataDir: string): Promise<StoreDatabase> {
  let database: StoreDatabase;
  try {
    database = new StoreDatabase(preparePath(dataDir), { readwrite: true, create: true, strict: true });
  } catch (error) {
    throw unavailable(error);
  }
  try {
    // Some read the file, which another process locks for a moment while it turns a new one to WAL.
    for (const pragma of pragmas) await retryWhileBusy(() => database.run(pragma));
  } catch (error) {
    database.closeWithStatements();
    throw toStoreError(error);
  }
  return database;
}
