/** Reads tables of an SQLite database page by page. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { type Key, type Page, pageBytes, type ReadableEnd } from "./pages.ts";
import { fromSqlite, type StoredValue, writeBytes } from "./sqlite-values.ts";
import type { CopiedTable } from "./tables.ts";

export function createSqliteReader(database: Database): Pick<ReadableEnd, "readPage"> {
  return {
    async readPage(table, after, limit) {
      // SQLite blocks the event loop: what was just sent to the other engine has to leave first.
      await new Promise((resolve) => setImmediate(resolve));
      const parameters = (after ?? []).map((value, place) => writeBytes(keyKind(table, place), value));
      const fitting = countFitting(database, table, [...parameters, limit]);
      const select = database.query(selectPage(table, namesOf(table), after !== null));
      return toPage(table, select.values(...parameters, fitting) as StoredValue[][]);
    },
  };
}

export function keyKind({ key, columns }: CopiedTable, place: number) {
  const kind = columns[key[place] ?? -1]?.kind;
  if (kind === undefined) throw new Error(`the key has no column ${place}`);
  return kind;
}

const namesOf = ({ columns }: CopiedTable) => columns.map(({ name }) => `"${name}"`).join(", ");

/** Of the rows up to the limit, the last of the parameters: how many a page has room for, at least one. */
function countFitting(database: Database, table: CopiedTable, parameters: readonly SQLQueryBindings[]): number {
  const lengths = table.columns.flatMap(({ kind, name }) =>
    kind === "bytes" ? [`ifnull(octet_length("${name}"), 0)`] : [],
  );
  if (lengths.length === 0) return Number(parameters.at(-1));
  // Of a blob, only the length is read.
  const select = database.query(selectPage(table, lengths.join(" + "), parameters.length > 1));
  let bytes = 0;
  let rows = 0;
  for (const [length] of select.values(...parameters)) {
    bytes += Number(length) * 2;
    if (rows > 0 && bytes > pageBytes) break;
    rows++;
  }
  return rows;
}

function selectPage(table: CopiedTable, names: string, isBehind: boolean): string {
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
    for (const value of values) bytes += sizeOf(value);
    return fromSqlite(table, values, onReplaced);
  });
  const last = stored.at(-1);
  return { rows, bytes, replaced, last: last === undefined ? null : table.key.map((place) => toKeyPart(last[place])) };
}

function sizeOf(value: StoredValue): number {
  if (typeof value === "string") return value.length;
  return value instanceof Uint8Array ? value.byteLength * 2 : 8;
}

/** Not as PostgreSQL would have it: rows between a text with NUL and the one without must not be passed over. */
function toKeyPart(value: StoredValue | undefined): Key[number] {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "string" || typeof value === "number") return value;
  throw new Error("a key has no value");
}
