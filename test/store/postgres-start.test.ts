/** What PostgreSQL must be for a start, and what the sentence is where it is not. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, writeFileSync } from "node:fs";
import { SQL } from "bun";
import type { OpenOptions } from "../../src/contracts/store/engine.ts";
import { schemaAfter } from "../../src/contracts/store/schema-number.ts";
import { AppError } from "../../src/domain/errors.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { requireFit } from "../../src/engines/postgres/connect-failure.ts";
import { requireDirect } from "../../src/engines/postgres/coordination/pooler-check.ts";
import { openSession } from "../../src/engines/postgres/coordination/session.ts";
import { migrations } from "../../src/engines/postgres/migrations.ts";
import { Pool } from "../../src/engines/postgres/pool.ts";
import { createPostgres } from "../../src/engines/postgres/postgres.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { openPostgresInstance } from "../support/postgres-instance.ts";
import { sharedPostgres, startPostgresServer } from "../support/postgres-server.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";
import { startTransactionPooler } from "../support/transaction-pooler.ts";

const pools = { pool: 4, poolHeavy: 2 };

async function open(url: string, options: Partial<OpenOptions> = {}): Promise<void> {
  const { store, shared } = await createPostgres({ url, ...pools }).open({
    ...{
      log: createCapturedLog(),
      clock: systemClock,
      version: "1.2.3",
      erasures: createErasureMarks(),
      backupDir: "/nowhere",
    },
    ...options,
  });
  expect(shared === null).toBe(options.isCommand === true);
  await store.check();
  await store.close();
}

/** The sentence with which it refuses. */
async function refusalOf(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw error ?? new Error("it opened");
  expect(["unavailable", "conflict", "not_found"]).toContain(error.code);
  return error.message;
}

async function run(url: string, ...statements: string[]): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  for (const statement of statements) await sql.unsafe(statement);
}

