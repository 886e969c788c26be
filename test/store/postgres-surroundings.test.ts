/** Where operators put the database: what it and its user are called, and what settings they bring along. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { createPostgres } from "../../src/engines/postgres/postgres.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { sharedPostgres } from "../support/postgres-server.ts";

const password = "p@ss/w:rd%";
let user: string;
let database: string;
let admin: SQL;
let url: string;

beforeEach(async () => {
  const { serverUrl } = await sharedPostgres();
  admin = new SQL(`${serverUrl}/postgres`, { max: 1 });
  const suffix = crypto.randomUUID();
  user = `od'd user ${suffix}`;
  database = `My d'B-%ö ${suffix}`;
  await admin.unsafe(`CREATE ROLE "${user}" LOGIN PASSWORD '${password}'`);
  await admin.unsafe(`CREATE DATABASE "${database}" OWNER "${user}"`);
  const named = new URL(serverUrl);
  named.username = encodeURIComponent(user);
  named.password = encodeURIComponent(password);
  named.pathname = encodeURIComponent(database);
  url = named.href;
});
afterEach(async () => {
  await admin.unsafe(`DROP DATABASE "${database}" WITH (FORCE)`);
  await admin.unsafe(`DROP ROLE "${user}"`);
  await admin.close();
});

const open = ({ isCommand = false } = {}) =>
  createPostgres({ url, pool: 4, poolHeavy: 3 }).open({
    ...{ log: createCapturedLog(), clock: systemClock, version: "1.2.3", backupDir: "/nowhere" },
    ...{ erasures: createErasureMarks(), isCommand },
  });

const setForUser = (setting: string) => admin.unsafe(`ALTER ROLE "${user}" SET ${setting}`);

async function runAsUser<Row>(statement: string): Promise<Row[]> {
  await using sql = new SQL({ url, max: 1, database });
  return [...(await sql.unsafe(statement))];
}

test("a user that owns nothing but the database, and a schema of any name, are enough", async () => {
  await setForUser(`search_path = "my schema", public`);
  await runAsUser(`CREATE SCHEMA "my schema"`);
  const { store, shared } = await open();
  await store.check();
  expect(await shared?.duties.take("jobs")).toBe(true);
  await store.close();
  expect(
    await runAsUser("SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname IN ('public', 'my schema')"),
  ).toEqual([{ schemaname: "my schema" }]);
});

test("a search path without a schema is refused with what to do", async () => {
  await setForUser("search_path = nowhere");
  await expect(open()).rejects.toThrow("search_path");
});

test("the time is told to the millisecond, however few digits the user's settings ask for", async () => {
  await setForUser("extra_float_digits = -15");
  const { store, shared } = await open();
  // On one machine: any difference would be one of digits.
  expect(shared?.clockOffsetMs).toBe(0);
  await store.close();
});

test("a command takes few of the server's connections, whatever an instance may open", async () => {
  const { store } = await open({ isCommand: true });
  await store.accounts.list();
  await store.check();
  const connections = await runAsUser(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'companiond'",
  );
  await store.close();
  expect(connections.length).toBeGreaterThan(0);
  expect(connections.length).toBeLessThanOrEqual(4);
});
