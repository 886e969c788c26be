/**
 * Scripts: what the store does identically in both databases, written once. A script is a generator that yields statements and
 * is given their results: by SQLite within the same turn of the event loop, as its writes must be; by PostgreSQL when the
 * server has replied.
 *
 * Statements are PostgreSQL's. For SQLite, `$1` and `= ANY ($1::text[])` are translated, and `FOR UPDATE` goes, since it
 * has one writer. Whole numbers are numbers in both; booleans and JSON arrive as the database stores them.
 *
 * A text never contains values, since it is prepared and kept. A script may run again from the start, and catches nothing:
 * what a statement throws ends it. What every message or page view needs is each engine's own.
 */

import { toSnakeCase } from "../../../lib/field-names.ts";

/** An array is one parameter, for `= ANY ($1::text[])`. */
export type Parameter = Scalar | readonly Scalar[];
type Scalar = string | number | boolean | null | Uint8Array;

export interface Statement {
  /** `nothing`: it only waits for other transactions, of which SQLite has none. */
  readonly returns: "row" | "rows" | "count" | "nothing";
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Many rows, at least one, which each engine inserts as fast as it can. */
export interface Insertion {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, Exclude<Scalar, Uint8Array>>>[];
  readonly ending: string;
}

/** What an engine does itself in the middle of a script: called with its transaction. */
export type EnginePart = (transaction: never) => unknown;

/** Several statements are run in their order, without waiting for each result. */
export type Step = Statement | readonly Statement[] | Insertion | EnginePart;

export type Script<Result> = Generator<Step, Result, unknown>;

/** How an engine runs scripts. SQLite has one kind of write; PostgreSQL needs to know what each one waits for. */
export interface ScriptRunner {
  read<Result>(script: () => Script<Result>): Promise<Result>;
  /** For what takes long: requests do not queue behind it. */
  readHeavy<Result>(script: () => Script<Result>): Promise<Result>;
  /** In a transaction, which is on disk when this resolves. */
  write<Result>(script: () => Script<Result>): Promise<Result>;
  /** The same for what turns write: nothing that a cache may hold changes. */
  append<Result>(script: () => Script<Result>): Promise<Result>;
  /** As `write`, and one after the other under this name, so that those that wait hold no connection. */
  writeInOrder<Result>(name: string, script: () => Script<Result>): Promise<Result>;
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

/** One row for each of the parameters, without waiting for each result. */
export function* getEach<Row>(text: string, many: readonly (readonly Parameter[])[]): Script<(Row | null)[]> {
  return (yield many.map((parameters): Statement => ({ returns: "row", text, parameters }))) as (Row | null)[];
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
  const text = insertionOf(table, Object.keys(row), ending);
  return (yield { returns: "count", text, parameters: Object.values(row) }) as number;
}

/** Rows with the same fields. Returns what `ending` does, in any order. */
export function* insertAll<Row>(table: string, rows: Insertion["rows"], ending = ""): Script<Row[]> {
  return rows.length === 0 ? [] : ((yield { table, rows, ending }) as Row[]);
}

/** The statement that inserts one row. */
export function insertionOf(table: string, fields: readonly string[], ending: string): string {
  const placeholders = fields.map((_, at) => `$${at + 1}`);
  return `INSERT INTO ${table} (${fields.map(toSnakeCase).join(", ")}) VALUES (${placeholders.join(", ")}) ${ending}`;
}

/** The columns of these fields, of the table that the query calls `alias`: `s.id, s.created_at AS "createdAt"`. */
export function columns<Row>(alias: string, fields: readonly (keyof Row & string)[]): string {
  return fields.map((field) => `${alias}.${toSnakeCase(field)} AS "${field}"`).join(", ");
}
