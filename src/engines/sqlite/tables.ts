/** The tables that both databases have, in SQLite. Those WITHOUT ROWID are by hand in the initial migration. */
import { tablesOf } from "../store-shared/tables/tables.ts";
import { sqlite } from "./dialect.ts";

export const tables = tablesOf(sqlite);
