/** Databases of development builds, whose migrations are gone: whatever meets one says the same, and changes nothing. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { storageOf } from "../../src/app/services.ts";
import { beforeFirstRelease } from "../../src/contracts/store/schema-number.ts";
import { applicationId } from "../../src/engines/sqlite/released.ts";
import { copyStore, type StoreLocation } from "../../src/engines/store-copy/copy.ts";
import { makeSealingKey } from "../../src/lib/sealing.ts";
import { runCommand } from "../support/cli.ts";
import { everyAction, nameOf, onData, wordsOf } from "../support/every-command.ts";
import { queryRows } from "../support/postgres-databases.ts";
import { sharedPostgres } from "../support/postgres-server.ts";
import { createMigratedDatabase, type MigratedDatabase } from "../support/postgres-store.ts";
import { provideSqlite } from "../support/sqlite-template.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let own: TemporaryDirectory;
let postgres: MigratedDatabase;
beforeAll(async () => {
  own = temporaryDirectory();
  writeFileSync(own.file("notes.txt"), "Open from nine to five.");
  writeFileSync(own.file("companions.jsonl"), '{"name":"Ada"}\n');
  mkdirSync(own.file("data"), { mode: 0o700 });
  makeOld(own.file("data/companiond.db"));
  postgres = await createMigratedDatabase();
  await queryRows(postgres.url, "UPDATE companiond SET version = 9, oldest_reader = 3");
});
afterAll(async () => {
  await postgres.drop();
  own[Symbol.dispose]();
});

/** What such a build has left when it had stopped. */
function makeOld(file: string): void {
  using database = new Database(file);
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE accounts (id text)");
  database.run(`PRAGMA application_id = ${applicationId}`);
  database.run("PRAGMA user_version = 9");
}

const makers = everyAction.filter((one) => ["serve", "account create"].includes(nameOf(one)));
const tellers = [...onData, ...makers].map((one) => [nameOf(one), one] as const);

test.each(tellers)("%s refuses one in a data directory", async (_, one) => {
  const bytes = readFileSync(own.file("data/companiond.db"));
  const environment = { COMPANIOND_DATA_DIR: own.file("data"), PORT: "0", DATABASE_URL: "" };
  const { exitCode, stdout, stderr } = await runCommand(wordsOf(one, own), { environment });
  expect(`${stdout}${stderr}`).toContain(beforeFirstRelease);
  expect(exitCode).toBe(1);
  expect(readFileSync(own.file("data/companiond.db")).equals(bytes)).toBe(true);
  expect(readdirSync(own.file("data"))).toEqual(["companiond.db"]);
  expect(readdirSync(own.path).sort()).toEqual(["companions.jsonl", "data", "notes.txt"]);
});

test.each(tellers)("%s refuses one on PostgreSQL", async (name, one) => {
  const environment = {
    ...{ COMPANIOND_DATA_DIR: own.file("beside"), PORT: "0" },
    ...{ DATABASE_URL: postgres.url, COMPANIOND_SECRET_KEY: makeSealingKey() },
  };
  const { exitCode, stdout, stderr } = await runCommand(wordsOf(one, own), { environment });
  if (name === "backup") expect(stderr).toContain("pg_dump");
  else expect(`${stdout}${stderr}`).toContain(beforeFirstRelease);
  expect(exitCode).toBe(1);
  const [state] = await queryRows(postgres.url, "SELECT version, oldest_reader, copy_from FROM companiond");
  expect(state).toEqual({ version: 9, oldest_reader: 3, copy_from: null });
});

test("a copy refuses one at either end", async () => {
  const databases = await sharedPostgres();
  const empty = await databases.createDatabase();
  const released = own.file("released");
  await provideSqlite(released);
  const inDirectory = (dataDir: string): StoreLocation => ({ engine: "sqlite", dataDir });
  const onServer = (url: string): StoreLocation => ({ engine: "postgres", url });
  const current = await createMigratedDatabase();
  for (const [from, to] of [
    [inDirectory(own.file("data")), onServer(empty.url)],
    [onServer(postgres.url), inDirectory(own.file("to"))],
    [onServer(current.url), inDirectory(own.file("data"))],
    [inDirectory(released), onServer(postgres.url)],
  ] as const) {
    await expect(copyStore({ from, to })).rejects.toThrow(beforeFirstRelease);
  }
  expect(await queryRows(empty.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  await databases.dropDatabase(empty.name);
  await current.drop();
});

test("a backup of one is neither good nor restored, and a good one is not restored over it", async () => {
  using data = temporaryDirectory();
  const old = data.file("old.db");
  makeOld(old);
  const bytes = readFileSync(old);
  const refusal = { exitCode: 1, stderr: expect.stringContaining(beforeFirstRelease) };
  const to = ["--data-dir", data.file("new")];
  expect(await runCommand(["restore", old, ...to])).toMatchObject(refusal);
  expect(() => storageOf({ dataDir: data.file("new") }).examine(old)).toThrow(beforeFirstRelease);
  expect(readFileSync(old).equals(bytes)).toBe(true);

  await provideSqlite(data.file("good"));
  const good = data.file("good/companiond.db");
  const before = readFileSync(own.file("data/companiond.db"));
  expect(await runCommand(["restore", good, "--data-dir", own.file("data")])).toMatchObject(refusal);
  expect(readFileSync(own.file("data/companiond.db")).equals(before)).toBe(true);
});
