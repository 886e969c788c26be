/** Brings a database to the schema of this program: whole or not at all, one process at a time. */
import { AppError } from "../../domain/errors.ts";
import { databasePath, openConnection } from "./connection.ts";
import type { StoreDatabase } from "./database.ts";
import { migrations as allMigrations, type Migration } from "./migrations.ts";
import { retryWhileBusy } from "./retry.ts";

/** A database that is about to be changed. */
export interface PendingMigration {
  path: string;
  /** How many migrations it has seen, and how many this program knows. */
  fromVersion: number;
  toVersion: number;
  /** Names of those to come. */
  names: string[];
}

export interface MigrateOptions {
  dataDir: string;
  /**
   * Called before an existing database is changed, never for a new one: the place for a backup. Nobody else can write
   * meanwhile, reading is free. What it rejects with stops the migration, and nothing has changed.
   */
  beforeMigrate?: (pending: PendingMigration) => Promise<void>;
  /** For tests. */
  migrations?: readonly Migration[];
}

/** How long to wait for another process that is migrating the same database. */
const lockLimitMs = 10 * 60_000;
/** Marks the file as ours: "cmpd". */
export const applicationId = 0x636d7064;

/** Applies what is pending and returns the names; resolves with none where the database is up to date. */
export async function migrateSqlite(options: MigrateOptions): Promise<string[]> {
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
  if ((await retryWhileBusy(() => readVersion(database, known))) === known.length) return [];
  // Off while tables are rebuilt, or dropping the old one would delete what refers to it; checked before the commit.
  database.run("PRAGMA foreign_keys = OFF");
  try {
    return await migrateLocked(database, options, known);
  } finally {
    database.run("PRAGMA foreign_keys = ON");
  }
}

async function migrateLocked(database: StoreDatabase, options: MigrateOptions, known: readonly Migration[]) {
  await retryWhileBusy(() => database.run("BEGIN IMMEDIATE"), lockLimitMs);
  try {
    // Again under the lock: another process may have done it while this one waited.
    const fromVersion = readVersion(database, known);
    const pending = known.slice(fromVersion);
    const names = pending.map((migration) => migration.name);
    if (fromVersion > 0 && pending.length > 0) {
      const path = databasePath(options.dataDir);
      await options.beforeMigrate?.({ path, fromVersion, toVersion: known.length, names });
    }
    for (const migration of pending) applyMigration(database, migration);
    const broken = database.prepare("PRAGMA foreign_key_check").get();
    if (broken !== null) throw new Error(`migrations leave a reference without its row: ${JSON.stringify(broken)}`);
    database.run(`PRAGMA application_id = ${applicationId}`);
    database.run(`PRAGMA user_version = ${known.length}`);
    database.run("COMMIT");
    return names;
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
}

/** Rejects a database of a newer program: what its columns mean is unknown here. */
function readVersion(database: StoreDatabase, known: readonly Migration[]): number {
  const row = database.prepare<{ user_version: number }, []>("PRAGMA user_version").get();
  const version = row?.user_version ?? 0;
  if (version > known.length) {
    throw new AppError(
      "unavailable",
      `The database was written by a newer companiond (schema ${version}; this program knows ${known.length}). ` +
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
