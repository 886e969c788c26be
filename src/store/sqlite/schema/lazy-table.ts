/** Declares a table that is built on first use: most starts need few of them. */
import { type SQLiteTableFn, sqliteTable } from "drizzle-orm/sqlite-core";
import { later } from "../../../lib/later.ts";

/** As drizzle's `sqliteTable`; the columns are a function, which is called with the first use too. */
export const lazyTable = ((...definition: Parameters<SQLiteTableFn>) =>
  later(() => sqliteTable(...definition))) as SQLiteTableFn;
