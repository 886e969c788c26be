/** Several processes on one SQLite database: locks, migrations, and a process that is killed. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { startSqliteProcess } from "../support/line-process.ts";
import { createRandom } from "../support/random.ts";
import { openStoreAt, openTemporaryStore } from "../support/sqlite-store.ts";
import { firstPage, openWorld } from "../support/store-world.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("a write waits for another process's lock while the event loop runs on, and reads go through", async () => {
  // Longer than any machine takes for the turns below.
  const opened = await openTemporaryStore({ lockLimitMs: 60_000 });
  const world = await openWorld(async () => opened);
  const account = await world.createAccount();
  const holder = startSqliteProcess("hold-lock", opened.dataDir);
  expect(await holder.readLine()).toBe("held");

  let isWritten = false;
  const writes = [1, 2, 3].map(() => world.createCompanion(account).then(() => (isWritten = true)));
  // The lock is only given back by this loop: were it stalled until the write came through, it never would.
  for (let turn = 0; turn < 50; turn++) {
    await Bun.sleep(1);
    expect(await world.store.accounts.findById(account.id)).toEqual(account);
    expect(isWritten).toBe(false);
  }
  holder.writeLine("go on");
  expect(await holder.readLine()).toBe("released");
  await Promise.all(writes);
  const { items } = await world.store.companions.list(account.id, { metadata: [], q: null }, firstPage);
  expect(items).toHaveLength(3);
  await holder.exited;
  await world.close();
});

test("a write is refused as unavailable when the lock stays, and the next one goes through", async () => {
  const opened = await openTemporaryStore({ lockLimitMs: 60 });
  const world = await openWorld(async () => opened);
  const account = await world.createAccount();
  const holder = startSqliteProcess("hold-lock", opened.dataDir);
  expect(await holder.readLine()).toBe("held");
  await expect(world.createCompanion(account)).rejects.toMatchObject({ code: "unavailable" });
  holder.writeLine("go on");
  expect(await holder.readLine()).toBe("released");
  await world.createCompanion(account);
  const { items } = await world.store.companions.list(account.id, { metadata: [], q: null }, firstPage);
  expect(items).toHaveLength(1);
  await holder.exited;
  await world.close();
});

test("of processes that migrate at once one does it and the others wait", async () => {
  using directory = temporaryDirectory();
  const children = [1, 2, 3].map(() => startSqliteProcess("migrate", directory.path));
  for (const child of children) expect(await child.readLine()).toBe("ready");
  for (const child of children) child.writeLine("go");
  const applied = await Promise.all(children.map((child) => child.readLine()));
  const counts = applied.map((line) => (JSON.parse(line ?? "") as string[]).length).sort();
  expect(counts.slice(0, 2)).toEqual([0, 0]);
  expect(counts[2]).toBeGreaterThan(0);
  for (const child of children) expect(await child.exited).toBe(0);
});

test("opening waits while another process turns a new file to its journal mode", async () => {
  using directory = temporaryDirectory();
  // A file of the old mode with something in it, locked as a whole: what the change of mode does for a moment.
  const other = new Database(directory.file("companiond.db"), { create: true });
  other.run("CREATE TABLE other (id INTEGER)");
  other.run("BEGIN EXCLUSIVE");
  const opening = openStoreAt(directory.path);
  // Without a wait it would have failed by now; timers run, so the event loop was not held up.
  await Bun.sleep(20);
  other.run("DROP TABLE other");
  other.run("COMMIT");
  other.close();
  const store = await opening;
  expect(await store.check()).toBeUndefined();
  await store.close();
});

test("a closed database is let go of, whatever statements the collector is about to sweep", async () => {
  for (let round = 0; round < 3; round++) {
    using directory = temporaryDirectory();
    const store = await openStoreAt(directory.path);
    for (let i = 0; i < 50; i++) await store.accounts.list();
    await new Promise((resolve) => setImmediate(resolve));
    Bun.gc(false);
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    using database = new Database(directory.file("companiond.db"), { readwrite: true });
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    expect(() => database.run("BEGIN EXCLUSIVE")).not.toThrow();
  }
});

test("what was acknowledged is there after the process was killed, and nothing is torn", async () => {
  using directory = temporaryDirectory();
  const random = createRandom(5);
  for (let round = 0; round < 10; round++) {
    const child = startSqliteProcess("settle", directory.path);
    const acknowledged: string[] = [];
    const killAfter = 1 + random.below(120);
    for (let line = await child.readLine(); line !== null; line = await child.readLine()) {
      acknowledged.push(line);
      if (acknowledged.length === killAfter) child.kill("SIGKILL");
    }
    await child.exited;
    const store = await openStoreAt(directory.path);
    for (const line of acknowledged) {
      const [accountId = "", conversationId = ""] = line.split(" ");
      const found = await store.conversations.find(accountId, conversationId);
      expect(found?.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
    }
    await store.close();
    using database = new Database(directory.file("companiond.db"));
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    const torn = database.query(
      `SELECT count(*) AS count FROM conversations WHERE message_count <>
         (SELECT count(*) FROM messages WHERE conversation_number = conversations.number)`,
    );
    expect(torn.get()).toEqual({ count: 0 });
  }
});
