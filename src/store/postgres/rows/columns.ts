/** SQL text of a table, derived from its drizzle columns: the select list, and how rows are read. */
import { getTableColumns, type InferSelectModel } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";

type FieldOf<Table extends PgTable> = keyof Table["_"]["columns"] & string;

/** Fields whose column holds JSON, which arrive as text: `createReader` reads them. */
const isJson = (column: PgColumn) => column.dataType === "custom" && column.mapToDriverValue([]) === "[]";

/** The one list of a table's columns beside its schema, for what reads whole rows. `hidden` fields are not selected. */
export function mapColumns<Table extends PgTable, Hidden extends FieldOf<Table> = never>(
  table: Table,
  hidden: readonly Hidden[] = [],
) {
  type Read = Omit<InferSelectModel<Table>, Hidden>;
  const isHidden = new Set<string>(hidden);
  const columns: [field: string, column: PgColumn][] = Object.entries(getTableColumns(table));
  const shown = columns.filter(([field]) => !isHidden.has(field));
  const json = shown.filter(([, column]) => isJson(column));

  return {
    /** Of the table that the query calls `alias`: `c.theme_color AS "themeColor", …`. */
    select(alias: string): string {
      return shown.map(([field, column]) => `${alias}."${column.name}"${readAs(column)} AS "${field}"`).join(", ");
    },

    /** Reads JSON in the row itself, except for the fields in `left`. */
    createReader<Left extends FieldOf<Table> = never>(left: readonly Left[] = []) {
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
