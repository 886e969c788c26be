/**
 * Inserts many rows by one array for each column: the statement is the same for any number of rows, and whatever is null.
 * Of one with a parameter for each value, the driver prepares another for every pattern of nulls, and keeps them all.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import { toSnakeCase } from "../../lib/field-names.ts";
import type { Insertion, Statement } from "../scripts/script.ts";
import { audit, recoveryCodes } from "./schema/accounts.ts";
import { companions, embedTokens, voiceOutbox } from "./schema/companions.ts";
import { knowledgeDocuments } from "./schema/knowledge.ts";

/** Those that scripts insert many rows into. */
const tables = [audit, recoveryCodes, companions, embedTokens, voiceOutbox, knowledgeDocuments];
const typesOf = new Map<string, ReadonlyMap<string, string>>(
  tables.map((table) => [
    getTableName(table),
    new Map(Object.entries(getTableColumns(table)).map(([field, column]) => [field, toArrayType(column.getSQLType())])),
  ]),
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
