/** Backing up a database in use, restoring, and what both refuse. */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, storageOf } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/config.ts";
import { schemaAfter } from "../../src/contracts/store/schema-number.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { migrations } from "../../src/engines/sqlite/migrations.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { runBackup, startBackups } from "../../src/server/jobs/backups.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { runCommand, runJson } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { becomeNextVersion } from "../support/next-migration.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let server: TestServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function countAccounts(dataDir: string): Promise<number> {
  const listed = await runJson(["account", "list", "--data-dir", dataDir]);
  return Array.isArray(listed) ? listed.length : Number.NaN;
}

async function createAccount(dataDir: string, email: string): Promise<void> {
  await runJson(["account", "create", "--email", email, "--data-dir", dataDir]);
}

test("writes a whole copy of a database that is being written to, for its user alone", async () => {
  server = await startTestServer();
  using dir = temporaryDirectory();
  const { createAccount: create, dataDir } = server;
  const writes = Array.from({ length: 50 }, (_, i) => create({ email: `during-${i}@example.com` }));
  const file = dir.file("copy.db");
  const outcome = await runJson(["backup", file, "--data-dir", dataDir]);
  await Promise.all(writes);
  expect(outcome).toEqual({ file, bytes: statSync(file).size, schema_version: schemaAfter(migrations.length) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir.path)).toEqual(["copy.db"]);
  const copy = new Database(file, { readonly: true });
  expect(copy.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  copy.close();
});

test("makes no folder that a typing error names, but for that of the scheduled backups", async () => {
  using dir = temporaryDirectory();
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  writeFileSync(dir.file("a-file"), "");
  for (const folder of ["mispelt/deep", "a-file"]) {
    const refused = await runCommand(["backup", dir.file(`${folder}/copy.db`), "--data-dir", data.path]);
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: `companiond: there is no folder ${dir.file(folder)}: nothing was written. Make it, or name a file in another one.\n`,
    });
  }
  expect(readdirSync(dir.path)).toEqual(["a-file"]);
  await runJson(["backup", data.file("backups/copy.db"), "--data-dir", data.path]);
});

test("holds all that was acknowledged before it began", async () => {
  server = await startTestServer();
  using dir = temporaryDirectory();
  using target = temporaryDirectory();
  for (let i = 0; i < 20; i++) await server.createAccount({ email: `before-${i}@example.com` });
  await runJson(["backup", dir.file("a.db"), "--data-dir", server.dataDir]);
  await server.createAccount({ email: "after@example.com" });
  const restored = await runJson(["restore", dir.file("a.db"), "--data-dir", target.path]);
  expect(restored).toMatchObject({ database: target.file("companiond.db"), kept_as: null });
  expect(await countAccounts(target.path)).toBe(20);
});

test("never replaces a file", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  writeFileSync(data.file("precious"), "precious");
  const { exitCode, stderr } = await runCommand(["backup", data.file("precious"), "--data-dir", data.path]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("already exists");
  expect(readFileSync(data.file("precious"), "utf8")).toBe("precious");
});

test("says that there is nothing to back up, and creates nothing", async () => {
  using dir = temporaryDirectory();
  const { exitCode, stderr } = await runCommand(["backup", dir.file("b.db"), "--data-dir", dir.file("none")]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("There is no database in");
  expect(readdirSync(dir.path)).toEqual([]);
});

test("puts a backup back and keeps the old database aside", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "first@example.com");
  await runJson(["backup", data.file("one.db"), "--data-dir", data.path]);
  await createAccount(data.path, "second@example.com");
  const restored = await runJson(["restore", data.file("one.db"), "--data-dir", data.path]);
  expect(await countAccounts(data.path)).toBe(1);
  const keptAs = String(Object(restored).kept_as);
  expect(keptAs).toMatch(/companiond\.db\.before-restore-\d{8}T\d{6}Z$/);

  // The old one is intact: it can be restored in turn.
  await runJson(["restore", keptAs, "--data-dir", data.path]);
  expect(await countAccounts(data.path)).toBe(2);
  expect(readdirSync(data.path).filter((name) => name.includes("restoring"))).toEqual([]);
});

