/** Reads tables of a PostgreSQL database page by page. */
import type { Queries } from "../postgres/queries.ts";
import { type Key, type Page, pageBytes, type ReadableEnd } from "./pages.ts";
import type { CopiedTable, Kind, Row } from "./tables.ts";

/** In hexadecimal, two characters each. */
const mostBytes = pageBytes / 2;

const casts: Readonly<Partial<Record<Kind, string>>> = { whole: "::float8::bigint" };

export function createPostgresReader(queries: Queries): Pick<ReadableEnd, "readPage"> {
  return {
    async readPage(table, after, limit) {
      return toPage(table, await queries.all<{ row: string }>(selectPage(table, after !== null, limit), after ?? []));
    },
  };
}

/** Each row as one text of JSON, which the driver reads three times as fast as its values. */
function selectPage(table: CopiedTable, isBehind: boolean, limit: number): string {
  const { name, columns, key } = table;
  const values = columns.map((column) =>
    column.kind === "bytes" ? `encode(t."${column.name}", 'hex')` : `t."${column.name}"`,
  );
  const keyColumns = key.map((place) => columns[place]);
  const names = keyColumns.map((column) => `"${column?.name}"`).join(", ");
  const bounds = keyColumns.map((column, place) => `$${place + 1}${casts[column?.kind ?? "text"] ?? ""}`).join(", ");
  const behind = isBehind ? `WHERE (${names}) > (${bounds})` : "";
  const rows = `SELECT * FROM "${name}" ${behind} ORDER BY ${names} LIMIT ${limit}`;
  return `SELECT json_build_array(${values.join(", ")})::text AS row FROM (${fitting(table, names, rows)}) AS t
    ORDER BY ${names}`;
}

/** Those of the rows that a page has room for, at least one. Only the length is read of bytes that are left out. */
function fitting({ columns }: CopiedTable, key: string, rows: string): string {
  const lengths = columns.flatMap(({ kind, name }) => (kind === "bytes" ? [`octet_length(r."${name}")`] : []));
  if (lengths.length === 0) return rows;
  const length = lengths.join(" + ");
  return `SELECT * FROM (
      SELECT r.*, sum(${length}) OVER (ORDER BY ${key}) - (${length}) AS bytes_before FROM (${rows}) AS r
    ) AS summed WHERE bytes_before < ${mostBytes}`;
}

function toPage(table: CopiedTable, texts: readonly { row: string }[]): Page {
  let bytes = 0;
  const rows = texts.map(({ row }) => {
    bytes += row.length;
    return JSON.parse(row) as Row;
  });
  const last = rows.at(-1);
  const lastKey = last === undefined ? null : (table.key.map((place) => last[place]) as unknown as Key);
  return { rows, bytes, replaced: 0, last: lastKey };
}
