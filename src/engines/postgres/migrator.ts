/** Migrates a database to this program's schema: completely or not at all, one process at a time. */
import { migrationsIn, requireReleased, schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { refusal } from "./connect-failure.ts";
import { isCollision, sqlState } from "./failures.ts";
import { migrations as allMigrations, type Migration, oldestReader } from "./migrations.ts";
import type { OwnConnection, Pool } from "./pool.ts";
import { Queries } from "./queries.ts";
import { readSchemaState, type SchemaState, stateTable, writeSchemaState } from "./schema-state.ts";

/** How long to wait for another process that is migrating the same database, and for a moment to do it. */
const lockLimitMs = 10 * 60_000;
/**
 * How long to wait for a table that others are reading: queries that come after us wait behind us, and a search may take a
 * minute. So we step aside, and try again from the start.
 */
const tableLockMs = 500;
const tryAgainMs = 500;
const migrationLock = "SELECT pg_advisory_xact_lock(hashtextextended('companiond migration', 0))";

/** The state of a database that this program can use. Throws `unavailable` or `conflict`, with a sentence, for any other. */
export async function requireReadable(queries: Queries, migrations = allMigrations): Promise<SchemaState> {
  const known = schemaAfter(migrations.length);
  const state = await readSchemaState(queries);
  if (state === "other") throw otherTables();
  requireReleased(state.version);
  if (state.oldestReader > known) {
    throw new AppError(
      "unavailable",
      `The database was written by a newer companiond (schema ${state.version}; this program knows ${known}). ` +
        "Start the newer program.",
    );
  }
  return state;
}

export function otherTables(): AppError {
  return refusal("has tables of another program in this database. Create an empty database for companiond.");
}

/** Throws `unavailable` unless all migrations that this program knows were applied. */
export function requireMigrated(version: number): void {
  const known = schemaAfter(allMigrations.length);
  if (version >= known) return;
  throw new AppError(
    "unavailable",
    `The database is of an older companiond (schema ${version}; this program knows ${known}). Run companiond migrate ` +
      "first; serve does it as well.",
  );
}

/** Applies pending migrations and returns their names, if any. `readers`: what to note as the oldest reader. */
export async function migratePostgres(
  pool: Pool,
  { migrations = allMigrations, readers = oldestReader }: { migrations?: readonly Migration[]; readers?: number } = {},
): Promise<string[]> {
  // Read without a lock first: the usual start has nothing to do.
  if ((await requireReadable(pool.reads, migrations)).version >= schemaAfter(migrations.length)) return [];
  const connection = await pool.reserve();
  try {
    return await pool.inTime(() => migrateInTurn(connection, migrations, readers), 2 * lockLimitMs);
  } finally {
    connection.release();
  }
}

async function migrateInTurn(connection: OwnConnection, migrations: readonly Migration[], readers: number) {
  const untilMs = performance.now() + lockLimitMs;
  for (;;) {
    try {
      return await migrateLocked(connection, migrations, readers);
    } catch (error) {
      if (!isInTheWay(error) || performance.now() > untilMs) throw error;
    }
    await Bun.sleep(tryAgainMs);
  }
}

/** Others use a table that a migration changes. */
function isInTheWay(error: unknown): boolean {
  const cause = error instanceof MigrationFailure ? error.cause : null;
  return isCollision(cause) || sqlState(cause) === "55P03";
}

async function migrateLocked(connection: OwnConnection, migrations: readonly Migration[], readers: number) {
  const queries = new Queries((text, parameters) => connection.send(text, parameters));
  await connection.send("BEGIN READ WRITE");
  try {
    await connection.send(`SET LOCAL lock_timeout = ${lockLimitMs}`);
    await connection.send(`SET LOCAL statement_timeout = ${lockLimitMs}`);
    await connection.send(migrationLock);
    await connection.send(`SET LOCAL lock_timeout = ${tableLockMs}`);
    // Read again under the lock: another process may have migrated meanwhile.
    const { version } = await requireReadable(queries, migrations);
    const pending = migrations.slice(migrationsIn(version));
    if (version === 0) await createState(connection);
    for (const migration of pending) await applyMigration(connection, migration);
    if (pending.length > 0) {
      await writeSchemaState(queries, {
        version: schemaAfter(migrations.length),
        oldestReader: schemaAfter(readers),
        copyFrom: null,
      });
    }
    await connection.send("COMMIT");
    return pending.map(({ name }) => name);
  } catch (error) {
    await connection.send("ROLLBACK");
    throw error;
  }
}

async function createState(connection: OwnConnection): Promise<void> {
  try {
    await connection.send(stateTable);
  } catch (error) {
    const sentence = noTables[sqlState(error)];
    throw sentence === undefined ? error : refusal(sentence, error);
  }
}

const noTables: Readonly<Record<string, string>> = {
  "42501": "does not let this user create tables. Grant CREATE on the schema, or make the user its owner.",
  "3F000": "has none of the schemas of this user's search_path. Create one of them: CREATE SCHEMA …",
};

class MigrationFailure extends Error {}

async function applyMigration(connection: OwnConnection, migration: Migration): Promise<void> {
  try {
    for (const statement of migration.sql.split("--> statement-breakpoint")) {
      if (statement.trim() !== "") await connection.send(statement);
    }
  } catch (error) {
    throw new MigrationFailure(`migration ${migration.name} failed; nothing was changed`, { cause: error });
  }
}
