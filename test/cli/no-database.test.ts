/** No command but four makes a database: each is run where there is none, in a directory and on a PostgreSQL server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { schemaAfter } from "../../src/contracts/store/schema-number.ts";
import { migrations } from "../../src/engines/sqlite/migrations.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { makeSealingKey } from "../../src/lib/sealing.ts";
import { runCommand } from "../support/cli.ts";
import { everyAction, nameOf, onData, wordsOf } from "../support/every-command.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { sharedPostgres } from "../support/postgres-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let own: TemporaryDirectory;
let postgres: Awaited<ReturnType<typeof sharedPostgres>>;
let empty: Awaited<ReturnType<typeof postgres.createDatabase>>;

beforeAll(async () => {
  own = temporaryDirectory();
  writeFileSync(own.file("notes.txt"), "Open from nine to five.");
  writeFileSync(own.file("companions.jsonl"), '{"name":"Ada"}\n');
  postgres = await sharedPostgres();
  empty = await postgres.createDatabase();
});
afterAll(async () => {
  await postgres.dropDatabase(empty.name);
  own[Symbol.dispose]();
});

test("only serve, account create, restore and copy may make a database", () => {
  const makers = everyAction.filter(({ action }) => action.data === "makes").map(nameOf);
  expect(makers.sort()).toEqual(["account create", "copy", "restore", "serve"]);
  expect(everyAction.filter(({ action }) => action.data === "none").map(nameOf)).not.toContain("backup");
});

test.each(onData.map((one) => [nameOf(one), one] as const))(
  "%s says where it looked, and leaves nothing",
  async (name, one) => {
    const [missing, bare, begun] = [own.file("missing"), own.file("bare"), own.file("begun")];
    for (const path of [bare, begun]) mkdirSync(path, { recursive: true, mode: 0o700 });
    writeFileSync(join(begun, "companiond.db"), "", { mode: 0o600 });
    for (const dataDir of [missing, bare, begun]) {
      const environment = { COMPANIOND_DATA_DIR: dataDir, PORT: "0", DATABASE_URL: "" };
      const { exitCode, stdout, stderr } = await runCommand(wordsOf(one, own), { environment });
      expect(exitCode).toBe(1);
      // What it finds is its output.
      if (name === "doctor") expect(stdout).toMatch(new RegExp(`^fail .*${dataDir}`, "m"));
      else {
        expect(stdout).toBe("");
        expect(stderr).toContain(
          `There is no database in ${dataDir}. Name the directory that holds it with --data-dir`,
        );
      }
      expect(existsSync(missing)).toBe(false);
      expect(readdirSync(bare)).toEqual([]);
      expect(statSync(join(begun, "companiond.db")).size).toBe(0);
      expect(readdirSync(own.path).sort()).toEqual(["bare", "begun", "companions.jsonl", "notes.txt"]);
    }
  },
);

test("on a machine with a service, the option with its settings is named, and they are not read", async () => {
  using service = temporaryDirectory();
  const settings = service.file("companiond.env");
  writeFileSync(settings, "COMPANIOND_DATA_DIR=/elsewhere\n");
  const list = ["account", "list"];
  const run = (words: string[], environment = {}) => runCommand(words, { environment, serviceSettings: settings });
  const sentence = `The service of this machine has its settings in ${settings}: run the command as root with --env-file ${settings}.`;
  const bare = await run(list);
  expect(bare.exitCode).toBe(1);
  expect(bare.stderr).toEndWith(` ${sentence}\n`);
  expect((await run(["doctor"], { PORT: "0" })).stdout).toContain(sentence);
  // Whoever says where the data is need not be told.
  const environment = { COMPANIOND_DATA_DIR: own.file("missing") };
  for (const named of [run(list, environment), run([...list, "--env-file", settings]), runCommand(list)]) {
    expect((await named).stderr).toContain("There is no database in");
    expect((await named).stderr).not.toContain("The service of this machine");
  }
});

test.each(onData.map((one) => [nameOf(one), one] as const))(
  "%s makes no tables in an empty PostgreSQL",
  async (name, one) => {
    const environment = {
      COMPANIOND_DATA_DIR: own.file("missing"),
      PORT: "0",
      DATABASE_URL: empty.url,
      COMPANIOND_SECRET_KEY: makeSealingKey(),
    };
    const { exitCode, stdout, stderr } = await runCommand(wordsOf(one, own), { environment });
    const { host, pathname } = new URL(empty.url);
    const where = `${pathname.slice(1)} at ${host}`;
    if (name === "backup") expect(stderr).toContain("pg_dump");
    else if (name === "doctor") expect(stdout).toContain(`no tables of companiond in ${where}`);
    else expect(stderr).toContain(`no tables of companiond in the database ${where}`);
    expect(exitCode).toBe(1);
    await using client = new SQL(empty.url, { max: 1 });
    expect(await client`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`).toHaveLength(0);
    expect(existsSync(own.file("missing"))).toBe(false);
  },
);

test("commands that read leave a database of an older version as it is, and say what to do", async () => {
  using data = temporaryDirectory();
  await migrateSqlite({ dataDir: data.path });
  const older = schemaAfter(migrations.length);
  using _ = becomeNextVersion();
  const environment = { COMPANIOND_DATA_DIR: data.path, DATABASE_URL: "" };
  const readers = onData.filter(({ action }) => action.data === "reads");
  for (const one of readers.filter((one) => !["doctor", "backup"].includes(nameOf(one)))) {
    const { exitCode, stderr } = await runCommand(wordsOf(one, own), { environment });
    expect({ name: nameOf(one), exitCode }).toEqual({ name: nameOf(one), exitCode: 1 });
    expect(stderr).toContain(`schema ${older}; this program knows ${older + 1}`);
    expect(stderr).toContain("companiond migrate");
  }
  // A backup is one of the version that the database is of.
  const backup = await runCommand(["backup", data.file("old.db"), "--json"], { environment });
  expect(JSON.parse(backup.stdout)).toMatchObject({ schema_version: older });
  expect(await migrateSqlite({ dataDir: data.path, migrations: migrations.slice(0, -1) })).toEqual([]);
  expect((await runCommand(["migrate"], { environment })).exitCode).toBe(0);
  expect((await runCommand(["account", "list"], { environment })).exitCode).toBe(0);
});

test("a data directory that is a file is told as one, whatever the command", async () => {
  const file = own.file("notes.txt");
  const environment = { COMPANIOND_DATA_DIR: file, DATABASE_URL: "" };
  const make = ["account", "create", "--email", "ada@example.com"];
  for (const words of [["account", "list"], make, ["backup", own.file("b.db")], ["serve", "--port", "0"]]) {
    const { exitCode, stderr } = await runCommand(words, { environment, isTerminal: true });
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith(
      `companiond: ${file} is a file, not a directory. Name the directory that holds the data`,
    );
    expect(stderr).not.toContain("Try again later");
  }
  const inside = await runCommand(make, { environment: { ...environment, COMPANIOND_DATA_DIR: `${file}/data` } });
  expect(inside.stderr).toContain(`${file} is a file, so there can be no directory ${file}/data.`);
  const { stdout } = await runCommand(["doctor", "--json"], { environment: { ...environment, PORT: "0" } });
  const checks: { name: string; status: string; detail: string }[] = JSON.parse(stdout).checks;
  expect(checks.find(({ name }) => name === "data directory")).toMatchObject({
    status: "fail",
    detail: `${file} is a file, not a directory.`,
  });
});
