/** SQL text of a table, derived from its drizzle columns: the select list, the insert, and how rows are read. */
import type { SQLQueryBindings } from "bun:sqlite";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { FieldOf, Row, Table } from "../../store-shared/tables/dialect.ts";
import type { SqliteEngine } from "../engine.ts";

/** A row as SQLite gives it, under the names of the fields: a boolean is 0 or 1, JSON is text. */
export type StoredRow<Described extends Table> = { [Field in keyof Described]: Described[Field]["_"]["stored"] };

interface ListedColumn {
  field: string;
  column: SQLiteColumn;
  /** Whether SQLite stores another type than the field has. */
  isEncoded: boolean;
}

/**
 * The one list of a table's columns beside its schema, for what plain SQL does with whole rows. `hidden` fields are
 * written, but not selected. Nothing is derived before a query needs it, since few queries run at startup.
 */
export function mapColumns<Described extends Table, Hidden extends FieldOf<Described> = never>(
  described: Described,
  hidden: readonly Hidden[] = [],
) {
  type Shown = Exclude<FieldOf<Described>, Hidden>;
  const table = described as unknown as SQLiteTable;
  const isHidden = new Set<string>(hidden);
  let listed: ListedColumn[] | null = null;
  function list() {
    listed ??= Object.entries<SQLiteColumn>(getTableColumns(table)).map(([field, column]) => {
      return { field, column, isEncoded: column.dataType === "boolean" || column.dataType === "json" };
    });
    return listed;
  }

  return {
    /** Of the table that the query calls `alias`: `c.theme_color AS themeColor, …`. */
    select(alias: string): string {
      const shown = list().filter(({ field }) => !isHidden.has(field));
      return shown.map(({ field, column }) => `${alias}.${column.name} AS ${field}`).join(", ");
    },

    /** A function that decodes the stored values in the row itself, except for the fields in `left`. */
    createReader<Left extends Shown = never>(left: readonly Left[] = []) {
      type Read = Omit<Row<Described>, Hidden | Left> & Pick<StoredRow<Described>, Left>;
      let encoded: ListedColumn[] | null = null;
      return (row: Pick<StoredRow<Described>, Shown>): Read => {
        encoded ??= list().filter(({ field, isEncoded }) => {
          return isEncoded && !isHidden.has(field) && !(left as readonly string[]).includes(field);
        });
        const values: Record<string, unknown> = row;
        for (const { field, column } of encoded) values[field] = column.mapFromDriverValue(values[field]);
        return values as Read;
      };
    },

    /** A prepared INSERT of whole rows. `ending` follows the values, and may have parameters and return a row. */
    createInsert<Returned = never>(engine: SqliteEngine, ending = "") {
      let written: ListedColumn[] = [];
      const query = engine.query<Returned, SQLQueryBindings[]>(() => {
        // SQLite assigns the numbers itself.
        written = list().filter(({ field }) => field !== "number");
        const names = written.map(({ column }) => column.name);
        const placeholders = names.map(() => "?").join(", ");
        return `INSERT INTO ${getTableName(table)} (${names.join(", ")}) VALUES (${placeholders}) ${ending}`;
      });
      return (row: Omit<Row<Described>, "number">, ...more: SQLQueryBindings[]): Returned | null => {
        const { statement } = query;
        const values: Record<string, unknown> = row;
        const parameters: SQLQueryBindings[] = [];
        for (const { field, column, isEncoded } of written) {
          const value = values[field];
          parameters.push((isEncoded && value !== null ? column.mapToDriverValue(value) : value) as SQLQueryBindings);
        }
        parameters.push(...more);
        return statement.get(...parameters);
      };
    },
  };
}
