/** The PostgreSQL server of the tests: what it keeps over a crash, and that it ends with the process that started it. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { eventually } from "./eventually.ts";
import { readLines } from "./line-process.ts";
import { sharedPostgres, startPostgresServer } from "./postgres-server.ts";
import { hasEnded } from "./processes.ts";

async function query<Row>(url: string, statement: string): Promise<Row[]> {
  const sql = new SQL(url, { max: 1 });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.close();
  }
}

test("makes databases of their own, also as copies of a template, and drops them with their connections", async () => {
  const databases = await sharedPostgres();
  const template = await databases.createDatabase();
  await query(template.url, "CREATE TABLE word AS SELECT 'Größe' AS text");
  const [one, other] = await Promise.all([
    databases.createDatabase(template.name),
    databases.createDatabase(template.name),
  ]);
  await query(one.url, "DELETE FROM word");
  expect(await query(one.url, "SELECT text FROM word")).toEqual([]);
  expect(await query(other.url, "SELECT text FROM word")).toEqual([{ text: "Größe" }]);

  await using connected = new SQL(other.url, { max: 1 });
  await connected`SELECT 1`;
  for (const { name } of [template, one, other]) await databases.dropDatabase(name);
  const names = [template, one, other].map(({ name }) => `'${name}'`).join();
  const left = `SELECT datname FROM pg_database WHERE datname IN (${names})`;
  expect(await query(databases.url("postgres"), left)).toEqual([]);
});

test("has its data after a crash of all its processes, on the same port", async () => {
  await using server = await startPostgresServer({ isDurable: true });
  const { url } = await server.createDatabase();
  await query(url, "CREATE TABLE word AS SELECT 'kept' AS text");
  expect(await query(url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
  const first = server.pid;
  await server.crash();
  expect(hasEnded(first)).toBe(true);
  await expect(query(url, "SELECT 1")).rejects.toThrow();
  await server.start();
  expect(server.pid).not.toBe(first);
  expect(await query(url, "SELECT text FROM word")).toEqual([{ text: "kept" }]);
  expect(server.log()).toContain("not properly shut down");
  await server.stop("fast");
  await server.start();
  expect(await query(url, "SELECT text FROM word")).toEqual([{ text: "kept" }]);
});

test("ends with the process that started it, even if that is killed, and leaves no directory", async () => {
  const script = `
    const { startPostgresServer } = await import(${JSON.stringify(join(import.meta.dir, "postgres-server.ts"))});
    const server = await startPostgresServer();
    const sql = new Bun.SQL(server.url("postgres"), { max: 1 });
    const [{ data_directory }] = await sql\`SHOW data_directory\`;
    console.log(server.pid);
    console.log(data_directory);
    await Bun.sleep(1e9);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const lines = readLines(child.stdout);
  const pid = Number((await lines.next()).value);
  const dataDir = String((await lines.next()).value);
  expect(hasEnded(pid)).toBe(false);
  expect(existsSync(dataDir)).toBe(true);
  child.kill("SIGKILL");
  await eventually(() => hasEnded(pid) && !existsSync(join(dataDir, "..")));
  expect(hasEnded(pid)).toBe(true);
});
