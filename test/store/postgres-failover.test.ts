/** PostgreSQL comes back as a read-only replica, as after a failover to the wrong server, and is promoted. */
import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { SQL } from "bun";
import { migratePostgres } from "../../src/engines/postgres/migrator.ts";
import { createEngine } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { openPostgresInstance, type PostgresInstance } from "../support/postgres-instance.ts";
import { startPostgresServer } from "../support/postgres-server.ts";

const addSecret = "INSERT INTO server_secrets (name, sealed) VALUES ($1, $2)";

function isAlive({ coordination }: PostgresInstance): boolean {
  try {
    coordination.checkAlive();
    return true;
  } catch {
    return false;
  }
}

test("a server that takes no writes is unavailable and not ready, and is used again once it takes them", async () => {
  await using server = await startPostgresServer({ settings: { wal_level: "replica" } });
  const { url } = await server.createDatabase();
  const engine = createEngine({ url, pool: 2, poolHeavy: 1, log: createCapturedLog() });
  await migratePostgres(engine.heavyPool);
  const instance = await openPostgresInstance(url);
  const row = await engine.quick.get<{ directory: string }>("SELECT current_setting('data_directory') AS directory");
  const signal = `${row?.directory}/standby.signal`;
  writeFileSync(signal, "");
  // The server deletes it.
  chmodSync(signal, 0o666);
  await server.stop();
  await server.start();

  const write = (name: string) => engine.write((transaction) => transaction.run(addSecret, [name, "sealed"]));
  await expect(write("a")).rejects.toMatchObject({ code: "unavailable" });
  expect(await engine.quick.get("SELECT 1 AS one")).toEqual({ one: 1 });
  await eventually(() => !isAlive(instance));

  await using admin = new SQL(url, { max: 1 });
  await admin`SELECT pg_promote()`;
  await write("b");
  await eventually(() => isAlive(instance));
  await instance.close();
  await engine.close();
});
