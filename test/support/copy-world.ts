/** Stores to copy from and to, and SQLite stores for it: every table filled with odd rows, and what is in them. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { join } from "node:path";
import type { StoreLocation } from "../../src/engines/store-copy/copy.ts";
import { type CopiedTable, copiedTables, type Kind, leftOut } from "../../src/engines/store-copy/tables.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { sharedPostgres } from "./postgres-server.ts";
import { createRandom } from "./random.ts";
import { provideSqlite } from "./sqlite-template.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary.ts";

type Random = ReturnType<typeof createRandom>;
type Stored = Record<string, unknown>;

/** A data directory that is not there yet, and an empty PostgreSQL database. */
export interface CopyPlaces {
  directory: TemporaryDirectory;
  /** In the directory. */
  source: string;
  url: string;
  sqlite: StoreLocation;
  postgres: StoreLocation;
  remove(): Promise<void>;
}

export async function makeCopyPlaces(): Promise<CopyPlaces> {
  const databases = await sharedPostgres();
  const { name, url } = await databases.createDatabase();
  const directory = temporaryDirectory();
  const source = directory.file("source");
  return {
    ...{ directory, source, url },
    sqlite: { engine: "sqlite", dataDir: source },
    postgres: { engine: "postgres", url },
    async remove() {
      await databases.dropDatabase(name);
      directory[Symbol.dispose]();
    },
  };
}

const oddTexts = [
  "",
  "NULL",
  "null",
  "\\",
  "\\\\'",
  '"',
  "{}",
  "{a,b}",
  "a\nb\tc\r",
  "é𝄞 ﷽",
  "\u0001x",
  "\ufffd",
  "\u2028",
];
const texts = [...oddTexts, ...hostileTexts] as [string, ...string[]];

/** Columns that refer to rows of other tables. */
const references: Readonly<Record<string, [table: string, column: string]>> = {
  "sessions.account_id": ["accounts", "id"],
  "one_time_links.account_id": ["accounts", "id"],
  "recovery_codes.account_id": ["accounts", "id"],
  "members.account_id": ["accounts", "id"],
  "visitor_keys.account_id": ["accounts", "id"],
  "voice_agent_grants.account_id": ["accounts", "id"],
  "api_keys.account_number": ["accounts", "number"],
  "companion_avatars.companion_id": ["companions", "id"],
  "embed_tokens.companion_id": ["companions", "id"],
  "tools.companion_id": ["companions", "id"],
  "companion_drafts.companion_id": ["companions", "id"],
  "applied_companions.companion_id": ["companions", "id"],
  "budgets.account_id": ["accounts", "id"],
  "webhooks.account_id": ["accounts", "id"],
  "mails.account_id": ["accounts", "id"],
  "mails.companion_id": ["companions", "id"],
  "mails.conversation_id": ["conversations", "id"],
  "mail_days.account_id": ["accounts", "id"],
  ...Object.fromEntries(
    [
      "handoffs",
      "handoff_events",
      "handoff_spans",
      "message_authors",
      "conversation_notes",
      "read_marks",
      "contacts",
      "ratings",
    ].map((table) => [`${table}.conversation_number`, ["conversations", "number"] as [string, string]]),
  ),
  "handoff_changes.account_id": ["accounts", "id"],
  "presence.account_id": ["accounts", "id"],
  "budget_periods.budget_id": ["budgets", "id"],
};
/** Odd texts go everywhere else. */
const isName = /(^|_)(id|key|hash|token|name|email|path|value|day|month|method|agent|signature)$|_id$/;

export function openDatabase(dataDir: string, readonly = true): Database {
  return new Database(join(dataDir, "companiond.db"), readonly ? { readonly: true } : { readwrite: true });
}

