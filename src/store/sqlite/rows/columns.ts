/** SQL text of a table, derived from its drizzle columns: the select list, the insert, and how rows are read. */
import type { SQLQueryBindings } from "bun:sqlite";
import { getTableColumns, getTableName, type InferSelectModel } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SqliteEngine } from "../engine.ts";

type Columns<Table extends SQLiteTable> = Table["_"]["columns"];
type FieldOf<Table extends SQLiteTable> = keyof Columns<Table> & string;
type Stored<Column extends SQLiteColumn> =
  | (Column["_"]["dataType"] extends "boolean" | "json" ? Column["_"]["driverParam"] : Column["_"]["data"])
  | (Column["_"]["notNull"] extends true ? never : null);

/** A row as SQLite gives it, under the names of the fields: a boolean is 0 or 1, JSON is text. */
export type StoredRow<Table extends SQLiteTable> = { [Field in FieldOf<Table>]: Stored<Columns<Table>[Field]> };

/**
 * The one list of a table's columns beside its schema, for what plain SQL does with whole rows. `hidden` fields are
 * written, but not selected. Nothing is derived before a query needs it, since few queries run at startup.
 *
 * Plain SQL is for hot paths and for what the query builder cannot express: the builder's prepared queries take half as
 * long again (a companion by id: 5.3 µs, not 3.4), and leave their parameters to SQLite's planner (see `engine.ts`).
 */
export function mapColumns<Table extends SQLiteTable, Hidden extends FieldOf<Table> = never>(
  table: Table,
  hidden: readonly Hidden[] = [],
) {
  type Shown = Exclude<FieldOf<Table>, Hidden>;
  const isHidden = new Set<string>(hidden);
  let listed: [field: FieldOf<Table>, column: SQLiteColumn][] | null = null;
  function list() {
    listed ??= Object.entries(getTableColumns(table)) as [FieldOf<Table>, SQLiteColumn][];
    return listed;
  }

  return {
    /** Of the table that the query calls `alias`: `c.theme_color AS themeColor, …`. */
    select(alias: string): string {
      const shown = list().filter(([field]) => !isHidden.has(field));
      return shown.map(([field, { name }]) => `${alias}.${name} AS ${field}`).join(", ");
    },

    /** A function that decodes the stored values in the row itself, except for the fields in `left`. */
    createReader<Left extends Shown = never>(left: readonly Left[] = []) {
      type Read = Omit<InferSelectModel<Table>, Hidden | Left> & Pick<StoredRow<Table>, Left>;
      let encoded: [FieldOf<Table>, SQLiteColumn][] | null = null;
      return (row: Pick<StoredRow<Table>, Shown>): Read => {
        encoded ??= list().filter(([field, { dataType }]) => {
          const isRead = !isHidden.has(field) && !(left as readonly string[]).includes(field);
          return isRead && (dataType === "boolean" || dataType === "json");
        });
        const values: Record<string, unknown> = row;
        for (const [field, column] of encoded) values[field] = column.mapFromDriverValue(values[field]);
        return values as Read;
      };
    },

    /** A prepared INSERT of whole rows. `ending` follows the values, and may have parameters and return a row. */
    createInsert<Returned = never>(engine: SqliteEngine, ending = "") {
      /** SQLite assigns the numbers itself. */
      const written = () => list().filter(([field]) => field !== "number");
      const query = engine.query<Returned, SQLQueryBindings[]>(() => {
        const names = written().map(([, { name }]) => name);
        const places = names.map(() => "?").join(", ");
        return `INSERT INTO ${getTableName(table)} (${names.join(", ")}) VALUES (${places}) ${ending}`;
      });
      let columns: ReturnType<typeof written> | null = null;
      return (row: Omit<InferSelectModel<Table>, "number">, ...more: SQLQueryBindings[]): Returned | null => {
        columns ??= written();
        const values: Record<string, unknown> = row;
        const parameters: SQLQueryBindings[] = [];
        for (const [field, column] of columns) {
          const value = values[field];
          parameters.push(value === null ? null : (column.mapToDriverValue(value) as SQLQueryBindings));
        }
        return query.statement.get(...parameters, ...more);
      };
    },
  };
}