test("restores a raw copy with its log beside it, and leaves that copy unchanged", async () => {
  server = await startTestServer();
  using dir = temporaryDirectory();
  using target = temporaryDirectory();
  // A start empties the log behind itself, which would take what is to be found in it.
  const log = join(server.dataDir, "companiond.db-wal");
  await eventually(() => statSync(log).size === 0);
  await server.createAccount({ email: "in-the-log@example.com" });
  // In one turn of the loop: the server empties the log again when it is idle.
  for (const suffix of ["", "-wal"]) {
    copyFileSync(join(server.dataDir, `companiond.db${suffix}`), dir.file(`raw.db${suffix}`));
  }
  expect(statSync(dir.file("raw.db-wal")).size).toBeGreaterThan(0);
  await runJson(["restore", dir.file("raw.db"), "--data-dir", target.path]);
  expect(await countAccounts(target.path)).toBe(1);
  expect(readdirSync(dir.path).sort()).toEqual(["raw.db", "raw.db-wal"]);
});

test("refuses a server's database, with a sentence, and changes nothing", async () => {
  server = await startTestServer();
  using dir = temporaryDirectory();
  await server.createAccount({ email: "ada@example.com" });
  await runJson(["backup", dir.file("a.db"), "--data-dir", server.dataDir]);
  const { exitCode, stderr } = await runCommand(["restore", dir.file("a.db"), "--data-dir", server.dataDir]);
  expect({ exitCode, stderr: stderr.split("\n")[0] }).toEqual({
    exitCode: 1,
    stderr: "companiond: another program has the database open. Stop it first.",
  });
  expect(await server.services.store.accounts.findByEmail("ada@example.com")).not.toBeNull();
});

test("refuses while a server starts from the directory", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  await runJson(["backup", data.file("a.db"), "--data-dir", data.path]);
  const lock = storageOf({ dataDir: data.path }).lock();
  const { exitCode, stderr } = await runCommand(["restore", data.file("a.db"), "--data-dir", data.path]);
  lock.release();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("another companiond serves from");
  expect((await runCommand(["restore", data.file("a.db"), "--data-dir", data.path])).exitCode).toBe(0);
});

test.each<[string, (file: string) => void, string]>([
  [
    "a file that is not a database",
    (file) => writeFileSync(file, "not a database, but long enough to be read as one"),
    "is damaged, or not a database",
  ],
  ["an empty file", (file) => writeFileSync(file, ""), "is not a companiond database"],
  [
    "another program's database",
    (file) => new Database(file).run("PRAGMA application_id = 1"),
    "is not a companiond database",
  ],
  ["a backup that was cut off", (file) => truncateSync(file, Math.floor(statSync(file).size / 2)), "is damaged"],
  ["a backup with a torn page", tear, "is damaged"],
  [
    "a newer program's backup",
    (file) => new Database(file).run("PRAGMA user_version = 9999"),
    "was written by a newer companiond",
  ],
])("refuses %s before anything changes", async (_, spoil, sentence) => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  const file = data.file("spoilt.db");
  await runJson(["backup", file, "--data-dir", data.path]);
  spoil(file);
  const { exitCode, stderr } = await runCommand(["restore", file, "--data-dir", data.path]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`${file} ${sentence}`);
  expect(await countAccounts(data.path)).toBe(1);
  expect(readdirSync(data.path).filter((name) => /restor/.test(name))).toEqual([]);
});

test("refuses a pipe at once, rather than wait for who writes to it", async () => {
  using data = temporaryDirectory();
  expect(Bun.spawnSync(["mkfifo", data.file("pipe")]).exitCode).toBe(0);
  const { stderr } = await runCommand(["restore", data.file("pipe"), "--data-dir", data.file("data")]);
  expect(stderr).toContain("is not a regular file");
});

