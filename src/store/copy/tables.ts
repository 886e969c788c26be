/** What is copied: the tables, none before those that it refers to, and where the engines write a value differently. */
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import * as accounts from "../postgres/schema/accounts.ts";
import * as companions from "../postgres/schema/companions.ts";
import * as conversations from "../postgres/schema/conversations.ts";
import * as knowledge from "../postgres/schema/knowledge.ts";
import * as spending from "../postgres/schema/spending.ts";
import * as usage from "../postgres/schema/usage.ts";

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
  /** The primary key's columns, as places in `columns`. */
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

const tables: readonly (readonly [PgTable, Difference?])[] = [
  [accounts.accounts],
  [accounts.serverSecrets],
  [accounts.sessions],
  [accounts.oneTimeLinks],
  [accounts.recoveryCodes],
  [accounts.visitorKeys],
  [accounts.audit],
  [accounts.idempotency],
  [accounts.apiKeys, { kinds: { hash: "digest" } }],
  [companions.companions],
  [companions.embedTokens],
  [companions.companionMetadata, { kinds: { path: "index text", value: "index text" } }],
  [companions.voiceAgentGrants],
  [companions.voiceAgents],
  [companions.voiceOutbox],
  [companions.voiceSessions],
  [conversations.conversations],
  // Erased messages keep a place in SQLite's file, without their text.
  [conversations.messages, { sqliteRows: "conversation_number > 0" }],
  [conversations.removals],
  [knowledge.knowledgeSources],
  [knowledge.knowledgeUploads],
  [knowledge.knowledgeEditions],
  [knowledge.knowledgeDocuments],
  [knowledge.knowledgeParts],
  [knowledge.knowledgeVectors],
  [knowledge.knowledgePostings],
  [knowledge.knowledgeTurns],
  [usage.quotaDaily],
  [usage.visitorDaily],
  [usage.failedReplies],
  [spending.usageLabels],
  [spending.usageLabelMetadata, { kinds: { path: "index text", value: "index text" } }],
  [spending.budgets],
  [spending.budgetPeriods],
  // Those of servers that have stopped are settled by whoever serves the copy: at its start, or when they are due.
  [spending.spendingReservations],
  [spending.spendingStops],
  [spending.spentChallenges],
  [usage.usageDaily],
  [usage.usageMonthly],
  [usage.usageAccountDaily],
];

/** Tables that are not copied, and why not. */
export const leftOut: Readonly<Record<string, string>> = {
  account_holdings: "counted anew by the target's triggers",
  conversation_periods: "written by the target's triggers",
  voice_agent_locks: "leases of a stopped server",
  erased_ranges: "places of erased messages in one engine's file",
  instances: "servers that have stopped",
  open_turns: "turns that have ended",
  erasures: "concern turns that have ended",
  certificate_texts: "of servers that have stopped; those of the copy obtain a certificate of their own",
  settled_batches: "for whoever lost the connection while turns were settled",
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
  if (kind === undefined) throw new Error(`nobody said how to copy a ${column.getSQLType()}`);
  return kind;
}

export const copiedTables: readonly CopiedTable[] = tables.map(([table, difference = {}]) => {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const keyColumns = primaryKeys[0]?.columns ?? columns.filter((column) => column.primary);
  return {
    name,
    columns: columns.map((column) => ({
      name: column.name,
      kind: difference.kinds?.[column.name] ?? kindOf(column),
    })),
    key: keyColumns.map((column) => columns.findIndex(({ name }) => name === column.name)),
    isNumbered: columns.some((column) => column.generatedIdentity !== undefined),
    sqliteRows: difference.sqliteRows ?? "true",
  };
});