describe("a start on", () => {
  let empty: { name: string; url: string };
  beforeEach(async () => {
    empty = await (await sharedPostgres()).createDatabase();
  });
  afterEach(async () => (await sharedPostgres()).dropDatabase(empty.name));

  function urlWith(change: (url: URL) => void): string {
    const url = new URL(empty.url);
    change(url);
    return url.href;
  }

  test("an empty database makes its tables, unless there is a reason not to", async () => {
    const reason = new AppError("conflict", "Copy first.");
    const beforeFirst = () => {
      throw reason;
    };
    expect(await refusalOf(open(empty.url, { beforeFirst }))).toBe("Copy first.");
    const migration = { isCommand: true, isMigration: true, beforeFirst };
    expect(await refusalOf(open(empty.url, migration))).toBe("Copy first.");
    await open(empty.url);
    await open(empty.url, { beforeFirst });
  });

  test("an empty database is left alone by commands, except those that may begin one", async () => {
    const { host, pathname } = new URL(empty.url);
    const where = `There are no tables of companiond in the database ${pathname.slice(1)} at ${host}.`;
    for (const use of ["reads", "writes"] as const) {
      expect(await refusalOf(open(empty.url, { isCommand: true, use }))).toStartWith(where);
      expect(await refusalOf(open(empty.url, { isCommand: true, isMigration: true, use }))).toStartWith(where);
    }
    await open(empty.url, { isCommand: true, use: "makes" });
    await open(empty.url, { isCommand: true, use: "reads" });
  });

  test("an older database is left alone by commands, except the one that migrates", async () => {
    await open(empty.url);
    const older = schemaAfter(migrations.length);
    using _ = becomeNextVersion();
    expect(await refusalOf(open(empty.url, { isCommand: true }))).toContain(
      `of an older companiond (schema ${older}; this program knows ${older + 1}). Run companiond migrate`,
    );
  });

  test("a database of a newer program, of another one, or half a copy is refused", async () => {
    await open(empty.url);
    await run(empty.url, "UPDATE companiond SET copy_from = 'elsewhere'");
    expect(await refusalOf(open(empty.url))).toContain("an unfinished copy of elsewhere");
    expect(await refusalOf(open(empty.url, { isCommand: true }))).toContain("an unfinished copy of elsewhere");
    await run(
      empty.url,
      `UPDATE companiond SET copy_from = NULL, oldest_reader = ${schemaAfter(migrations.length) + 1}`,
    );
    expect(await refusalOf(open(empty.url))).toContain("newer companiond");
    await run(empty.url, "DROP TABLE companiond");
    expect(await refusalOf(open(empty.url))).toContain("tables of another program");
  });

  test("a server that is away, or has no such database, user or right, is refused with what to do", async () => {
    expect(await refusalOf(open(urlWith((url) => (url.port = "1"))))).toContain(
      "cannot be reached: nothing listens there",
    );
    expect(await refusalOf(open(`${empty.url}_missing`))).toContain("has no database of the name in it. Create it");
    expect(await refusalOf(open(urlWith((url) => (url.username = "nobody"))))).toContain("does not admit this user");
    const user = `user_${empty.name}`;
    await run(empty.url, `CREATE USER ${user}`);
    expect(await refusalOf(open(urlWith((url) => (url.username = user))))).toContain("Grant CREATE on the schema");
    await run(empty.url, `REVOKE CONNECT ON DATABASE ${empty.name} FROM PUBLIC`);
    expect(await refusalOf(open(urlWith((url) => (url.username = user))))).toContain("the owner of the database");
    await run(empty.url, `DROP USER ${user}`);
  });

  test("a database in another encoding is refused", async () => {
    const name = `${empty.name}_latin`;
    await run(empty.url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
    expect(await refusalOf(open(urlWith((url) => (url.pathname = name))))).toContain("stores text as LATIN1");
    await (await sharedPostgres()).dropDatabase(name);
  });

  test("a server that is too old is refused", () => {
    const facts = { version: "14.9", isSupported: false, encoding: "UTF8", isReplica: false };
    expect(() => requireFit(facts)).toThrow("runs PostgreSQL 14.9; companiond needs 15 or later");
  });

  test.each([1, 2, 5])("a transaction pooler with %d sessions is refused", async (sessions) => {
    await open(empty.url);
    await using pooler = await startTransactionPooler(Number(new URL(empty.url).port), sessions);
    const sentence = await refusalOf(open(urlWith((url) => (url.port = String(pooler.port)))));
    expect(sentence).toContain("connection pooler");
    // Newer ones know statements that were prepared in another session; then only a look at the sessions tells.
    const connect = () =>
      new SQL(
        urlWith((url) => (url.port = String(pooler.port))),
        { max: 2, prepare: false },
      );
    const pool = new Pool({ connect, deadlineMs: 5000 });
    const session = await openSession(connect);
    expect(await refusalOf(requireDirect(session, pool))).toContain("lends sessions for single transactions");
    session.end();
    await pool.close();
  });

  test("what it is, what it holds and who works with it is told to doctor", async () => {
    const storage = createPostgres({ url: empty.url, ...pools });
    const none = await storage.inspect?.();
    expect(none).toMatchObject({ encoding: "UTF8", isSupported: true, isReadOnly: false, mayCreate: true, tls: null });
    expect(none).toMatchObject({ schema: null, instances: [], proof: null, connections: { besidesPools: 2 } });
    expect(none?.version).toMatch(/^\d+\.\d+$/);
    expect(none?.connections.most).toBeGreaterThan(10);
    await open(empty.url);
    await run(empty.url, "INSERT INTO server_secrets (name, sealed) VALUES ('proof', 'sealed')");
    await using other = new SQL(empty.url, { max: 1 });
    await other`SELECT 1`;
    const instance = await openPostgresInstance(empty.url);
    const some = await storage.inspect?.();
    const schema = schemaAfter(migrations.length);
    expect(some?.instances).toEqual([{ version: "1.2.3", sharesWindows: true, url: null }]);
    expect(some?.connections.byOthers).toBeGreaterThan(0);
    expect(some).toMatchObject({ schema: { applied: schema, known: schema, isReadable: true } });
    expect(some).toMatchObject({ proof: "sealed", hasSealed: false });
    await run(
      empty.url,
      `INSERT INTO accounts (id, email, plan, role, created_at, totp_secret)
       VALUES ('a', 'one@example.com', 'free', 'owner', 0, 'sealed')`,
    );
    expect(await storage.inspect?.()).toMatchObject({ hasSealed: true });
    await run(empty.url, "UPDATE accounts SET totp_secret = NULL");
    await run(
      empty.url,
      `INSERT INTO visitor_keys (id, account_id, name, algorithm, fact, filter_hash, sealed, created_at)
       VALUES ('k', 'a', 'shop', 'HS256', 'account', '', 'sealed', 0)`,
    );
    expect(await storage.inspect?.()).toMatchObject({ hasSealed: true });
    await run(empty.url, "DELETE FROM visitor_keys");
    expect(await storage.inspect?.()).toMatchObject({ hasSealed: false });
    await run(
      empty.url,
      "INSERT INTO companions (id, account_id, enabled, name, name_folded, created_at, updated_at, " +
        "allowed_origins, starters, metadata) VALUES ('c', 'a', true, 'C', 'c', 0, 0, '[]', '[]', '{}')",
    );
    await run(
      empty.url,
      "INSERT INTO tools (id, account_id, companion_id, name, title, type, url, header_names, " +
        "sealed_secret, timeout_ms, confirm, requires_visitor, bytes, created_at, updated_at) " +
        "VALUES ('t', 'a', 'c', 'n', 'n', 'mcp', 'u', '[]', 'sealed', 100, false, false, 0, 0, 0)",
    );
    expect(await storage.inspect?.()).toMatchObject({ hasSealed: true, hasSealedWords: false });
    await run(
      empty.url,
      "INSERT INTO mails (id, account_id, kind, sealed, due_at, created_at) VALUES ('m', 'a', 'answer', 'sealed', 0, 0)",
    );
    expect(await storage.inspect?.()).toMatchObject({ hasSealedWords: true });
    expect(Math.abs(some?.clockOffsetMs ?? Number.NaN)).toBeLessThan(5000);
    await instance.close();
  });
});

test("a wrong password and a replica are refused", async () => {
  await using server = await startPostgresServer({ settings: { wal_level: "replica" } });
  const { url, name } = await server.createDatabase();
  const dataDir = await (async () => {
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe("CREATE USER guarded PASSWORD 'right'");
    return String((await sql.unsafe("SHOW data_directory"))[0].data_directory);
  })();
  writeFileSync(
    `${dataDir}/pg_hba.conf`,
    "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n",
  );
  writeFileSync(`${dataDir}/standby.signal`, "");
  chmodSync(`${dataDir}/standby.signal`, 0o666);
  appendFileSync(`${dataDir}/postgresql.conf`, "hot_standby = on\n");
  await server.stop();
  await server.start();
  const refused = await refusalOf(open(`postgres://guarded:wr0ngw0rd@127.0.0.1:${server.port}/${name}`));
  expect(refused).toContain("refuses the user or the password");
  expect(refused).not.toContain("wr0ngw0rd");
  expect(await refusalOf(open(url))).toContain("is a read-only replica");
  expect(await createPostgres({ url, ...pools }).inspect?.()).toMatchObject({ isReadOnly: true });
});

describe("a server that counts rates by itself", () => {
  let database: { url: string; drop(): Promise<void> };
  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(() => database.drop());
  const openBriefly = (sharesWindows: boolean) =>
    openPostgresInstance(database.url, { sharesWindows, patienceMs: 300 });

  test("serves a database alone, and leaves it to the next one", async () => {
    const alone = await openBriefly(false);
    // Otherwise nobody knows what a start that takes seconds is busy with.
    const log = createCapturedLog();
    await refusalOf(openPostgresInstance(database.url, { sharesWindows: false, patienceMs: 300, log }));
    expect(log.events.map(({ event }) => event)).toEqual(["another server has the database: waiting for it to stop"]);
    expect(await refusalOf(openBriefly(false))).toContain("Another companiond serves this database");
    expect(await refusalOf(openBriefly(true))).toContain("A companiond without REDIS_URL serves this database");
    // One that waits gets the place of one that ends.
    const next = openPostgresInstance(database.url, { sharesWindows: false });
    await alone.close();
    await (await next).close();
  });

  test("is refused beside those that count together", async () => {
    const [one, other] = await Promise.all([openBriefly(true), openBriefly(true)]);
    expect(await refusalOf(openBriefly(false))).toContain("give all of them the same REDIS_URL");
    await one.close();
    await other.close();
    await eventually(() =>
      openBriefly(false).then(
        (late) => late.close().then(() => true),
        () => false,
      ),
    );
  });
});
