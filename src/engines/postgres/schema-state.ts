/** The state of the database: whether it is ours, how far it is migrated, and who may read it. */
import type { Queries } from "./queries.ts";

export interface SchemaState {
  /** See `schemaAfter`; 0 for an empty database. */
  version: number;
  /** Programs whose own number is lower must not touch it. */
  oldestReader: number;
  /** Where the data is being copied from; null if it is whole. */
  copyFrom: string | null;
}

/** One row, which makes a database ours. */
export const stateTable = `CREATE TABLE companiond (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version integer NOT NULL,
  oldest_reader integer NOT NULL,
  copy_from text
)`;

/** `other` if tables of another program are in the schema. */
export async function readSchemaState(queries: Queries): Promise<SchemaState | "other"> {
  const found = await queries.get<{ isOurs: boolean; others: number }>(
    `SELECT to_regclass(quote_ident(current_schema()) || '.companiond') IS NOT NULL AS "isOurs",
       (SELECT count(*)::int FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')) AS others`,
  );
  if (found === null || !found.isOurs) {
    return (found?.others ?? 0) > 0 ? "other" : { version: 0, oldestReader: 0, copyFrom: null };
  }
  const row = await queries.get<SchemaState>(
    `SELECT version, oldest_reader AS "oldestReader", copy_from AS "copyFrom" FROM companiond`,
  );
  return row ?? { version: 0, oldestReader: 0, copyFrom: null };
}

export async function writeSchemaState(queries: Queries, { version, oldestReader }: SchemaState): Promise<void> {
  await queries.run(
    `INSERT INTO companiond (version, oldest_reader) VALUES ($1, $2)
     ON CONFLICT (is_only) DO UPDATE SET version = excluded.version, oldest_reader = excluded.oldest_reader`,
    [version, oldestReader],
  );
}
