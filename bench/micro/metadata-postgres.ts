/** The same on PostgreSQL, whose server runs on the same cores. */
import { SQL } from "bun";
import { openPostgresStore } from "../../src/engines/postgres/open.ts";
import { processLog } from "../../src/lib/log.ts";
import { startPostgresServer } from "../../test/support/postgres-server.ts";
import { type MetadataFigures, measureMetadataOf } from "./metadata.ts";

const mebibyte = 1024 * 1024;

export async function measureMetadataOnPostgres(): Promise<MetadataFigures> {
  await using postgres = await startPostgresServer({ isDurable: true });
  const { url } = await postgres.createDatabase();
  const { store } = await openPostgresStore({ url, pool: 10, poolHeavy: 4, log: processLog() });
  try {
    return await measureMetadataOf(store, () => readSizes(url));
  } finally {
    await store.close();
  }
}

async function readSizes(url: string): Promise<{ indexMiB: number; restMiB: number }> {
  const sql = new SQL({ url, max: 1 });
  const [row] = await sql.unsafe(
    `SELECT pg_total_relation_size('companion_metadata')::float8 AS index, pg_database_size(current_database())::float8 AS all`,
  );
  await sql.close();
  return { indexMiB: row.index / mebibyte, restMiB: (row.all - row.index) / mebibyte };
}
