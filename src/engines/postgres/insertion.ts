/**
 * Inserts many rows by one array for each column: the statement is the same for any number of rows, and whatever is null.
 * Of one with a parameter for each value, the driver prepares another for every pattern of nulls, and keeps them all.
 */
import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { toSnakeCase } from "../../lib/field-names.ts";
import type { Insertion, Statement } from "../store-shared/scripts/script.ts";
import { columnsOf } from "./dialect.ts";
import { tables } from "./tables.ts";

/** Those that scripts insert many rows into. */
const { audit, recoveryCodes, companions, embedTokens, voiceOutbox, knowledgeDocuments, toolCalls, toolCallTexts } =
  tables;
const typesOf = new Map<string, ReadonlyMap<string, string>>(
  [audit, recoveryCodes, companions, embedTokens, voiceOutbox, knowledgeDocuments, toolCalls, toolCallTexts].map(
    (table) => [
      getTableName(table as unknown as PgTable),
      new Map(Object.entries(columnsOf(table)).map(([field, column]) => [field, toArrayType(column.getSQLType())])),
    ],
  ),
);

export function toStatement({ table, rows, ending }: Insertion): Statement {
  const types = typesOf.get(table);
  if (types === undefined) throw new Error(`no types of ${table}`);
  const fields = Object.keys(rows[0] ?? {});
  const arrays = fields.map((field, at) => `$${at + 1}::${types.get(field)}`);
  const into = `${table} (${fields.map(toSnakeCase).join(", ")})`;
  const text = `INSERT INTO ${into} SELECT * FROM unnest(${arrays.join(", ")}) ${ending}`;
  return { returns: "rows", text, parameters: fields.map((field) => rows.map((row) => row[field] ?? null)) };
}

/** Whole numbers go as `float8`, which holds them all. */
function toArrayType(type: string): string {
  return `${type.replace(/ COLLATE .*/, "").replace("bigint", "float8")}[]`;
}
