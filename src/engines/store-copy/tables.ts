/** What is copied: the tables, none before those that it refers to, and where the engines write a value differently. */
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { tables } from "../postgres/tables.ts";

/** A value as both engines can give it: bytes are in hexadecimal. */
export type Value = string | number | boolean | null;

/** Values in the order of the table's columns. */
export type Row = readonly Value[];

/**
 * - `text`: SQLite holds NUL, PostgreSQL does not: it becomes U+FFFD.
 * - `index text`: of the metadata index; a digest begins with NUL in SQLite, with U+0001 in PostgreSQL, where a text that
 *   begins with that has one more.
 * - `boolean`: 0 and 1 in SQLite.
 * - `bytes`: bytes in both.
 * - `digest`: bytes in SQLite, hexadecimal text in PostgreSQL.
 */
export type Kind = "text" | "index text" | "whole" | "real" | "boolean" | "bytes" | "digest";

export interface CopiedColumn {
  name: string;
  kind: Kind;
}

export interface CopiedTable {
  name: string;
  columns: readonly CopiedColumn[];
  /** The primary key's columns, as indexes into `columns`. */
  key: readonly number[];
  /** Whether rows are numbered by the database. */
  isNumbered: boolean;
  /** Which of SQLite's rows are copied; by default all. */
  sqliteRows: string;
}

interface Difference {
  kinds?: Readonly<Record<string, Kind>>;
  sqliteRows?: string;
}

/** By the table's name. */
const differences: Readonly<Record<string, Difference>> = {
  api_keys: { kinds: { hash: "digest" } },
  companion_metadata: { kinds: { path: "index text", value: "index text" } },
  usage_label_metadata: { kinds: { path: "index text", value: "index text" } },
  // Erased messages keep a row in SQLite's file, without their text.
  messages: { sqliteRows: "conversation_number > 0" },
  tool_call_texts: { sqliteRows: "call_number > 0" },
};

/** Tables that are not copied, and why not. */
export const leftOut: Readonly<Record<string, string>> = {
  account_holdings: "counted again by the target's triggers",
  conversation_periods: "written by the target's triggers",
  voice_agent_locks: "leases of a stopped server",
  erased_ranges: "positions of erased messages in one engine's file",
  erased_call_ranges: "the same of calls",
  instances: "servers that have stopped",
  open_turns: "turns that have ended",
  erasures: "concern turns that have ended",
  certificate_texts: "of servers that have stopped; those of the copy obtain a certificate of their own",
  mail_days: "counts of one day, which begin again",
  settled_batches: "for callers that lost the connection while turns were settled",
};

const kinds: Readonly<Record<string, Kind>> = {
  'text COLLATE "C"': "text",
  bigint: "whole",
  integer: "whole",
  "double precision": "real",
  boolean: "boolean",
  bytea: "bytes",
};

function kindOf(column: PgColumn): Kind {
  const kind = kinds[column.getSQLType()];
  if (kind === undefined) throw new Error(`it is not described how to copy a ${column.getSQLType()}`);
  return kind;
}

const designed = Object.values(tables).map((table) => getTableConfig(table as unknown as PgTable));

export const copiedTables: readonly CopiedTable[] = designed
  .filter(({ name }) => !Object.hasOwn(leftOut, name))
  .map(({ name, columns, primaryKeys }) => {
    const keyColumns = primaryKeys[0]?.columns ?? columns.filter((column) => column.primary);
    return {
      name,
      columns: columns.map((column) => ({
        name: column.name,
        kind: differences[name]?.kinds?.[column.name] ?? kindOf(column),
      })),
      key: keyColumns.map((column) => columns.findIndex(({ name }) => name === column.name)),
      isNumbered: columns.some((column) => column.generatedIdentity !== undefined),
      sqliteRows: differences[name]?.sqliteRows ?? "true",
    };
  });