/** Overwrites the middle of every page but the first. */
function tear(file: string): void {
  const bytes = readFileSync(file);
  for (let page = 4096; page + 4096 <= bytes.length; page += 4096) bytes.fill(0xa5, page, page + 64);
  writeFileSync(file, bytes);
}

test("restores a backup over a damaged database, and keeps its files", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  await runJson(["backup", data.file("a.db"), "--data-dir", data.path]);
  writeFileSync(data.file("companiond.db"), "rubbish");
  await runJson(["restore", data.file("a.db"), "--data-dir", data.path]);
  expect(await countAccounts(data.path)).toBe(1);
  const kept = readdirSync(data.path).find((name) => name.includes("before-restore"));
  expect(readFileSync(data.file(String(kept)), "utf8")).toBe("rubbish");
});

test("backs a database up before it is migrated", async () => {
  using data = temporaryDirectory();
  await migrateSqlite({ dataDir: data.path });
  const older = schemaAfter(migrations.length);
  using _ = becomeNextVersion();
  const log = createCapturedLog();
  const store = await openStore(loadConfig({ environment: { COMPANIOND_DATA_DIR: data.path } }), { log });
  await store.close();
  const [name, ...others] = readdirSync(data.file("backups"));
  expect(others).toEqual([]);
  expect(name).toMatch(new RegExp(`^before-migration-${older}-to-${older + 1}-\\d{8}T\\d{6}Z\\.db$`));
  const copy = new Database(data.file(`backups/${name}`), { readonly: true });
  expect(copy.query("PRAGMA user_version").get()).toEqual({ user_version: older });
  copy.close();
  expect(log.events.map(({ event }) => event)).toContain("database backed up before its migration");
});

test("no command migrates beside a server of an earlier version, which would not know the new schema", async () => {
  using data = temporaryDirectory();
  await migrateSqlite({ dataDir: data.path });
  const earlier = [...migrations];
  using _ = becomeNextVersion();
  const server = storageOf({ dataDir: data.path }).lock();
  for (const command of [["migrate"], ["account", "suspend", "ada@example.com"]]) {
    const { exitCode, stderr } = await runCommand([...command, "--data-dir", data.path]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("An earlier version of companiond serves from");
  }
  // The earlier version can still open it.
  expect(await migrateSqlite({ dataDir: data.path, migrations: earlier })).toEqual([]);
  expect(existsSync(data.file("backups"))).toBe(false);
  server.release();
  expect((await runCommand(["migrate", "--data-dir", data.path])).exitCode).toBe(0);
  expect(readdirSync(data.file("backups"))).toHaveLength(1);
  // No lock is left: a server may start.
  storageOf({ dataDir: data.path }).lock().release();
});

test("does not migrate if the backup before it cannot be written", async () => {
  using data = temporaryDirectory();
  await migrateSqlite({ dataDir: data.path });
  const older = schemaAfter(migrations.length);
  using _ = becomeNextVersion();
  writeFileSync(data.file("backups"), "a file where the directory should be");
  const opening = openStore(loadConfig({ environment: { COMPANIOND_DATA_DIR: data.path } }), {
    log: createCapturedLog(),
  });
  await expect(opening).rejects.toThrow("The backup could not be written");
  const database = new Database(data.file("companiond.db"), { readonly: true });
  expect(database.query("PRAGMA user_version").get()).toEqual({ user_version: older });
  database.close();
});

const command = [process.execPath, join(import.meta.dir, "../../src/main.ts")];

function services(nowMs: () => number = Date.now) {
  return { clock: { ...systemClock, nowMs }, log: createCapturedLog(), measurements: new Measurements() };
}

test("keeps the newest of its scheduled backups, and touches no other file", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  const dir = data.file("backups");
  const plan = { dataDir: data.path, dir, keep: 2, cron: null };
  await Bun.write(join(dir, "mine.db"), "mine");
  await Bun.write(join(dir, "companiond-20200101T000000Z.db.77.partial"), "half of one");
  let nowMs = Date.UTC(2026, 0, 1);
  const parts = services(() => nowMs);
  for (let i = 0; i < 3; i++, nowMs += 1_000) await runBackup(parts, plan, command);
  expect(readdirSync(dir).sort()).toEqual([
    "companiond-20260101T000001Z.db",
    "companiond-20260101T000002Z.db",
    "mine.db",
  ]);
  expect(parts.measurements.backups).toEqual({ succeeded: 3, failed: 0, lastSuccessAtMs: nowMs - 1_000 });
});

