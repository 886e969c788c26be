/** A stopped PostgreSQL store: one connection that holds the lock of the copy, and does all of its work. */
import { AppError } from "../../domain/errors.ts";
import { explainConnectFailure, readServerFacts, requireFit } from "../postgres/connect-failure.ts";
import { connect } from "../postgres/connection.ts";
import { copyApplication, isInUse, releaseCopyLock, takeCopyLock } from "../postgres/copy-guard.ts";
import { Pool } from "../postgres/pool.ts";
import { Queries } from "../postgres/queries.ts";
import { type Key, type Page, pageBytes, type ReadableEnd } from "./pages.ts";
import type { CopiedTable, Kind, Row } from "./tables.ts";

export interface PostgresSession {
  /** `postgres://HOST/DATABASE`. */
  name: string;
  /** All on one connection. */
  queries: Queries;
  /** For work on another connection meanwhile. */
  pool: Pool;
  close(): Promise<void>;
}

/** For a page of rows, and for `ANALYZE` of the largest table. */
const statementMs = 10 * 60_000;
const connectMs = 10_000;
/** The system may take a moment to end a server, or a copy, that was killed. */
const othersLeaveMs = 3_000;

/** Rejects with `unavailable` if the server cannot be used, and with `conflict` while others use the database. */
export async function openPostgresSession(url: string): Promise<PostgresSession> {
  const open = () => connect({ url, max: 2, statementMs, application: copyApplication, hasFixedPlans: true });
  const pool = new Pool({ connect: open, deadlineMs: statementMs + 10_000 });
  try {
    const connection = await pool.inTime(() => pool.reserve(), connectMs);
    const queries = new Queries((text, parameters) => pool.inTime(() => connection.send(text, parameters)));
    requireFit(await readServerFacts(queries));
    await waitAlone(queries);
    return { name: nameOf(url), queries, pool, close: () => closeSession(pool, queries) };
  } catch (error) {
    await pool.close();
    throw explain(error, nameOf(url));
  }
}

/** The server ends a closed connection a moment later, and the next process would still find its lock. */
async function closeSession(pool: Pool, queries: Queries): Promise<void> {
  // Where the connection is broken, the lock goes with it.
  await releaseCopyLock(queries).catch(() => {});
  await pool.close();
}

async function waitAlone(queries: Queries): Promise<void> {
  const untilMs = performance.now() + othersLeaveMs;
  while (!(await takeCopyLock(queries))) {
    if (performance.now() > untilMs) throw inUse("another copy");
    await Bun.sleep(100);
  }
  while (await isInUse(queries)) {
    if (performance.now() > untilMs) throw inUse("a server or a command of companiond");
    await Bun.sleep(100);
  }
}

function inUse(who: string): AppError {
  return new AppError("conflict", `The database in PostgreSQL is in use by ${who}. Stop it first.`);
}

/** Without user and password. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

function explain(error: unknown, name: string): unknown {
  if (error instanceof AppError && (error.code !== "unavailable" || error.cause === undefined)) return error;
  const cause = error instanceof AppError ? error.cause : error;
  return new AppError("unavailable", `${name} ${explainConnectFailure(cause)}.`);
}

/** In hexadecimal, two characters each. */
const maxBytes = pageBytes / 2;

const casts: Readonly<Partial<Record<Kind, string>>> = { whole: "::float8::bigint" };

/** Reads tables of a PostgreSQL database page by page. */
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
  const keyColumns = key.map((index) => columns[index]);
  const names = keyColumns.map((column) => `"${column?.name}"`).join(", ");
  const bounds = keyColumns.map((column, index) => `$${index + 1}${casts[column?.kind ?? "text"] ?? ""}`).join(", ");
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
    ) AS summed WHERE bytes_before < ${maxBytes}`;
}

function toPage(table: CopiedTable, texts: readonly { row: string }[]): Page {
  let bytes = 0;
  const rows = texts.map(({ row }) => {
    bytes += row.length;
    return JSON.parse(row) as Row;
  });
  const last = rows.at(-1);
  const lastKey = last === undefined ? null : (table.key.map((index) => last[index]) as unknown as Key);
  return { rows, bytes, replaced: 0, last: lastKey };
}
