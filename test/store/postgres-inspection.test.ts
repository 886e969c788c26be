/** What `doctor` is told of a PostgreSQL server, and the sentences where there is nothing to tell. */
import { afterAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { inspectPostgres } from "../../src/engines/postgres/inspection.ts";
import { findFreePort } from "../support/free-port.ts";
import { sharedPostgres } from "../support/postgres-server.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";

const databases = await sharedPostgres();
const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanups.reverse()) await cleanUp();
});

async function run(url: string, ...statements: string[]): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  for (const statement of statements) await sql.unsafe(statement);
}

async function createEmpty(...statements: string[]): Promise<{ name: string; url: string }> {
  const database = await databases.createDatabase();
  cleanups.push(() => databases.dropDatabase(database.name));
  await run(database.url, ...statements);
  return database;
}

async function createMigrated(...statements: string[]): Promise<string> {
  const { url, drop } = await createMigratedDatabase();
  cleanups.push(drop);
  await run(url, ...statements);
  return url;
}

test("tells of an empty database and its server", async () => {
  const { url } = await createEmpty();
  const facts = await inspectPostgres(url);
  expect(facts).toEqual({
    version: expect.stringMatching(/^\d+\.\d+$/),
    isSupported: true,
    encoding: "UTF8",
    roundTripMs: expect.any(Number),
    clockOffsetMs: expect.any(Number),
    tls: null,
    isReadOnly: false,
    mayCreate: true,
    connections: { most: expect.any(Number), byOthers: expect.any(Number), besidesPools: 2 },
    schema: null,
    instances: [],
    proof: null,
    hasSealed: false,
    hasSealedWords: false,
    hasStopBudgets: false,
  });
  expect(Math.abs(facts.clockOffsetMs)).toBeLessThan(facts.roundTripMs + 1000);
});

test("tells of a migrated one, and of what its secrets are sealed with", async () => {
  const url = await createMigrated();
  const { schema, proof } = await inspectPostgres(url);
  expect([schema, proof]).toMatchObject([{ isReadable: true, isUnfinishedCopy: false }, null]);
  if (schema === null || typeof schema === "string") throw new Error("no schema");
  expect([schema.applied, schema.applied > 0]).toEqual([schema.known, true]);
  await run(url, "INSERT INTO server_secrets (name, sealed) VALUES ('proof', 'v1.sealed')");
  expect((await inspectPostgres(url)).proof).toBe("v1.sealed");
});

test("tells what a newer program, an interrupted copy and another program have left", async () => {
  const newer = await createMigrated("UPDATE companiond SET version = 99, oldest_reader = 99");
  expect((await inspectPostgres(newer)).schema).toMatchObject({ applied: 99, isReadable: false });
  const copy = await createMigrated("UPDATE companiond SET copy_from = 'sqlite:/data'");
  expect((await inspectPostgres(copy)).schema).toMatchObject({ isReadable: true, isUnfinishedCopy: true });
  const { url: other } = await createEmpty("CREATE TABLE wp_posts (id int)");
  expect((await inspectPostgres(other)).schema).toBe("other");
});

test("tells of a database that takes no writes, and of one with another encoding", async () => {
  const { name, url } = await createEmpty();
  await run(databases.url("postgres"), `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  expect((await inspectPostgres(url)).isReadOnly).toBe(true);
  const latin = `${name}_latin`;
  const options = "TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'";
  await run(databases.url("postgres"), `CREATE DATABASE ${latin} ${options}`);
  cleanups.push(() => databases.dropDatabase(latin));
  expect((await inspectPostgres(databases.url(latin))).encoding).toBe("LATIN1");
});

test("tells what the user may do, and the tightest limit of connections", async () => {
  const { name, url } = await createEmpty();
  const role = `role_${name}`;
  await run(url, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 5`);
  cleanups.push(() => run(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`));
  const roleUrl = url.replace("//postgres@", `//${role}@`);
  const alone = await inspectPostgres(roleUrl);
  expect([alone.mayCreate, alone.connections]).toEqual([false, { most: 5, byOthers: 0, besidesPools: 2 }]);

  await using other = new SQL(roleUrl, { max: 1 });
  await other`SELECT 1`;
  await run(url, `GRANT CREATE ON SCHEMA public TO ${role}`);
  const beside = await inspectPostgres(roleUrl);
  expect([beside.mayCreate, beside.connections]).toEqual([true, { most: 5, byOthers: 1, besidesPools: 2 }]);
});

test("lists the instances that are alive, whoever else is in the table", async () => {
  const url = await createMigrated(
    `INSERT INTO instances (number, id, version, shares_windows, started_at, url) OVERRIDING SYSTEM VALUE
     VALUES (1, 'killed', '1.0.0', false, 0, null), (2, 'alive', '1.1.0', true, 0, 'http://10.0.0.2:3000')`,
  );
  await using alive = new SQL(url, { max: 1 });
  // As an instance does for as long as it lives.
  await alive`SELECT pg_advisory_lock(1668246896, 2)`;
  expect((await inspectPostgres(url)).instances).toEqual([
    { version: "1.1.0", sharesWindows: true, url: "http://10.0.0.2:3000" },
  ]);
});

async function refusalOf(url: string): Promise<string> {
  try {
    await inspectPostgres(url);
  } catch (error) {
    if (error instanceof Error && error.cause === undefined) return error.message;
    throw error;
  }
  throw new Error("it was inspected");
}

test("says what is wrong with a server that cannot be asked, and never the password", async () => {
  const { url } = await createEmpty();
  const { host } = new URL(url);
  const withPassword = url.replace("//postgres@", "//postgres:hunter2@");
  const port = findFreePort();
  expect(await refusalOf(withPassword.replace(host, `127.0.0.1:${port}`))).toBe(
    `DATABASE_URL: 127.0.0.1:${port} cannot be reached: nothing listens there, or the name has no address.`,
  );
  expect(await refusalOf(`${withPassword}_absent`)).toStartWith(
    `DATABASE_URL: ${host} has no database of the name in it.`,
  );
  expect(await refusalOf(url.replace("//postgres@", "//nobody:hunter2@"))).toStartWith(
    `DATABASE_URL: ${host} does not admit this user from here`,
  );
  expect(await refusalOf(`${withPassword}?sslmode=require`)).toBe(
    `DATABASE_URL: ${host} has no TLS, which sslmode asks for.`,
  );
});

test("gives up a server that takes the connection and says nothing", async () => {
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const name = `127.0.0.1:${silent.port}`;
  const refused = await refusalOf(`postgres://app:hunter2@${name}/companiond`);
  silent.stop(true);
  expect(refused).toMatch(new RegExp(`^DATABASE_URL: ${name} (?:did not answer within 5 s|does not answer)\\.$`));
});
