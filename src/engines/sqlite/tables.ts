/** The tables that both databases have, in SQLite. Those WITHOUT ROWID are by hand in the initial migration. */
import { blob, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { later } from "../../lib/later.ts";
import type { Dialect } from "../store-shared/tables/dialect.ts";
import { tablesOf } from "../store-shared/tables/tables.ts";

/** SQLite's tables, columns and indexes. */
export const sqlite = {
  table: (...definition: Parameters<typeof sqliteTable>) => later(() => sqliteTable(...definition)),
  number: () => integer("number").primaryKey(),
  lastingNumber: () => integer("number").primaryKey({ autoIncrement: true }),
  text,
  whole: integer,
  small: integer,
  real,
  boolean: (name: string) => integer(name, { mode: "boolean" }),
  json: (name: string) => text(name, { mode: "json" }),
  bytes: (name: string) => blob(name, { mode: "buffer" }),
  primaryKey,
  index,
  uniqueIndex,
  inPostgres: () => [],
  inSqlite: <Part>(...parts: Part[]) => parts,
} as unknown as Dialect;

export const tables = tablesOf(sqlite);
