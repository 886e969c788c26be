/** Values as SQLite holds them, and as PostgreSQL does. */
import type { SQLQueryBindings } from "bun:sqlite";
import type { CopiedTable, Kind, Row, Value } from "./tables.ts";

/** As the driver gives it. */
export type StoredValue = string | number | bigint | boolean | Uint8Array | null;

const sqliteMark = "\0";
const postgresMark = "\u0001";

/** The row as both engines can give it; `onReplaced` is called for each text that lost a NUL. */
export function fromSqlite({ columns }: CopiedTable, stored: readonly StoredValue[], onReplaced: () => void): Row {
  return columns.map(({ kind }, place) => {
    const value = stored[place] ?? null;
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
  return columns.map(({ kind }, place) => write(kind, row[place] ?? null));
}

/** Also for values of a key, which are the stored ones with bytes in hexadecimal. */
export function writeBytes(kind: Kind, value: Value): SQLQueryBindings {
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
