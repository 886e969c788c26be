/** How a database tells that its tables are not those of this version: changed by hand, or made by another build. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { inspectPostgres } from "../../src/engines/postgres/inspection.ts";
import { schemaPrints } from "../../src/engines/postgres/schema-prints.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { findDifferences } from "../../src/engines/sqlite/schema-differences.ts";
import { makeSchema, readPrints, readWholePrint } from "../../src/engines/sqlite/schema-objects.ts";
import { createSqlite } from "../../src/engines/sqlite/sqlite.ts";
import { readWrittenPrints } from "../../src/engines/store-shared/rows/schema-prints.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { runCommand } from "../support/cli.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { queryRows } from "../support/postgres-databases.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";
import { readMadePrints } from "../support/schema-prints.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const event = "tables are not as this version makes them";

async function startLog(dataDir: string) {
  const log = createCapturedLog();
  const options = { log, clock: systemClock, version: "1", erasures: createErasureMarks(), backupDir: dataDir };
  const { store } = await createSqlite(dataDir).open(options);
  await store.close();
  return log.events.filter((one) => one.event === event).map(({ fields }) => fields);
}

async function examine(environment: Record<string, string>): Promise<string[]> {
  const { stdout } = await runCommand(["doctor", "--json"], { environment: { PORT: "0", ...environment } });
  const { checks }: { checks: { name: string; status: string; detail: string }[] } = JSON.parse(stdout);
  return checks.filter(({ name }) => name === "tables").map(({ status, detail }) => `${status} ${detail}`);
}

test("what is written down is what PostgreSQL's migrations make: otherwise run `bun scripts/schema-prints.ts`", async () => {
  expect(readWrittenPrints(schemaPrints)).toEqual(await readMadePrints());
});

test("what the build makes of SQLite's migrations is what migrating a file makes", async () => {
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  using database = new Database(directory.file("companiond.db"));
  expect({ prints: readPrints(database), wholePrint: readWholePrint(database) }).toEqual(makeSchema());
});

test("a new file is told nothing, nor is one that is not migrated yet", async () => {
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  expect(await startLog(directory.path)).toEqual([]);
  expect(await examine({ COMPANIOND_DATA_DIR: directory.path })).toEqual([]);
  using database = new Database(directory.file("companiond.db"));
  database.run("CREATE TABLE notes (text)");
  using _ = becomeNextVersion();
  expect(findDifferences(database)).toEqual({ changed: [], added: [] });
});

test("what Litestream and ANALYZE leave in a file is nothing to tell of", async () => {
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  using database = new Database(directory.file("companiond.db"));
  database.run("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  database.run("CREATE TABLE _litestream_lock (id INTEGER)");
  database.run("ANALYZE");
  expect(findDifferences(database)).toEqual({ changed: [], added: [] });
});

test("a file that was changed is told of by doctor and at the start, by its tables", async () => {
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  using database = new Database(directory.file("companiond.db"));
  database.run("CREATE INDEX by_hand ON accounts (plan)");
  database.run("CREATE TABLE notes (text)");
  expect(await examine({ COMPANIOND_DATA_DIR: directory.path })).toEqual([
    "warn With more than this version makes: accounts, notes.",
  ]);
  database.run("ALTER TABLE accounts ADD COLUMN mood text");
  database.run("DROP TABLE sessions");
  expect(await examine({ COMPANIOND_DATA_DIR: directory.path })).toEqual([
    "fail Not as this version makes them, or missing: accounts, sessions.",
    "warn With more than this version makes: notes.",
  ]);
  expect(await startLog(directory.path)).toEqual([{ changed: ["accounts", "sessions"], added: ["notes"] }]);
});

test("a database of PostgreSQL's is told of by its tables and functions", async () => {
  const { url, drop } = await createMigratedDatabase();
  const differences = async () => {
    const { schema } = await inspectPostgres(url);
    return schema === null || typeof schema === "string" ? null : schema.differences;
  };
  try {
    expect(await differences()).toEqual({ changed: [], added: [] });
    // As PostGIS has: a table of an extension's.
    await queryRows(url, "CREATE TABLE spatial_ref_sys (srid int PRIMARY KEY)");
    await queryRows(url, "CREATE EXTENSION pg_trgm");
    await queryRows(url, "ALTER EXTENSION pg_trgm ADD TABLE spatial_ref_sys");
    expect(await differences()).toEqual({ changed: [], added: [] });
    await queryRows(url, "CREATE INDEX by_hand ON companions (name)");
    await queryRows(url, "CREATE TABLE notes (text text)");
    expect(await differences()).toEqual({ changed: [], added: ["companions", "notes"] });
    await queryRows(url, "ALTER TABLE accounts ALTER COLUMN plan DROP NOT NULL");
    await queryRows(
      url,
      "CREATE OR REPLACE FUNCTION live_instances() RETURNS SETOF int LANGUAGE sql AS 'SELECT 1'",
    ).catch(() => queryRows(url, "ALTER FUNCTION live_instances() RENAME TO dead_instances"));
    const { changed, added } = (await differences()) ?? { changed: [], added: [] };
    expect(changed).toEqual(["accounts", "live_instances()"]);
    expect(added.filter((name) => name !== "dead_instances()")).toEqual(["companions", "notes"]);
  } finally {
    await drop();
  }
});
