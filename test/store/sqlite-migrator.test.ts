/** The migrator of SQLite: whole or not at all, never over a newer schema, with a chance to make a backup first. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { schemaAfter } from "../../src/contracts/store/schema-number.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { migrations } from "../../src/engines/sqlite/migrations.ts";
import { migrateSqlite, type PendingMigration } from "../../src/engines/sqlite/migrator.ts";
import { openSqliteStore } from "../../src/engines/sqlite/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

const openStore = (dataDir: string) =>
  openSqliteStore({ dataDir, log: createCapturedLog(), erasures: createErasureMarks() });

const pets = { name: "0001_pets", sql: "CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT);" };
const birthdays = { name: "0002_birthdays", sql: "ALTER TABLE pets ADD COLUMN born TEXT;" };
const broken = {
  name: "0003_broken",
  sql: "CREATE TABLE toys (id);--> statement-breakpoint\nALTER TABLE nothing ADD x;",
};

function inspect<T>(work: (database: Database) => T): T {
  using database = new Database(directory.file("companiond.db"));
  return work(database);
}

const tables = () =>
  inspect((database) =>
    database.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").values().flat(),
  );

test("applies what is pending, once", async () => {
  const dataDir = directory.path;
  expect(await migrateSqlite({ dataDir, migrations: [pets] })).toEqual(["0001_pets"]);
  expect(await migrateSqlite({ dataDir, migrations: [pets] })).toEqual([]);
  expect(await migrateSqlite({ dataDir, migrations: [pets, birthdays] })).toEqual(["0002_birthdays"]);
  expect(inspect((database) => database.query("SELECT id, name, born FROM pets").columnNames)).toEqual([
    "id",
    "name",
    "born",
  ]);
});

test("leaves everything as it was where one of them fails", async () => {
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: [pets] });
  const failing = migrateSqlite({ dataDir, migrations: [pets, birthdays, broken] });
  await expect(failing).rejects.toThrow("migration 0003_broken failed; nothing was changed");
  expect(tables()).toEqual(["pets"]);
  expect(inspect((database) => database.query("SELECT * FROM pets").columnNames)).toEqual(["id", "name"]);
  expect(await migrateSqlite({ dataDir, migrations: [pets, birthdays] })).toEqual(["0002_birthdays"]);
});

test.each([0, 1])("makes no table in the database of another program, whose version is %d", async (version) => {
  const dataDir = directory.path;
  inspect((database) => {
    database.run("CREATE TABLE theirs (id)");
    database.run(`PRAGMA user_version = ${version}`);
  });
  await expect(migrateSqlite({ dataDir, migrations: [pets, birthdays] })).rejects.toThrow("is another program's");
  expect(tables()).toEqual(["theirs"]);
});

test("refuses a database of a newer program, in words that say what to do", async () => {
  const dataDir = directory.path;
  await (await openStore(dataDir)).close();
  inspect((database) => database.run(`PRAGMA user_version = ${schemaAfter(migrations.length) + 1}`));
  const opening = openStore(dataDir);
  await expect(opening).rejects.toThrow(/written by a newer companiond.*restore a backup/);
  await expect(migrateSqlite({ dataDir })).rejects.toThrow(/newer companiond/);
});

test("offers an existing database for a backup before it changes it, with nobody writing meanwhile", async () => {
  const dataDir = directory.path;
  const offered: PendingMigration[] = [];
  const beforeMigrate = async (pending: PendingMigration) => {
    offered.push(pending);
    inspect((database) => {
      expect(database.query("SELECT name FROM pets").values()).toEqual([["Rex"]]);
      expect(() => database.run("INSERT INTO pets (name) VALUES ('Tom')")).toThrow("locked");
    });
    return undefined;
  };
  await migrateSqlite({ dataDir, migrations: [pets], beforeMigrate });
  expect(offered).toEqual([]);
  inspect((database) => database.run("INSERT INTO pets (name) VALUES ('Rex')"));
  await migrateSqlite({ dataDir, migrations: [pets, birthdays], beforeMigrate });
  const path = directory.file("companiond.db");
  expect(offered).toEqual([
    { path, fromVersion: schemaAfter(1), toVersion: schemaAfter(2), names: ["0002_birthdays"] },
  ]);
  await migrateSqlite({ dataDir, migrations: [pets, birthdays], beforeMigrate });
  expect(offered).toHaveLength(1);
});

test("changes nothing when the backup fails", async () => {
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: [pets] });
  const beforeMigrate = () => Promise.reject(new Error("no space for a backup"));
  const failing = migrateSqlite({ dataDir, migrations: [pets, birthdays], beforeMigrate });
  await expect(failing).rejects.toThrow("no space for a backup");
  expect(inspect((database) => database.query("SELECT * FROM pets").columnNames)).toEqual(["id", "name"]);
});

test("a migration that fails takes back what was made for it, and one that succeeds keeps it", async () => {
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: [pets] });
  const backups = new Set<string>();
  const beforeMigrate = async ({ names }: PendingMigration) => {
    const name = names.join();
    backups.add(name);
    return () => void backups.delete(name);
  };
  const broken = { name: "0002_broken", sql: "ALTER TABLE owners ADD COLUMN born TEXT" };
  const failing = migrateSqlite({ dataDir, migrations: [pets, broken], beforeMigrate });
  await expect(failing).rejects.toThrow("0002_broken failed; nothing was changed");
  expect([...backups]).toEqual([]);
  await migrateSqlite({ dataDir, migrations: [pets, birthdays], beforeMigrate });
  expect([...backups]).toEqual(["0002_birthdays"]);
});

test("rebuilds a table without losing what refers to it, and refuses to leave a dangling reference", async () => {
  const dataDir = directory.path;
  const owners = {
    name: "0001_owners",
    sql: `CREATE TABLE owners (id INTEGER PRIMARY KEY);--> statement-breakpoint
      CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id) ON DELETE CASCADE);`,
  };
  const rebuild = (copied: string) => ({
    name: "0002_rebuild",
    sql: [
      "CREATE TABLE new_owners (id INTEGER PRIMARY KEY)",
      copied,
      "DROP TABLE owners",
      "ALTER TABLE new_owners RENAME TO owners",
    ].join(";--> statement-breakpoint\n"),
  });
  await migrateSqlite({ dataDir, migrations: [owners] });
  inspect((database) => database.run("INSERT INTO owners VALUES (1); INSERT INTO pets VALUES (1, 1);"));
  const losing = migrateSqlite({ dataDir, migrations: [owners, rebuild("SELECT 1")] });
  await expect(losing).rejects.toThrow("dangling reference");
  await migrateSqlite({ dataDir, migrations: [owners, rebuild("INSERT INTO new_owners SELECT id FROM owners")] });
  expect(inspect((database) => database.query("SELECT * FROM pets").values())).toEqual([[1, 1]]);
});

test("keeps directory and files to their owner, also where the file was open to others", async () => {
  const dataDir = directory.file("new/data");
  const store = await openStore(dataDir);
  await store.accounts.list();
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  const names = readdirSync(dataDir);
  expect(names.sort()).toEqual(["companiond.db", "companiond.db-shm", "companiond.db-wal"]);
  for (const name of names) expect(statSync(`${dataDir}/${name}`).mode & 0o777).toBe(0o600);
  await store.close();
  expect(readdirSync(dataDir)).toEqual(["companiond.db"]);
  chmodSync(`${dataDir}/companiond.db`, 0o644);
  await (await openStore(dataDir)).close();
  expect(statSync(`${dataDir}/companiond.db`).mode & 0o777).toBe(0o600);
});

test("refuses what is no database, or no place for one, as unavailable", async () => {
  writeFileSync(
    directory.file("companiond.db"),
    "this is no database, but it is long enough to look like a file of one",
  );
  await expect(openStore(directory.path)).rejects.toMatchObject({ code: "unavailable" });
  await expect(openStore(directory.file("companiond.db/below"))).rejects.toMatchObject({ code: "unavailable" });
});
