/** A new SQLite store to copy into: made in a directory of its own, and moved into place when it is whole. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { syncFile } from "../../lib/sync-file.ts";
import { databasePath, openConnection } from "../sqlite/connection.ts";
import { lockDataDir } from "../sqlite/data-lock.ts";
import type { StoreDatabase } from "../sqlite/database.ts";
import { toStoreError } from "../sqlite/failures.ts";
import { migrations } from "../sqlite/migrations.ts";
import { migrateDatabase } from "../sqlite/migrator.ts";
import { applicationId, requireReleasedFile } from "../sqlite/released.ts";
import { unfinishedCopyDir } from "../sqlite/unfinished-copy.ts";
import type { CopyTarget, TableProgress } from "./pages.ts";
import { createSqliteReader, toSqlite } from "./sqlite-pages.ts";
import type { CopiedTable, Row } from "./tables.ts";

interface ProgressRow {
  table_name: string;
  last_key: string;
  rows: number;
  replaced: number;
}

/** Rejects with `conflict` if there is a database, or an unfinished copy of another source. */
export async function openSqliteTarget(dataDir: string, sourceName: string): Promise<CopyTarget> {
  const lock = lockDataDir(dataDir);
  let database: StoreDatabase | null = null;
  const close = async () => {
    database?.closeWithStatements();
    lock.release();
  };
  try {
    if (existsSync(databasePath(dataDir))) {
      requireReleasedFile(databasePath(dataDir));
      throw new AppError("conflict", `${dataDir} already holds a database. Copy into another directory.`);
    }
    database = await openConnection(unfinishedCopyDir(dataDir));
    if (isWhole(database)) {
      database.closeWithStatements();
      moveIntoPlace(dataDir);
      throw new AppError(
        "conflict",
        `An earlier run had copied everything, and ended before it could move it into position. That is done now: ${dataDir} is ready.`,
      );
    }
    await prepare(database, dataDir, sourceName);
    return createTarget(database, dataDir, close);
  } catch (error) {
    await close();
    throw toStoreError(error);
  }
}

function howToEmpty(dataDir: string): string {
  return `remove ${unfinishedCopyDir(dataDir)}`;
}

/** The tables of the copy itself are in the database too, so that they are never ahead of its rows or behind them. */
async function prepare(database: StoreDatabase, dataDir: string, sourceName: string): Promise<void> {
  const version = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version === 0) begin(database, sourceName);
  else if (version !== schemaAfter(migrations.length)) {
    throw new AppError(
      "conflict",
      `The unfinished copy in ${dataDir} was begun by another version of companiond. ` +
        `${capitalize(howToEmpty(dataDir))}, and copy again.`,
    );
  }
  await migrateDatabase(database, { dataDir: unfinishedCopyDir(dataDir) });
  const begun = database.query<{ name: string }, []>("SELECT name FROM copy_source").get()?.name;
  if (begun === sourceName) return;
  throw new AppError(
    "conflict",
    `${dataDir} holds an unfinished copy of ${begun}. Finish that one, or ${howToEmpty(dataDir)}.`,
  );
}

/** Before the migration: a migrated database without these tables is a whole one. */
function begin(database: StoreDatabase, sourceName: string): void {
  inTransaction(database, () => {
    // A file with tables and without this mark is another program's, and not migrated.
    database.run(`PRAGMA application_id = ${applicationId}`);
    database.run("DROP TABLE IF EXISTS copy_source");
    database.run("CREATE TABLE copy_source (name text PRIMARY KEY NOT NULL)");
    database.run("INSERT INTO copy_source VALUES (?)", [sourceName]);
    database.run(
      `CREATE TABLE IF NOT EXISTS copy_progress
         (table_name text PRIMARY KEY NOT NULL, last_key text NOT NULL, rows integer NOT NULL, replaced integer NOT NULL)`,
    );
  });
}

function isWhole(database: StoreDatabase): boolean {
  const isMigrated = database.query("SELECT 1 FROM sqlite_master WHERE name = 'accounts'").get() !== null;
  return isMigrated && database.query("SELECT 1 FROM sqlite_master WHERE name = 'copy_source'").get() === null;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function createTarget(database: StoreDatabase, dataDir: string, close: () => Promise<void>): CopyTarget {
  const rows = database.query<ProgressRow, []>("SELECT table_name, last_key, rows, replaced FROM copy_progress").all();
  return {
    name: `sqlite:${dataDir}`,
    howToEmpty: howToEmpty(dataDir),
    ...createSqliteReader(database),
    progress: new Map(
      rows.map(({ table_name, last_key, rows, replaced }) => {
        return [table_name, { last: JSON.parse(last_key), rows, replaced }];
      }),
    ),
    async writePage(table, page, progress) {
      // SQLite blocks the event loop: the question for the next page has to leave first.
      await new Promise((resolve) => setImmediate(resolve));
      inTransaction(database, () => {
        insert(database, table, page);
        noteProgress(database, table, progress);
      });
    },
    async finish(lastNumbers) {
      inTransaction(database, () => {
        for (const [table, number] of lastNumbers) keepNumber(database, table, number);
        database.run("DROP TABLE copy_progress");
        database.run("DROP TABLE copy_source");
      });
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      database.closeWithStatements();
      moveIntoPlace(dataDir);
    },
    close,
  };
}

function inTransaction(database: StoreDatabase, work: () => void): void {
  database.run("BEGIN IMMEDIATE");
  try {
    work();
    database.run("COMMIT");
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
}

function insert(database: StoreDatabase, table: CopiedTable, rows: readonly Row[]): void {
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const placeholders = table.columns.map(() => "?").join(", ");
  const statement = database.query(`INSERT INTO "${table.name}" (${names}) VALUES (${placeholders})`);
  for (const row of rows) statement.run(...toSqlite(table, row));
}

function noteProgress(database: StoreDatabase, { name }: CopiedTable, { last, rows, replaced }: TableProgress): void {
  database
    .query("INSERT OR REPLACE INTO copy_progress (table_name, last_key, rows, replaced) VALUES (?, ?, ?, ?)")
    .run(name, JSON.stringify(last), rows, replaced);
}

/** Only tables that never give a number twice remember the last one. */
function keepNumber(database: StoreDatabase, { name }: CopiedTable, number: number): void {
  const definition = "SELECT 1 FROM sqlite_master WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'";
  if (number === 0 || database.query(definition).get(name) === null) return;
  database.query("DELETE FROM sqlite_sequence WHERE name = ?").run(name);
  database.query("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(name, number);
}

/** The last step: before it there is no database, after it there is a whole one. */
function moveIntoPlace(dataDir: string): void {
  const dir = unfinishedCopyDir(dataDir);
  const [from, to] = [databasePath(dir), databasePath(dataDir)];
  syncFile(from);
  renameSync(from, to);
  syncFile(dataDir);
  rmSync(dir, { recursive: true, force: true });
}
