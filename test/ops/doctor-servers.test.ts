/** What doctor and other commands say where the data is in PostgreSQL. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { makeSealingKey } from "../../src/lib/sealing.ts";
import { type CliOutcome, runCommand } from "../support/cli.ts";
import { runExecutable, startExecutable } from "../support/executable.ts";
import { findFreePort } from "../support/free-port.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { sharedPostgres } from "../support/postgres-server.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";
import { type RedisServer, startRedisServer } from "../support/redis-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let directory: TemporaryDirectory;
let database: Awaited<ReturnType<typeof createMigratedDatabase>>;
let redis: RedisServer;

beforeAll(async () => {
  directory = temporaryDirectory();
  database = await createMigratedDatabase();
  redis = await startRedisServer();
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await database.drop();
  directory[Symbol.dispose]();
});

function run(words: string[], changes: Record<string, string> = {}): Promise<CliOutcome> {
  return runCommand(words, {
    environment: {
      PORT: "0",
      COMPANIOND_DATA_DIR: directory.file("data"),
      COMPANIOND_SECRET_KEY: makeSealingKey(),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      ...changes,
    },
  });
}

interface Check {
  name: string;
  status: string;
  detail: string;
  advice: string | null;
}

async function examine(changes: Record<string, string> = {}): Promise<{ exitCode: number; find(name: string): Check }> {
  const { exitCode, stdout, stderr } = await run(["doctor", "--json"], changes);
  expect(stderr).toBe("");
  expect(stdout).not.toContain("hunter2");
  const checks: Check[] = JSON.parse(stdout).checks;
  return {
    exitCode,
    find(name) {
      const found = checks.find((check) => check.name === name);
      if (found === undefined) throw new Error(`doctor did not look at ${name}`);
      return found;
    },
  };
}

test("doctor finds nothing wrong with good servers, and asks for nothing in the data directory", async () => {
  const { exitCode, find } = await examine();
  expect(exitCode).toBe(0);
  expect(find("database")).toMatchObject({
    status: "ok",
    detail: expect.stringMatching(/^PostgreSQL \d+\.\d+ answers/),
  });
  const names = ["database TLS", "database clock", "connections", "instances", "secret key", "redis", "data directory"];
  for (const name of [...names, "backups"]) expect({ name, status: find(name).status }).toEqual({ name, status: "ok" });
  expect(() => find("disk")).toThrow();
});

test("doctor says of servers that cannot be used what is wrong, without the passwords", async () => {
  const [databasePort, redisPort] = [findFreePort(), findFreePort()];
  const { exitCode, find } = await examine({
    DATABASE_URL: `postgres://app:hunter2@127.0.0.1:${databasePort}/companiond`,
    REDIS_URL: `redis://:hunter2@127.0.0.1:${redisPort}`,
  });
  expect(exitCode).toBe(1);
  expect(find("database")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining(`127.0.0.1:${databasePort} cannot be reached`),
  });
  expect(find("redis")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining(`127.0.0.1:${redisPort} cannot be reached`),
  });
});

test("doctor warns of a database that an update has yet to migrate", async () => {
  const older = await createMigratedDatabase();
  using _ = becomeNextVersion();
  const { find } = await examine({ DATABASE_URL: older.url });
  expect(find("database")).toMatchObject({ status: "warn", advice: expect.stringContaining("companiond migrate") });
  await older.drop();
});

test("doctor and migrate name copy where the database is empty and the data still in the directory", async () => {
  const dataDir = directory.file("not-copied");
  const made = await runCommand(["account", "create", "--email", "one@example.com"], {
    environment: { COMPANIOND_DATA_DIR: dataDir },
  });
  expect(made.exitCode).toBe(0);
  const postgres = await sharedPostgres();
  const empty = await postgres.createDatabase();
  const changes = { DATABASE_URL: empty.url, COMPANIOND_DATA_DIR: dataDir };
  const migrating = await run(["migrate"], changes);
  expect(migrating.exitCode).toBe(1);
  expect(migrating.stderr).toContain(`companiond copy --from sqlite:${dataDir} --to postgres`);
  const { exitCode, find } = await examine(changes);
  expect(exitCode).toBe(1);
  expect(find("database")).toMatchObject({
    status: "fail",
    advice: expect.stringContaining(`companiond copy --from sqlite:${dataDir} --to postgres`),
  });
  await postgres.dropDatabase(empty.name);
});

test("a server logs which database it serves, without user and password", async () => {
  await using server = await startExecutable({
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url, COMPANIOND_SECRET_KEY: makeSealingKey() },
  });
  const { host, pathname } = new URL(database.url);
  expect(await server.logged("listening")).toMatchObject({ database: `${pathname.slice(1)} at ${host}` });
});

test("doctor asks each of the servers that share a directory, and knows by that where the data is", async () => {
  const dataDir = directory.file("shared");
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, COMPANIOND_SECRET_KEY: makeSealingKey() };
  await using one = await startExecutable({ dataDir, env });
  await using two = await startExecutable({ dataDir, env });
  const { stdout } = await runExecutable(["doctor", "--json", "--data-dir", dataDir]);
  const checks: Check[] = JSON.parse(stdout).checks;
  const details = (name: string) => checks.filter((check) => check.name === name).map(({ detail }) => detail);
  expect(details("server").sort()).toEqual(
    [one.pid, two.pid].sort().map((pid) => expect.stringContaining(`pid ${pid}, user `)),
  );
  expect(details("redis")).toHaveLength(2);
  for (const detail of details("database")) expect(detail).toStartWith("PostgreSQL ");
  expect(details("disk")).toEqual([]);
  expect(stdout).not.toContain(new URL(database.url).password || env.COMPANIOND_SECRET_KEY);
  expect(await one.stop()).toBe(0);
  await two.kill();
  const later = await runExecutable(["doctor", "--data-dir", dataDir]);
  expect(later.stdout).toContain("One was killed here");
});

test.each([
  ["backup", "pg_dump"],
  ["restore", "pg_restore"],
])("%s names %s, and writes nothing", async (command, tool) => {
  const { exitCode, stdout, stderr } = await run([command, directory.file("a.db")]);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(tool);
  expect(await Bun.file(directory.file("a.db")).exists()).toBe(false);
});

test("migrate names the database, without user and password", async () => {
  const { exitCode, stdout } = await run(["migrate"]);
  const { host, pathname } = new URL(database.url);
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`The database ${pathname.slice(1)} at ${host} is up to date.\n`);
});
