/** What the migrations of PostgreSQL make of an empty database. */
import { connect } from "../../src/engines/postgres/connection.ts";
import { type DriverQuery, type Parameter, Queries } from "../../src/engines/postgres/queries.ts";
import { readPrints } from "../../src/engines/postgres/schema-objects.ts";
import type { SchemaPrints } from "../../src/engines/store-shared/rows/schema-prints.ts";
import { createMigratedDatabase } from "./postgres-store.ts";

export async function readMadePrints(): Promise<SchemaPrints> {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect({ url, max: 1, statementMs: 10_000 });
  try {
    return await readPrints(
      new Queries((text, parameters) => sql.unsafe(text, parameters as Parameter[]) as unknown as DriverQuery),
    );
  } finally {
    await sql.close();
    await drop();
  }
}
