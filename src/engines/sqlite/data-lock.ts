/** One server per data directory: a lock that the system releases when its holder ends, however it ends. */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { StorageLock } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import { isBusy } from "./failures.ts";
import { explainOpenFailure } from "./open-failure.ts";

/** See `StorageEngine.lock`. A crash would leave a pid file behind; it releases this lock. */
export function lockDataDir(dataDir: string): StorageLock {
  const path = join(dataDir, "serve.lock");
  let database: Database;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Never open an existing file: closing any of its descriptors releases all locks that this process holds on it.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    database = new Database(path, { readwrite: true, create: true });
  } catch (error) {
    throw explainOpenFailure(dataDir, path, error);
  }
  try {
    // No journal file: nothing is ever written.
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw explainOpenFailure(dataDir, path, error);
    throw new AppError(
      "conflict",
      `another companiond serves from ${dataDir}. Stop it first, or choose another data directory.`,
    );
  }
  return { release: () => database.close() };
}
