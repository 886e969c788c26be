/** What a copy refuses, and what refuses the target of one that is not finished: each time a sentence. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { SQL } from "bun";
import { AppError } from "../../src/domain/errors.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { openCoordination } from "../../src/engines/postgres/coordination/coordination.ts";
import { openPostgresStore } from "../../src/engines/postgres/open.ts";
import { lockDataDir } from "../../src/engines/sqlite/data-lock.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { createSqlite } from "../../src/engines/sqlite/sqlite.ts";
import { copyStore, type StoreLocation } from "../../src/engines/store-copy/copy.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { type CopyPlaces, makeCopyPlaces, makeOddStore, openDatabase, readStore } from "../support/copy-world.ts";
import { findFreePort } from "../support/free-port.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { queryRows } from "../support/postgres-databases.ts";
import { sharedPostgres, startPostgresServer } from "../support/postgres-server.ts";
import { openStoreAt } from "../support/sqlite-store.ts";

let places: CopyPlaces;
let directory: CopyPlaces["directory"];
let source: CopyPlaces["source"];
let url: CopyPlaces["url"];
let sqlite: CopyPlaces["sqlite"];
let postgres: CopyPlaces["postgres"];
beforeEach(async () => {
  places = await makeCopyPlaces();
  ({ directory, source, url, sqlite, postgres } = places);
});
afterEach(() => places.remove());

/** The sentence, with its cause as the command shows it. */
async function refusalOf(from: StoreLocation, to: StoreLocation): Promise<string> {
  const error = await copyStore({ from, to }).then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw error;
  return error.cause instanceof Error ? `${error.message} ${error.cause.message}` : error.message;
}

/** Leaves an unfinished target behind: fails after some pages. */
async function interrupt(from: StoreLocation, to: StoreLocation, pages = 50): Promise<void> {
  let left = pages;
  const onRows = () => {
    if (left-- === 0) throw new Error("enough");
  };
  const copying = copyStore({ from, to, maxRows: 4, observer: { onRows } });
  await expect(copying).rejects.toThrow("The copy was interrupted. The same command goes on where it was.");
}

test("a source that is missing, in use, not ours, or of another schema", async () => {
  expect(await refusalOf(sqlite, postgres)).toBe(`There is no database in ${source}.`);
  mkdirSync(source);
  new Database(`${source}/companiond.db`).run("CREATE TABLE other (x)");
  expect(await refusalOf(sqlite, postgres)).toBe(`The database in ${source} is not one of companiond.`);
  writeFileSync(`${source}/companiond.db`, "not a database at all, but a text of some length");
  expect(await refusalOf(sqlite, postgres)).toContain("file is not a database");

  const older = directory.file("older");
  await migrateSqlite({ dataDir: older });
  const olderPlace: StoreLocation = { engine: "sqlite", dataDir: older };
  {
    using _ = becomeNextVersion();
    expect(await refusalOf(olderPlace, postgres)).toBe(
      `The database in ${older} has an older schema. Run "companiond migrate --data-dir ${older}" first, without DATABASE_URL.`,
    );
  }
  const lock = lockDataDir(older);
  expect(await refusalOf(olderPlace, postgres)).toContain(`another companiond serves from ${older}. Stop it first`);
  lock.release();
  const database = openDatabase(older, false);
  database.run("PRAGMA user_version = 99");
  database.close();
  expect(await refusalOf(olderPlace, postgres)).toContain("was written by a newer companiond (schema 99;");

  const back: StoreLocation = { engine: "sqlite", dataDir: directory.file("back") };
  expect(await refusalOf(postgres, back)).toMatch(
    /^postgres:\/\/127.0.0.1:\d+\/test_\w+ holds nothing of companiond\.$/,
  );
});

test("a target that holds anything else stays as it is", async () => {
  await makeOddStore(source, { rows: 3 });
  await queryRows(url, "CREATE TABLE orders (id int)");
  expect(await refusalOf(sqlite, postgres)).toContain("has tables of another program in this database.");
  await queryRows(url, "DROP TABLE orders");
  await copyStore({ from: sqlite, to: postgres });
  expect(await refusalOf(sqlite, postgres)).toContain("already holds data of companiond. Copy into an empty database.");
  expect(await refusalOf(postgres, sqlite)).toBe(`${source} already holds a database. Copy into another directory.`);
});

