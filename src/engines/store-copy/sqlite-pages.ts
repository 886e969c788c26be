/** Reads tables of an SQLite database page by page, and converts its values to those of PostgreSQL, and back. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { type Key, type Page, pageBytes, type ReadableEnd } from "./pages.ts";
import type { CopiedTable, Kind, Row, Value } from "./tables.ts";

export function createSqliteReader(database: Database): Pick<ReadableEnd, "readPage"> {
  return {
    async readPage(table, after, limit) {
      // SQLite blocks the event loop: what was just sent to the other engine has to leave first.
      await new Promise((resolve) => setImmediate(resolve));
      const parameters = (after ?? []).map((value, index) => writeBytes(keyKind(table, index), value));
      const fitting = countFitting(database, table, [...parameters, limit]);
      const select = database.query(selectPage(table, namesOf(table), after !== null));
      return toPage(table, select.values(...parameters, fitting) as StoredValue[][]);
    },
  };
}

export function keyKind({ key, columns }: CopiedTable, index: number) {
  const kind = columns[key[index] ?? -1]?.kind;
  if (kind === undefined) throw new Error(`the key has no column ${index}`);
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
  const key = table.key.map((index) => `"${table.columns[index]?.name}"`).join(", ");
  const placeholders = table.key.map(() => "?").join(", ");
  const behind = isBehind ? ` AND (${key}) > (${placeholders})` : "";
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
  return { rows, bytes, replaced, last: last === undefined ? null : table.key.map((index) => toKeyPart(last[index])) };
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

/** As the driver gives it. */
type StoredValue = string | number | bigint | boolean | Uint8Array | null;

const sqliteMark = "\0";
const postgresMark = "\u0001";

/** The row as both engines can give it; `onReplaced` is called for each text that lost a NUL. */
function fromSqlite({ columns }: CopiedTable, stored: readonly StoredValue[], onReplaced: () => void): Row {
  return columns.map(({ kind }, index) => {
    const value = stored[index] ?? null;
    if (kind === "text" && typeof value === "string" && value.includes("\0")) {
      onReplaced();
      return value.replaceAll("\0", "\ufffd");
    }
    return read(kind, value);
  });
}

function read(kind: Kind, value: StoredValue): Value {
  if (value === null) return null;
  if (kind === "boolean") return value !== 0;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex");
  if (kind === "index text") return readIndexText(String(value));
  return typeof value === "bigint" ? Number(value) : value;
}

export function toSqlite({ columns }: CopiedTable, row: Row): SQLQueryBindings[] {
  return columns.map(({ kind }, index) => write(kind, row[index] ?? null));
}

/** Also for values of a key, which are the stored ones with bytes in hexadecimal. */
function writeBytes(kind: Kind, value: Value): SQLQueryBindings {
  return kind === "bytes" || kind === "digest" ? Buffer.from(String(value), "hex") : value;
}

function write(kind: Kind, value: Value): SQLQueryBindings {
  if (value === null) return null;
  if (kind === "boolean") return value === true ? 1 : 0;
  if (kind === "index text") return writeIndexText(String(value));
  return writeBytes(kind, value);
}

function readIndexText(text: string): string {
  if (text.startsWith(sqliteMark)) return postgresMark + text.slice(1);
  return text.startsWith(postgresMark) ? postgresMark + text : text;
}

function writeIndexText(text: string): string {
  if (text.startsWith(postgresMark + postgresMark)) return text.slice(1);
  return text.startsWith(postgresMark) ? sqliteMark + text.slice(1) : text;
}