test("keeps the one just made where a clock that was ahead has left later names, and makes one in a second that comes again", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  const dir = data.file("backups");
  for (const day of [1, 2, 3]) await Bun.write(join(dir, `companiond-2036010${day}T000000Z.db`), "from a wrong year");
  const parts = services(() => Date.UTC(2026, 0, 1));
  const plan = { dataDir: data.path, dir, keep: 3, cron: null };
  for (let i = 0; i < 2; i++) await runBackup(parts, plan, command);
  expect(readdirSync(dir).sort()).toEqual([
    "companiond-20260101T000000Z.db",
    "companiond-20260101T000001Z.db",
    "companiond-20360103T000000Z.db",
  ]);
});

test("counts and logs a backup that fails, and keeps the ones that are there", async () => {
  using data = temporaryDirectory();
  const parts = services();
  const plan = { dataDir: data.file("no-database"), dir: data.file("backups"), keep: 1, cron: null };
  await Bun.write(data.file("backups/companiond-20200101T000000Z.db"), "old");
  await Bun.write(data.file("backups/companiond-20200102T000000Z.db"), "newer");
  await runBackup(parts, plan, command);
  expect(parts.measurements.backups).toEqual({ succeeded: 0, failed: 1, lastSuccessAtMs: null });
  expect(parts.log.text()).toContain("There is no database in");
  expect(readdirSync(data.file("backups"))).toHaveLength(2);
  expect(existsSync(plan.dataDir)).toBe(false);
});

test("runs on its schedule, and a stop ends a running backup without a trace", async () => {
  using data = temporaryDirectory();
  await createAccount(data.path, "ada@example.com");
  const parts = services(() => Date.UTC(2026, 0, 1));
  const plan = { dataDir: data.path, dir: data.file("backups"), keep: 2, cron: "0 3 * * *" };
  const due: { cron: string; run: () => Promise<void> }[] = [];
  let isStopped = false;
  const schedule = (cron: string, run: () => Promise<void>) => {
    due.push({ cron, run });
    return {
      stop() {
        isStopped = true;
      },
    };
  };
  const backups = startBackups(parts, plan, command, schedule);
  expect(due.map(({ cron }) => cron)).toEqual(["0 3 * * *"]);
  expect(parts.measurements.backupsScheduledAtMs).toBe(parts.clock.nowMs());
  await due[0]?.run();
  expect(parts.measurements.backups.succeeded).toBe(1);
  const running = due[0]?.run();
  await backups.stop();
  await running;
  expect(isStopped).toBe(true);
  expect(parts.measurements.backups).toMatchObject({ succeeded: 1, failed: 0 });
  expect(readdirSync(plan.dir).filter((name) => name.endsWith(".db"))).toHaveLength(1);
});

test("makes none if no schedule is set", async () => {
  let isAsked = false;
  const schedule = () => {
    isAsked = true;
    return { stop() {} };
  };
  const parts = services();
  const backups = startBackups(parts, { dataDir: "/", dir: "/", keep: 1, cron: null }, command, schedule);
  await backups.stop();
  expect(parts.measurements.backupsScheduledAtMs).toBeNull();
  expect(isAsked).toBe(false);
});
