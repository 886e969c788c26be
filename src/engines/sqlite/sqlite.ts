/**
 * The SQLite engine: one file in the data directory, and what SQLite keeps beside it.
 *
 * What it guarantees about its files:
 * - The directory is accessible only to its owner (0700), and so is every file in it (0600), backups included.
 * - A resolved write is on disk: it waits for a sync of the log that began after its commit, beside the event loop. So do
 *   copies of the log into the database file, in a thread. A database copied together with its log is complete.
 * - A failed sync is never tried again: nothing is written from then on, and the process has to end.
 * - Deleted text is overwritten in the file (`secure_delete`) and leaves the write-ahead log, which is emptied:
 *   before `eraseVisitors` resolves, and about 0.2 s after any other deletion. Earlier backups keep it.
 * - That holds for every message of visitors and companions, wherever rows have moved (`row-eraser.ts`). Of
 *   other rows, such as those of conversations and visitors' days, nothing is left in any table or index; but where rows
 *   have moved, a stale copy may stay in unused space of the file until that is used again: of visitors' ids, of what
 *   is known of verified visitors and what they left for people, and of the names of people who answered. What visitors
 *   left is sealed, and their ids are digests: without the server's key, which is not in the file, neither identifies
 *   anyone.
 * - Nothing is ever written to a temporary directory.
 * `test/store/sqlite*.test.ts` and `test/ops/backup.test.ts` check that.
 */
import { rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { OpenOptions, StorageEngine, StorageLock } from "../../contracts/store/engine.ts";
import type { Store } from "../../contracts/store/store.ts";
import { AppError } from "../../domain/errors.ts";
import { fileStamp } from "../../lib/clock.ts";
import { backupSqlite } from "./backup.ts";
import { databasePath, hasDatabase } from "./connection.ts";
import { lockDataDir } from "./data-lock.ts";
import { openSqliteStore } from "./open.ts";
import { noDatabase } from "./open-failure.ts";
import { requireReleasedFile } from "./released.ts";
import { restoreSqlite } from "./restore.ts";
import { requireNoUnfinishedCopy } from "./unfinished-copy.ts";
import { examineSqlite, inspectStored, verifyInPlace } from "./verify.ts";

export function createSqlite(dataDir: string): StorageEngine & { exists(): boolean } {
  const path = databasePath(dataDir);
  return {
    open: async (options) => ({ store: await open(dataDir, options), shared: null, certificateTexts: null }),
    exists: () => hasDatabase(dataDir),
    lock() {
      requireReleasedFile(path);
      return lockDataDir(dataDir);
    },
    backup: (file, asCaller) => backupSqlite(dataDir, file, asCaller),
    restore: (file, nowMs, asCaller) => restoreSqlite(dataDir, file, nowMs, asCaller),
    examine: examineSqlite,
    verify() {
      if (!hasDatabase(dataDir)) throw noDatabase(dataDir);
      return verifyInPlace(dataDir);
    },
    inspectStored() {
      if (!hasDatabase(dataDir)) throw noDatabase(dataDir);
      return inspectStored(dataDir);
    },
    sizes: [
      { file: "database", read: () => sizeOf(path) },
      { file: "wal", read: () => sizeOf(`${path}-wal`) },
    ],
  };
}

async function open(dataDir: string, options: OpenOptions): Promise<Store> {
  const { log, erasures, backupDir, clock, isCommand = false, use = "makes", onLost } = options;
  requireNoUnfinishedCopy(dataDir);
  if (use !== "makes" && !hasDatabase(dataDir)) throw noDatabase(dataDir);
  const held: StorageLock[] = [];
  try {
    return await openSqliteStore({
      dataDir,
      mayCreate: use === "makes",
      mayMigrate: use !== "reads",
      // The server that asked for them is gone: two never serve the same directory.
      settlesLeftAtMs: isCommand ? null : clock.nowMs(),
      ...{ log, erasures, onLost },
      async beforeMigrate({ fromVersion, toVersion }) {
        if (isCommand) held.push(lockForMigration(dataDir));
        const name = `before-migration-${fromVersion}-to-${toVersion}-${fileStamp(Date.now())}.db`;
        const file = join(backupDir, name);
        backupSqlite(dataDir, file);
        log.info("database backed up before its migration", { file });
        // A supervisor starts a server that fails again and again: copies of an unchanged database would fill the disk.
        return () => {
          rmSync(file, { force: true });
          log.warn("the migration failed and changed nothing: its backup is deleted", { file });
        };
      },
    });
  } finally {
    for (const lock of held) lock.release();
  }
}

function lockForMigration(dataDir: string): StorageLock {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "conflict") throw error;
    throw new AppError(
      "conflict",
      `An earlier version of companiond serves from ${dataDir}. Restart it with this version first, which migrates the database.`,
    );
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch {
    return null;
  }
}