/** Fills a new store with about `rows` rows in each table; numbers have gaps, and some messages were erased. */
export async function makeOddStore(dataDir: string, { rows = 60, seed = 1 } = {}): Promise<void> {
  await provideSqlite(dataDir);
  const database = openDatabase(dataDir, false);
  const random = createRandom(seed);
  database.run("BEGIN");
  for (const table of copiedTables) {
    // Where the key refers to another table's row, each has one.
    const isOne = table.key.length === 1 && `${table.name}.${table.columns[table.key[0] ?? 0]?.name}` in references;
    fill(database, table, isOne ? rows : rows + random.below(20), random);
  }
  database.run("UPDATE messages SET conversation_number = -conversation_number, text = '' WHERE number % 11 = 0");
  database.run("INSERT INTO erased_ranges VALUES (11, 11, 90)");
  database.run("UPDATE tool_call_texts SET call_number = -call_number, text = '' WHERE number % 11 = 0");
  database.run("INSERT INTO erased_call_ranges VALUES (11, 11, 90)");
  database.run("UPDATE sqlite_sequence SET seq = seq + 1000");
  database.run("COMMIT");
  database.close();
}

function fill(database: Database, table: CopiedTable, rows: number, random: Random): void {
  const facts = database.query<{ name: string; notnull: number }, []>(`PRAGMA table_info("${table.name}")`).all();
  const nullable = new Set(facts.filter(({ notnull }) => notnull === 0).map(({ name }) => name));
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const places = table.columns.map(() => "?").join(", ");
  const insert = database.prepare(`INSERT INTO "${table.name}" (${names}) VALUES (${places})`);
  for (let index = 1; index <= rows; index++) {
    const values = table.columns.map(({ name, kind }, at): SQLQueryBindings => {
      const reference = references[`${table.name}.${name}`];
      const place = table.key.length === 1 && table.key[0] === at ? index : random.below(rows);
      if (reference !== undefined) return pickFrom(database, reference, place);
      if (name === "number") return index * 3;
      if (!table.key.includes(at) && nullable.has(name) && random.below(3) === 0) return null;
      return makeValue(kind, name, index, random);
    });
    insert.run(...values);
  }
  insert.finalize();
}

function pickFrom(database: Database, [table, column]: [string, string], place: number): SQLQueryBindings {
  const rows = database.query(`SELECT "${column}" FROM "${table}" ORDER BY "${column}"`).values();
  return rows[place % rows.length]?.[0] as SQLQueryBindings;
}

function makeValue(kind: Kind, name: string, index: number, random: Random): SQLQueryBindings {
  if (kind === "boolean") return random.below(2);
  if (kind === "real") return random.pick([0, 1, 0.7, 1.1, 1e-7]);
  if (kind === "digest") return Bun.SHA256.hash(`${index}`);
  if (kind === "bytes") return crypto.getRandomValues(new Uint8Array(2 + random.below(510)));
  // Of both sizes of integer columns; times and counts differ from them in nothing.
  if (kind === "whole")
    return name === "block" || name.endsWith("s") || name === "status" ? random.below(2 ** 31) : index;
  if (kind === "index text")
    return random.below(4) === 0 ? `\0${Bun.SHA256.hash(`${index}`, "hex")}` : `${random.pick(texts)}${index}`;
  return isName.test(name) ? `${random.pick(texts)}${index}` : random.pick(texts);
}

/** All that a copy brings over, and what the triggers made of it: rows by table, sorted. */
export function readStore(dataDir: string): Record<string, Stored[]> {
  const database = openDatabase(dataDir);
  const read: Record<string, Stored[]> = {};
  const tables = database.query<{ name: string }, []>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  for (const { name } of tables.all()) {
    if (name in leftOut && name !== "account_holdings") continue;
    const { sqliteRows } = copiedTables.find((table) => table.name === name) ?? { sqliteRows: "true" };
    const only = `WHERE ${sqliteRows}`;
    const rows = database.query<Stored, []>(`SELECT * FROM "${name}" ${only}`).all();
    read[name] = rows.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  database.close();
  return read;
}
