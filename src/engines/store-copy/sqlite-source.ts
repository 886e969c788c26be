/** A stopped SQLite store to copy from: opened for reading, in one transaction. */

import { realpathSync } from "node:fs";
import { requireReleased, schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { databasePath, hasDatabase } from "../sqlite/connection.ts";
import { lockDataDir } from "../sqlite/data-lock.ts";
import { StoreDatabase } from "../sqlite/database.ts";
import { toStoreError } from "../sqlite/failures.ts";
import { migrations } from "../sqlite/migrations.ts";
import { noDatabase } from "../sqlite/open-failure.ts";
import { applicationId, requireReleasedFile } from "../sqlite/released.ts";
import { requireNoUnfinishedCopy } from "../sqlite/unfinished-copy.ts";
import type { CopySource } from "./pages.ts";
import { createSqliteReader } from "./sqlite-pages.ts";

/** Rejects with `not_found` without a database, and with `conflict` while a server uses it or its schema is another. */
export async function openSqliteSource(dataDir: string): Promise<CopySource> {
  requireNoUnfinishedCopy(dataDir);
  const path = databasePath(dataDir);
  // Before the lock, which would create the directory.
  if (!hasDatabase(dataDir)) throw noDatabase(dataDir, `There is no database in ${dataDir}.`);
  requireReleasedFile(path);
  const lock = lockDataDir(dataDir);
  let database: StoreDatabase | null = null;
  const close = async () => {
    database?.closeWithStatements();
    lock.release();
  };
  try {
    database = new StoreDatabase(path, { readonly: true });
    // Commands may still write beside us: what they write is not copied.
    database.run("PRAGMA busy_timeout = 5000");
    database.run("BEGIN");
    requireSchema(database, dataDir);
    return createSource(database, `sqlite:${realpathSync(dataDir)}`, close);
  } catch (error) {
    await close();
    throw toStoreError(error);
  }
}

function createSource(database: StoreDatabase, name: string, close: () => Promise<void>): CopySource {
  const readNumber = (text: string) => Number(database.query(text).values()[0]?.[0] ?? 0);
  const keepsNumbers = readNumber("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_sequence'") > 0;
  return {
    name,
    ...createSqliteReader(database),
    countRows: async (table) => readNumber(`SELECT count(*) FROM "${table.name}" WHERE ${table.sqliteRows}`),
    async findLastNumber({ name }) {
      const kept = keepsNumbers ? readNumber(`SELECT max(seq) FROM sqlite_sequence WHERE name = '${name}'`) : 0;
      return Math.max(kept, readNumber(`SELECT max(number) FROM "${name}"`));
    },
    close,
  };
}

function requireSchema(database: StoreDatabase, dataDir: string): void {
  const read = (pragma: string) => Number(database.query(`PRAGMA ${pragma}`).values()[0]?.[0] ?? 0);
  const version = read("user_version");
  const refuse = (what: string) => new AppError("conflict", `The database in ${dataDir} ${what}`);
  if (read("application_id") !== applicationId) throw refuse("is not one of companiond.");
  requireReleased(version);
  const latest = schemaAfter(migrations.length);
  if (version > latest) {
    throw refuse(`was written by a newer companiond (schema ${version}; this program knows ${latest}).`);
  }
  if (version < latest) {
    throw refuse(`has an older schema. Run "companiond migrate --data-dir ${dataDir}" first, without DATABASE_URL.`);
  }
}
