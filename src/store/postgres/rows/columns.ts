/** SQL text of a table, derived from its drizzle columns: the select list, and the insert of many rows at once. */
import { getTableColumns, getTableName, type InferSelectModel } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Queries } from "../queries.ts";

type FieldOf<Table extends PgTable> = keyof Table["_"]["columns"] & string;

/** Fields whose column holds JSON, which arrive as text: `createReader` reads them. */
const isJson = (column: PgColumn) => column.dataType === "custom" && column.mapToDriverValue([]) === "[]";

/**
 * The one list of a table's columns beside its schema, for what plain SQL does with whole rows. `hidden` fields are
 * written, but not selected.
 */
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

    /**
     * Inserts rows with all their columns but `number`, which PostgreSQL assigns. The statement has one array for each
     * column, so its text is the same for any number of rows.
     */
    async insertMany(
      queries: Pick<Queries, "run">,
      rows: readonly Omit<InferSelectModel<Table>, "number">[],
    ): Promise<void> {
      const written = columns.filter(([field]) => field !== "number");
      const parameters = written.map(([field, column]) =>
        rows.map((row) => {
          const value = (row as Record<string, unknown>)[field] ?? null;
          return (value === null ? null : column.mapToDriverValue(value)) as string | number | boolean | null;
        }),
      );
      const names = written.map(([, column]) => `"${column.name}"`).join(", ");
      const arrays = written.map(([, column], at) => `$${at + 1}::${typeOf(column)}[]`);
      const text = `INSERT INTO ${getTableName(table)} (${names}) SELECT * FROM unnest(${arrays.join(", ")})`;
      await queries.run(text, parameters);
    },
  };
}

/** The driver gives a `bigint` as text. */
function readAs(column: PgColumn): string {
  return column.getSQLType() === "bigint" ? "::float8" : "";
}

function typeOf(column: PgColumn): string {
  // An array of whole numbers goes as `float8`, which holds them all.
  return column
    .getSQLType()
    .replace(/ COLLATE .*/, "")
    .replace("bigint", "float8");
}
