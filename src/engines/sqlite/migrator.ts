/** Migrates a database to this program's schema: completely or not at all, one process at a time. */
import {
  isBeforeFirstRelease,
  migrationsIn,
  requireReleased,
  schemaAfter,
} from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { databasePath, openConnection } from "./connection.ts";
import type { StoreDatabase } from "./database.ts";
import { migrations as allMigrations, type Migration } from "./migrations.ts";
import { noDatabase } from "./open-failure.ts";
import { applicationId, requireReleasedFile } from "./released.ts";
import { retryWhileBusy } from "./retry.ts";

/** A database that is about to be changed. */
export interface PendingMigration {
  path: string;
  /** The number of its schema, and that of this program's. */
  fromVersion: number;
  toVersion: number;
  /** Names of the pending migrations. */
  names: string[];
}

export interface MigrateOptions {
  dataDir: string;
  /**
   * Called before an existing database is changed, never for a new one: the moment for a backup. No one else can write
   * meanwhile, but reads work. A rejection stops the migration, and nothing has changed then. What it resolves with is
   * called if the migration fails and has changed nothing.
   */
  beforeMigrate?: (pending: PendingMigration) => Promise<(() => void) | undefined>;
  /** False: a database of an older version is left as it is, and the migration rejects with `unavailable`. */
  mayMigrate?: boolean;
  /** False: a file without tables is no database, and the migration rejects with `not_found`. */
  mayCreate?: boolean;
  /** Replaced in tests. */
  migrations?: readonly Migration[];
}

/** How long to wait for another process that is migrating the same database. */
const lockLimitMs = 10 * 60_000;

/** Applies pending migrations and returns their names, if any. */
export async function migrateSqlite(options: MigrateOptions): Promise<string[]> {
  requireReleasedFile(databasePath(options.dataDir));
  const database = await openConnection(options.dataDir);
  try {
    return await migrateDatabase(database, options);
  } finally {
    database.closeWithStatements();
  }
}

export async function migrateDatabase(database: StoreDatabase, options: MigrateOptions): Promise<string[]> {
  const known = options.migrations ?? allMigrations;
  // Read without a lock first: the usual start has nothing to do.
  const version = await retryWhileBusy(() => readVersion(database, known));
  if (version === schemaAfter(known.length)) return [];
  if (version === 0 && options.mayCreate === false) throw noDatabase(options.dataDir);
  if (options.mayMigrate === false) throw olderSchema(options.dataDir, version, schemaAfter(known.length));
  // Off while tables are rebuilt, or dropping the old one would delete referencing rows; checked before the commit.
  database.run("PRAGMA foreign_keys = OFF");
  try {
    return await migrateLocked(database, options, known);
  } finally {
    database.run("PRAGMA foreign_keys = ON");
  }
}

async function migrateLocked(database: StoreDatabase, options: MigrateOptions, known: readonly Migration[]) {
  await retryWhileBusy(() => database.run("BEGIN IMMEDIATE"), lockLimitMs);
  let undo: (() => void) | undefined;
  try {
    // Read again under the lock: another process may have migrated meanwhile.
    const fromVersion = readVersion(database, known);
    const toVersion = schemaAfter(known.length);
    const pending = known.slice(migrationsIn(fromVersion));
    if (pending.length > 0 && isForeign(database)) throw foreignDatabase(options.dataDir);
    const names = pending.map((migration) => migration.name);
    if (fromVersion > 0 && pending.length > 0) {
      const path = databasePath(options.dataDir);
      undo = await options.beforeMigrate?.({ path, fromVersion, toVersion, names });
    }
    for (const migration of pending) applyMigration(database, migration);
    const broken = database.prepare("PRAGMA foreign_key_check").get();
    if (broken !== null) throw new Error(`migrations left a dangling reference: ${JSON.stringify(broken)}`);
    database.run(`PRAGMA application_id = ${applicationId}`);
    database.run(`PRAGMA user_version = ${toVersion}`);
    database.run("COMMIT");
    return names;
  } catch (error) {
    if (database.inTransaction) {
      database.run("ROLLBACK");
      undo?.();
    }
    throw error;
  }
}

/** Whether another program made it; a file without tables belongs to none. */
function isForeign(database: StoreDatabase): boolean {
  const mark = database.prepare<{ application_id: number }, []>("PRAGMA application_id").get()?.application_id;
  return mark !== applicationId && database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null;
}

function foreignDatabase(dataDir: string): AppError {
  return new AppError(
    "unavailable",
    `The database in ${dataDir} is another program's: nothing was changed. Move that file away, or name an empty ` +
      "directory with --data-dir.",
  );
}

function olderSchema(dataDir: string, version: number, known: number): AppError {
  return new AppError(
    "unavailable",
    `The database in ${dataDir} is of an older companiond (schema ${version}; this program knows ${known}), and this ` +
      "command only reads. Restart the server with this version, or run companiond migrate.",
  );
}

/** Rejects a database of a newer program, because its columns are unknown, and one of a development build. */
function readVersion(database: StoreDatabase, known: readonly Migration[]): number {
  const row = database.prepare<{ user_version: number }, []>("PRAGMA user_version").get();
  const version = row?.user_version ?? 0;
  if (isBeforeFirstRelease(version) && !isForeign(database)) requireReleased(version);
  const latest = schemaAfter(known.length);
  if (version > latest) {
    throw new AppError(
      "unavailable",
      `The database was written by a newer companiond (schema ${version}; this program knows ${latest}). ` +
        "Start the newer program, or restore a backup made before the update.",
    );
  }
  return version;
}

function applyMigration(database: StoreDatabase, migration: Migration): void {
  try {
    for (const statement of migration.sql.split("--> statement-breakpoint")) {
      if (statement.trim() !== "") database.run(statement);
    }
  } catch (error) {
    throw new Error(`migration ${migration.name} failed; nothing was changed`, { cause: error });
  }
}