test("an unfinished copy serves nobody, is no source, and only its own source finishes it: in PostgreSQL", async () => {
  await makeOddStore(source);
  await interrupt(sqlite, postgres);
  const opening = openPostgresStore({ url, pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await expect(opening).rejects.toThrow(
    `The database is an unfinished copy of sqlite:${source}. Run the same "companiond copy" again`,
  );
  const other: StoreLocation = { engine: "sqlite", dataDir: directory.file("other") };
  expect(await refusalOf(postgres, other)).toContain(`is itself an unfinished copy of sqlite:${source}.`);
  await makeOddStore(other.dataDir, { rows: 2 });
  expect(await refusalOf(other, postgres)).toContain(
    `is an unfinished copy of sqlite:${source}. Finish that one, or drop the database and create it again.`,
  );
  await queryRows(url, "UPDATE companiond SET version = version + 1");
  expect(await refusalOf(sqlite, postgres)).toContain("was begun by another version of companiond.");
});

test("an unfinished copy serves nobody, is no source, and only its own source finishes it: in a data directory", async () => {
  await makeOddStore(source);
  await copyStore({ from: sqlite, to: postgres });
  const dataDir = directory.file("back");
  const back: StoreLocation = { engine: "sqlite", dataDir };
  await interrupt(postgres, back);
  const sentence = `The database in ${dataDir} is an unfinished copy. Run the same "companiond copy" again`;
  const clock = createManualClock();
  const options = {
    clock,
    version: "test",
    log: createCapturedLog(),
    erasures: createErasureMarks(),
    backupDir: directory.file("backups"),
  };
  await expect(createSqlite(dataDir).open(options)).rejects.toThrow(sentence);
  const databases = await sharedPostgres();
  const { name, url: otherUrl } = await databases.createDatabase();
  const other: StoreLocation = { engine: "postgres", url: otherUrl };
  expect(await refusalOf(back, other)).toContain(sentence);
  await makeOddStore(directory.file("second"), { rows: 2 });
  await copyStore({ from: { engine: "sqlite", dataDir: directory.file("second") }, to: other });
  expect(await refusalOf(other, back)).toContain(`Finish that one, or remove ${dataDir}/unfinished-copy.`);
  await databases.dropDatabase(name);
  await copyStore({ from: postgres, to: back });
  expect(readStore(dataDir)).toEqual(readStore(source));

  // As if the last step, the move, had been all that was left to do.
  mkdirSync(`${dataDir}/unfinished-copy`);
  renameSync(`${dataDir}/companiond.db`, `${dataDir}/unfinished-copy/companiond.db`);
  expect(await refusalOf(postgres, back)).toEndWith(`That is done now: ${dataDir} is ready.`);
  expect(readStore(dataDir)).toEqual(readStore(source));
});

test("a source that was changed since the copy began is found out, and the target stays unusable", async () => {
  await makeOddStore(source);
  await interrupt(sqlite, postgres);
  const store = openDatabase(source, false);
  store.run("UPDATE accounts SET plan = 'other' WHERE number = 3");
  store.close();
  const sentence = await refusalOf(sqlite, postgres);
  expect(sentence).toMatch(
    /^The table accounts differs after the copy: \d+ rows with checksum [0-9a-f]{16} in sqlite:/,
  );
  expect(sentence).toContain("drop the database and create it again, and copy again.");
  const opening = openPostgresStore({ url, pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await expect(opening).rejects.toThrow("is an unfinished copy of");
});

test("a database in use by a server or another copy", async () => {
  await (await openStoreAt(source)).close();
  await using server = new SQL({ url, max: 1, connection: { application_name: "companiond" } });
  await server`SELECT 1`;
  expect(await refusalOf(sqlite, postgres)).toContain(
    "is in use by a server or a command of companiond. Stop it first.",
  );
  await server.close();
  await using copy = new SQL({ url, max: 1, connection: { application_name: "companiond copy" } });
  await copy`SELECT pg_advisory_lock(hashtextextended('companiond copy', 0))`;
  const opening = openPostgresStore({ url, pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await expect(opening).rejects.toThrow('"companiond copy" is at work on this database. Wait until it has ended.');
  expect(await refusalOf(sqlite, postgres)).toContain("is in use by another copy. Stop it first.");
});

test("a copy that began while a server was starting stops that server", async () => {
  const opened = await openPostgresStore({ url, pool: 2, poolHeavy: 1, log: createCapturedLog() });
  await using copy = new SQL({ url, max: 1, connection: { application_name: "companiond copy" } });
  await copy`SELECT pg_advisory_lock(hashtextextended('companiond copy', 0))`;
  const options = { url, version: "1", sharesWindows: false, clock: createManualClock(), log: createCapturedLog() };
  await expect(openCoordination(opened, options)).rejects.toThrow('"companiond copy" is at work on this database.');
  await copy.close();
  await opened.store.close();
  await makeOddStore(source, { rows: 3 });
  const { tables } = await copyStore({ from: sqlite, to: postgres });
  expect(tables[0]?.rows).toBeGreaterThan(0);
});

test("a server that is away, a database that is missing and a wrong password, which is never shown", async () => {
  await (await openStoreAt(source)).close();
  const to = (address: string): StoreLocation => ({ engine: "postgres", url: `postgres://owner:Hidden-1@${address}` });
  const away = `127.0.0.1:${findFreePort()}/companiond`;
  expect(await refusalOf(sqlite, to(away))).toStartWith(`postgres://${away} cannot be reached: nothing listens there`);
  const missing: StoreLocation = { engine: "postgres", url: url.replace(/\w+$/, "missing") };
  expect(await refusalOf(sqlite, missing)).toContain("/missing has no database of the name in it.");

  await using server = await startPostgresServer();
  const [shown] = await queryRows<{ hba_file: string }>(server.url("postgres"), "SHOW hba_file");
  await queryRows(server.url("postgres"), "CREATE USER owner PASSWORD 'another'");
  writeFileSync(shown?.hba_file ?? "", "host all all 127.0.0.1/32 scram-sha-256\n");
  await server.stop("fast");
  await server.start();
  const wrong = `127.0.0.1:${server.port}/postgres`;
  const sentence = await refusalOf(sqlite, to(wrong));
  expect(sentence).toBe(`postgres://${wrong} refuses the user or the password in it.`);
});
