/** Rows as SQL: the select list of a table, how rows are read, and many of them as one array for each column. */
import type { PgColumn } from "drizzle-orm/pg-core";
import type { FieldOf, Row, Table } from "../../store-shared/tables/dialect.ts";
import type { Parameter } from "../queries.ts";
import { columnsOf } from "../tables.ts";

/** Fields whose column holds JSON, which arrive as text: `createReader` reads them. */
const isJson = (column: PgColumn) => column.dataType === "custom" && column.mapToDriverValue([]) === "[]";

/** The one list of a table's columns beside its schema, for what reads whole rows. `hidden` fields are not selected. */
export function mapColumns<Described extends Table, Hidden extends FieldOf<Described> = never>(
  table: Described,
  hidden: readonly Hidden[] = [],
) {
  type Read = Omit<Row<Described>, Hidden>;
  const isHidden = new Set<string>(hidden);
  const columns = Object.entries(columnsOf(table));
  const shown = columns.filter(([field]) => !isHidden.has(field));
  const json = shown.filter(([, column]) => isJson(column));

  return {
    /** Of the table that the query calls `alias`: `c.theme_color AS "themeColor", …`. */
    select(alias: string): string {
      return shown.map(([field, column]) => `${alias}."${column.name}"${readAs(column)} AS "${field}"`).join(", ");
    },

    /** Reads JSON in the row itself, except for the fields in `left`. */
    createReader<Left extends FieldOf<Described> = never>(left: readonly Left[] = []) {
      const read = json.filter(([field]) => !(left as readonly string[]).includes(field));
      return (row: object): Omit<Read, Left> & Record<Left, string> => {
        const values = row as Record<string, unknown>;
        for (const [field, column] of read) values[field] = column.mapFromDriverValue(values[field]);
        return values as Omit<Read, Left> & Record<Left, string>;
      };
    },
  };
}

/** The driver gives a `bigint` as text. */
function readAs(column: PgColumn): string {
  return column.getSQLType() === "bigint" ? "::float8" : "";
}

type Value = string | number | boolean | null;

/** For each of `fields` the values of all rows, in order. */
export function toArrays<Row>(rows: readonly Row[], fields: readonly ((row: Row) => Value)[]): Parameter[] {
  return fields.map((field) => rows.map(field));
}

/** `$first::type, …`: placeholders of parameters of these types. */
export function placeholders(types: readonly string[], first = 1): string {
  return types.map((type, at) => `$${first + at}::${type}`).join(", ");
}
