/** The tables that both databases have, in PostgreSQL: its tables, columns and indexes. */
import { getTableColumns } from "drizzle-orm";
import {
  bigint,
  boolean,
  customType,
  doublePrecision,
  index,
  integer,
  type PgColumn,
  type PgTable,
  pgTable,
  primaryKey,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { later } from "../../lib/later.ts";
import type { Dialect, Table } from "../store-shared/tables/dialect.ts";
import { tablesOf } from "../store-shared/tables/tables.ts";

/** Regardless of the database's locale. It cannot hold NUL. */
const textType = 'text COLLATE "C"';

const whole = (name: string) => bigint(name, { mode: "number" });
const number = () => whole("number").generatedByDefaultAsIdentity().primaryKey();

export const postgres = {
  table: (...definition: Parameters<typeof pgTable>) => later(() => pgTable(...definition)),
  number,
  lastingNumber: number,
  text: customType<{ data: string; driverData: string }>({ dataType: () => textType }),
  whole,
  small: integer,
  real: doublePrecision,
  boolean,
  json: customType<{ data: unknown; driverData: string }>({
    dataType: () => textType,
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (text) => JSON.parse(text),
  }),
  bytes: customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" }),
  primaryKey,
  index,
  uniqueIndex,
  inPostgres: <Part>(...parts: Part[]) => parts,
  inSqlite: () => [],
} as unknown as Dialect;

/** PostgreSQL's tables, columns and indexes. Drizzle's columns, by field. */
export function columnsOf(table: Table): Record<string, PgColumn> {
  return getTableColumns(table as unknown as PgTable);
}

export const tables = tablesOf(postgres);
