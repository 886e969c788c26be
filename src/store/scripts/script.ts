/**
 * Scripts: what the store does the same way in both databases, said once. A script is a generator that yields statements and
 * is given their results: by SQLite within the same turn of the event loop, as its writes must be; by PostgreSQL when the
 * server has replied.
 *
 * Statements are PostgreSQL's. For SQLite, `$1` and `= ANY ($1::text[])` are translated, and `FOR UPDATE` goes, since it
 * has one writer. Whole numbers are numbers in both; booleans and JSON arrive as the database stores them.
 *
 * A text never contains values, since it is prepared and kept. A script may run again from the start, and catches nothing:
 * what a statement throws ends it. What every message or page view needs is each engine's own.
 */

import { toSnakeCase } from "../../lib/field-names.ts";

/** An array is one parameter, for `= ANY ($1::text[])`. */
export type Parameter = Scalar | readonly Scalar[];
type Scalar = string | number | boolean | null | Uint8Array;

export interface Statement {
  /** `nothing`: it only waits for other transactions, of which SQLite has none. */
  readonly returns: "row" | "rows" | "count" | "nothing";
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** What an engine does itself in the middle of a script: called with its transaction. */
export type EnginePart = (transaction: never) => unknown;

/** Several statements are run in their order, without waiting for each result. */
export type Step = Statement | readonly Statement[] | EnginePart;

export type Script<Result> = Generator<Step, Result, unknown>;

/** How an engine runs scripts. SQLite has one kind of write; PostgreSQL needs to know what each one waits for. */
export interface ScriptRunner {
  read<Result>(script: () => Script<Result>): Promise<Result>;
  /** For what takes long: requests do not queue behind it. */
  readHeavy<Result>(script: () => Script<Result>): Promise<Result>;
  /** In a transaction, which is on disk when this resolves. */
  write<Result>(script: () => Script<Result>): Promise<Result>;
  /** For what people change of an account: one after the other, so that limits hold. */
  change<Result>(accountId: string, script: () => Script<Result>): Promise<Result>;
  writeHeavy<Result>(script: () => Script<Result>): Promise<Result>;
  changeHeavy<Result>(accountId: string, script: () => Script<Result>): Promise<Result>;
}

export function* get<Row>(text: string, ...parameters: Parameter[]): Script<Row | null> {
  return (yield { returns: "row", text, parameters }) as Row | null;
}

export function* all<Row>(text: string, ...parameters: Parameter[]): Script<Row[]> {
  return (yield { returns: "rows", text, parameters }) as Row[];
}

/** Returns how many rows were changed. */
export function* run(text: string, ...parameters: Parameter[]): Script<number> {
  return (yield { returns: "count", text, parameters }) as number;
}

/** Many changes in their order, without waiting for each result. */
export function* runAll(text: string, many: readonly (readonly Parameter[])[]): Script<void> {
  yield many.map((parameters): Statement => ({ returns: "count", text, parameters }));
}

/** What an engine does itself. */
export function* part<Result>(work: EnginePart): Script<Result> {
  return (yield work) as Result;
}

/** Locks rows until the transaction ends, where the order of locks matters. */
export function* lockRows(text: string, ...parameters: Parameter[]): Script<void> {
  yield { returns: "nothing", text, parameters };
}

/** Waits until no other transaction holds the lock of this name, which ends with the transaction. */
export const lock = (name: string): Script<void> => lockRows(lockStatement, name);

export const lockStatement = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";

type Fields = Readonly<Record<string, Parameter>>;

/** Fields become columns: `createdAt` is `created_at`. Returns how many rows were inserted. */
export function* insert(table: string, row: Fields, ending = ""): Script<number> {
  return (yield insertion(table, [row], ending)) as number;
}

/** A statement inserts as many or one: its text depends on how many they are. */
const rowsAtOnce = 50;

/** Rows with the same fields. Returns what `ending` does, in any order. */
export function* insertAll<Row>(table: string, rows: readonly Fields[], ending = ""): Script<Row[]> {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const some = rows.slice(at, at + (rows.length - at < rowsAtOnce ? 1 : rowsAtOnce));
    statements.push({ ...insertion(table, some, ending), returns: "rows" });
    at += some.length;
  }
  return ((yield statements) as Row[][]).flat();
}

function insertion(table: string, rows: readonly Fields[], ending: string): Statement {
  const fields = Object.keys(rows[0] ?? {});
  const parameters = rows.flatMap((row) => fields.map((field) => row[field] ?? null));
  const places = parameters.map((_, at) => `$${at + 1}`);
  const tuples = rows.map((_, row) => `(${places.slice(row * fields.length, (row + 1) * fields.length).join(", ")})`);
  const text = `INSERT INTO ${table} (${fields.map(toSnakeCase).join(", ")}) VALUES ${tuples.join(", ")} ${ending}`;
  return { returns: "count", text, parameters };
}

/** The columns of these fields, of the table that the query calls `alias`: `s.id, s.created_at AS "createdAt"`. */
export function columns<Row>(alias: string, fields: readonly (keyof Row & string)[]): string {
  return fields.map((field) => `${alias}.${toSnakeCase(field)} AS "${field}"`).join(", ");
}
