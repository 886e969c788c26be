/** The migrator of PostgreSQL, with a migration of a later version: beside servers that go on, and for readers that may. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { schemaAfter } from "../../src/contracts/store/schema-number.ts";
import { migrations } from "../../src/engines/postgres/migrations.ts";
import { migratePostgres, requireReadable } from "../../src/engines/postgres/migrator.ts";
import { createEngine } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { createMigratedDatabase, type MigratedDatabase } from "../support/postgres-store.ts";

const later = [...migrations, { name: "0001_moods", sql: 'ALTER TABLE "messages" ADD COLUMN "mood" text' }];

let database: MigratedDatabase;
let engine: ReturnType<typeof createEngine>;
beforeEach(async () => {
  database = await createMigratedDatabase();
  engine = createEngine({ url: database.url, pool: 2, poolHeavy: 2, log: createCapturedLog() });
});
afterEach(async () => {
  await engine.close();
  await database.drop();
});

test("what is pending is applied once and whole, and this version goes on beside it as long as it may", async () => {
  const broken = {
    name: "0002_broken",
    sql: "CREATE TABLE toys (id int);--> statement-breakpoint\nALTER TABLE no ADD x int",
  };
  const failing = migratePostgres(engine.heavyPool, { migrations: [...later, broken] });
  await expect(failing).rejects.toThrow("migration 0002_broken failed; nothing was changed");
  expect(await engine.quick.get("SELECT tablename FROM pg_tables WHERE tablename = 'toys'")).toBeNull();
  expect(await requireReadable(engine.quick)).toMatchObject({ version: schemaAfter(migrations.length) });

  const both = [1, 2].map(() => migratePostgres(engine.heavyPool, { migrations: later, readers: migrations.length }));
  expect((await Promise.all(both)).flat()).toEqual(["0001_moods"]);
  expect(await engine.quick.all("SELECT mood FROM messages")).toEqual([]);
  expect(await migratePostgres(engine.heavyPool)).toEqual([]);

  const next = [...later, { name: "0002_rid", sql: "ALTER TABLE messages DROP COLUMN mood" }];
  await migratePostgres(engine.heavyPool, { migrations: next, readers: next.length });
  const sentence = `newer companiond (schema ${schemaAfter(next.length)}; this program knows ${schemaAfter(migrations.length)})`;
  await expect(requireReadable(engine.quick)).rejects.toThrow(sentence);
});

test("a migration waits for whoever reads a table, and nobody waits behind it", async () => {
  const read = Promise.withResolvers<void>();
  const isReading = Promise.withResolvers<void>();
  const reading = engine.write(async (transaction) => {
    await transaction.all("SELECT FROM messages");
    isReading.resolve();
    await read.promise;
  });
  await isReading.promise;
  const migrated = migratePostgres(engine.heavyPool, { migrations: later });
  const isWaiting = async () =>
    (await engine.heavy.get("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'messages'::regclass")) !== null;
  await eventually(isWaiting, { what: "the migration to wait", everyMs: 5 });
  expect(await engine.quick.all("SELECT FROM messages")).toEqual([]);
  read.resolve();
  await reading;
  expect(await migrated).toEqual(["0001_moods"]);
});
