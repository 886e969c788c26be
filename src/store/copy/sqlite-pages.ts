/** Reads tables of an SQLite database page by page. */
import type { Database } from "bun:sqlite";
import type { Key, Page, ReadableEnd } from "./pages.ts";
import { fromSqlite, type StoredValue, writeBytes } from "./sqlite-values.ts";
import type { CopiedTable } from "./tables.ts";

export function createSqliteReader(database: Database): Pick<ReadableEnd, "readPage"> {
  return {
    async readPage(table, after, limit) {
      // SQLite blocks the event loop: what was just sent to the other engine has to leave first.
      await new Promise((resolve) => setImmediate(resolve));
      const parameters = (after ?? []).map((value, place) => writeBytes(keyKind(table, place), value));
      const stored = database.query(selectPage(table, after !== null)).values(...parameters, limit) as StoredValue[][];
      return toPage(table, stored);
    },
  };
}

export function keyKind({ key, columns }: CopiedTable, place: number) {
  const kind = columns[key[place] ?? -1]?.kind;
  if (kind === undefined) throw new Error(`the key has no column ${place}`);
  return kind;
}

function selectPage(table: CopiedTable, isBehind: boolean): string {
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const key = table.key.map((place) => `"${table.columns[place]?.name}"`).join(", ");
  const places = table.key.map(() => "?").join(", ");
  const behind = isBehind ? ` AND (${key}) > (${places})` : "";
  return `SELECT ${names} FROM "${table.name}" WHERE ${table.sqliteRows}${behind} ORDER BY ${key} LIMIT ?`;
}

function toPage(table: CopiedTable, stored: readonly StoredValue[][]): Page {
  let replaced = 0;
  let bytes = 0;
  const onReplaced = () => void replaced++;
  const rows = stored.map((values) => {
    for (const value of values) bytes += typeof value === "string" ? value.length : 8;
    return fromSqlite(table, values, onReplaced);
  });
  const last = stored.at(-1);
  return { rows, bytes, replaced, last: last === undefined ? null : table.key.map((place) => toKeyPart(last[place])) };
}

/** Not as PostgreSQL would have it: rows between a text with NUL and the one without must not be passed over. */
function toKeyPart(value: StoredValue | undefined): Key[number] {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "string" || typeof value === "number") return value;
  throw new Error("a key has no value");
}
