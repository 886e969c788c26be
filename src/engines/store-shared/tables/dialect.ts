/** What tables are described with, for either database: Drizzle's columns and indexes, as far as both have them. */
import type { SQL } from "drizzle-orm";

/** `Data` is what the program sees, `Stored` what SQLite has instead, which knows neither booleans nor JSON. */
export interface Column<Data, Stored = Data, Null = null> {
  /** For types alone. */
  readonly _: { data: Data | Null; stored: Stored | Null };
  notNull(): Column<Data, Stored, never>;
  primaryKey(): Column<Data, Stored, never>;
  unique(): this;
  default(value: Data | SQL): this;
  references(column: () => AnyColumn, actions: { onDelete: "cascade" }): this;
}

// biome-ignore lint/suspicious/noExplicitAny: a column of any type.
type AnyColumn = Column<any, any, any>;

/** A table is its columns, by the names of the fields. */
export type Table = Readonly<Record<string, AnyColumn>>;
export type FieldOf<Described extends Table> = keyof Described & string;

/** A row as the program sees it. */
export type Row<Described extends Table> = { [Field in keyof Described]: Described[Field]["_"]["data"] };

interface Index {
  on(...columns: [AnyColumn, ...AnyColumn[]]): Index;
  where(condition: SQL): Index;
}

/** What a database has for each. Tables are functions of this. */
export interface Dialect {
  /** Made when it is first used, which is why its columns are a function: most starts need few tables. */
  table<Described extends Table>(
    name: string,
    columns: () => Described,
    keysAndIndexes?: (row: Described) => unknown[],
  ): Described;
  /** The key `number`: counts up with each row, in the order in which rows are written. */
  number(): Column<number, number, never>;
  /** The same where SQLite, too, must never give a deleted row's number to another. */
  lastingNumber(): Column<number, number, never>;
  /** Sorts by its bytes, as in JavaScript: ids, days, names. */
  text<Value extends string = string>(name: string): Column<NoInfer<Value>>;
  /** A whole number up to 2^53: a time in milliseconds, a count. */
  whole(name: string): Column<number>;
  /** A whole number up to 2^31. */
  small(name: string): Column<number>;
  real(name: string): Column<number>;
  boolean(name: string): Column<boolean, number>;
  /** As it was written: the order of members and the form of numbers stay. */
  json<Value>(name: string): Column<Value, string>;
  bytes(name: string): Column<Uint8Array>;
  primaryKey(key: { name?: string; columns: [AnyColumn, ...AnyColumn[]] }): unknown;
  index(name: string): Index;
  uniqueIndex(name: string): Index;
  /** For what the other database does not have. Indexes of SQLite's end with the row's number automatically. */
  inPostgres<Part>(...parts: Part[]): Part[];
  inSqlite<Part>(...parts: Part[]): Part[];
}
