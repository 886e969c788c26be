/** What the migrations of each storage engine make of an empty database. */
import { Database } from "bun:sqlite";
import { connect } from "../../src/store/postgres/connection.ts";
import { type DriverQuery, type Parameter, Queries } from "../../src/store/postgres/queries.ts";
import { readPrints as readPostgresPrints } from "../../src/store/postgres/schema-objects.ts";
import type { SchemaPrints } from "../../src/store/rows/schema-prints.ts";
import { migrateSqlite } from "../../src/store/sqlite/migrator.ts";
import { readPrints, readWholePrint } from "../../src/store/sqlite/schema-objects.ts";
import { createMigratedDatabase } from "./postgres-store.ts";
import { temporaryDirectory } from "./temporary.ts";

export interface MadePrints {
  sqlite: { schemaPrints: SchemaPrints; wholePrint: string };
  postgres: { schemaPrints: SchemaPrints };
}

export async function readMadePrints(): Promise<MadePrints> {
  const database = await createMigratedDatabase();
  try {
    return { sqlite: await readSqlite(), postgres: { schemaPrints: await readPostgres(database.url) } };
  } finally {
    await database.drop();
  }
}

async function readSqlite(): Promise<MadePrints["sqlite"]> {
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  using database = new Database(directory.file("companiond.db"));
  return { schemaPrints: readPrints(database), wholePrint: readWholePrint(database) };
}

async function readPostgres(url: string): Promise<SchemaPrints> {
  const sql = connect({ url, max: 1, statementMs: 10_000 });
  try {
    return await readPostgresPrints(
      new Queries((text, parameters) => sql.unsafe(text, parameters as Parameter[]) as unknown as DriverQuery),
    );
  } finally {
    await sql.close();
  }
}
