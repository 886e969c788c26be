/** Copies between the engines: that everything comes over, whatever happens on the way, and numbering goes on. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Companion } from "../../src/domain/companion.ts";
import { type Message, textParts } from "../../src/domain/conversation.ts";
import { toVerifiedId, visitorFactsOf } from "../../src/domain/visitor.ts";
import { openPostgresStore } from "../../src/engines/postgres/open.ts";
import * as serverTables from "../../src/engines/postgres/schema/servers.ts";
import { tables } from "../../src/engines/postgres/tables.ts";
import { copyStore, type StoreLocation } from "../../src/engines/store-copy/copy.ts";
import { copiedTables, leftOut } from "../../src/engines/store-copy/tables.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { testContext } from "../support/app.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { type CopyPlaces, makeCopyPlaces, makeOddStore, openDatabase, readStore } from "../support/copy-world.ts";
import { isFull } from "../support/full.ts";
import { readLines } from "../support/line-process.ts";
import { queryRows } from "../support/postgres-databases.ts";
import { createRandom } from "../support/random.ts";
import { openStoreAt } from "../support/sqlite-store.ts";
import { newApiKey, newCompanion, openWorld } from "../support/store-world.ts";

let places: CopyPlaces;
let directory: CopyPlaces["directory"];
let source: CopyPlaces["source"];
let url: CopyPlaces["url"];
let sqlite: CopyPlaces["sqlite"];
let postgres: CopyPlaces["postgres"];
let back: string;
let sqliteBack: StoreLocation;
beforeEach(async () => {
  places = await makeCopyPlaces();
  ({ directory, source, url, sqlite, postgres } = places);
  back = directory.file("back");
  sqliteBack = { engine: "sqlite", dataDir: back };
});
afterEach(() => places.remove());

test("every table and column of both engines is copied, or left out for a reason", async () => {
  await makeOddStore(source, { rows: 1 });
  const database = openDatabase(source);
  const select =
    "SELECT m.name AS \"table\", c.name AS column FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'";
  const stored = database.query<{ table: string; column: string }, []>(select).all();
  database.close();
  const designed = Object.values({ ...tables, ...serverTables })
    .map((table) => getTableConfig(table as unknown as PgTable))
    .flatMap(({ name, columns }) => columns.map((column) => ({ table: name, column: column.name })));
  const copied = copiedTables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)).sort();
  const wanted = (all: { table: string; column: string }[]) =>
    all
      .filter(({ table }) => !(table in leftOut) && !table.startsWith("sqlite_"))
      .map((one) => `${one.table}.${one.column}`);
  expect(wanted(stored).sort()).toEqual(copied);
  expect(wanted(designed).sort()).toEqual(copied);
});

test("odd rows in all tables are the same after the way to PostgreSQL and back, and the source is unchanged", async () => {
  await makeOddStore(source);
  const before = readStore(source);
  // Pages of different sizes: the last one is full, or short.
  const there = await copyStore({ from: sqlite, to: postgres, maxRows: 7 });
  const again = await copyStore({ from: postgres, to: sqliteBack });
  expect(readStore(back)).toEqual(before);
  expect(readStore(source)).toEqual(before);
  expect(again.tables).toEqual(there.tables);
  expect(there.tables.map(({ table }) => table)).toEqual(copiedTables.map(({ name }) => name));
  expect(there.tables.every(({ rows, replaced }) => rows > 40 && replaced === 0)).toBe(true);
  expect(existsSync(join(back, "unfinished-copy"))).toBe(false);
  expect(await queryRows(url, "SELECT copy_from, to_regclass('companiond_copy') FROM companiond")).toEqual([
    { copy_from: null, to_regclass: null },
  ]);
});

test("what a killed server left in SQLite's log is copied too", async () => {
  await makeOddStore(source, { rows: 3 });
  const running = openDatabase(source, false);
  running.run("INSERT INTO server_secrets VALUES ('only in the log', 'x')");
  cpSync(source, directory.file("killed"), { recursive: true });
  running.close();
  await copyStore({ from: { engine: "sqlite", dataDir: directory.file("killed") }, to: postgres });
  const select = "SELECT sealed FROM server_secrets WHERE name = 'only in the log'";
  expect(await queryRows<{ sealed: string }>(url, select)).toEqual([{ sealed: "x" }]);
});

test("an empty store is copied too", async () => {
  await (await openStoreAt(source)).close();
  await copyStore({ from: sqlite, to: postgres });
  await copyStore({ from: postgres, to: sqliteBack });
  expect(readStore(back)).toEqual(readStore(source));
});

test("what nouns have written is found by the nouns of the other engine, and new rows get new numbers", async () => {
  const world = await openWorld(async () => {
    const store = await openStoreAt(source);
    return { store, arrivals: { mark: () => "", begin: () => () => {} } as never, close: () => store.close() };
  });
  const account = await world.createAccount();
  const values = [
    "pro",
    "\u0001",
    "\u0001x",
    "x".repeat(121),
    "\u0001".repeat(121),
    "é".repeat(120),
    "\u0001.b",
    `${"x".repeat(121)}.y`,
  ];
  const companions: Companion[] = [];
  for (const value of values)
    companions.push(await world.createCompanion(account, { metadata: { value, [value]: 1 } }));
  const key = await world.store.apiKeys.create(account.id, newApiKey(), world.context());
  const verifiedId = toVerifiedId("digest");
  const named = world.turnOf(companions[0] ?? expect.unreachable(), { messageId: "m1", endCode: "too_long" });
  const turn = { ...named, key: { ...named.key, visitorId: verifiedId }, visitor: { sealed: "s", isLimited: true } };
  await world.store.turns.settle(turn);
  const person = { id: "ada", name: "Ada", memberId: null, keyId: null };
  const written = { ...named.messages[1], id: "by-ada", parts: textParts("It is Ada.") } as Message;
  const ofPeople = { message: written, author: person, clientId: "u1", sealedVisitor: null };
  await world.store.handoffs.revise(
    {
      ...{
        conversation: { key: turn.key },
        newConversationId: null,
        clientId: null,
        clientIdOf: "person",
        arrivalMark: null,
      },
      decide: () => ({ fields: { state: "person", person, untilMs: 7 }, message: ofPeople }),
    },
    world.context(),
  );
  const ofKey = { id: "vk1", name: "Shop", algorithm: "EdDSA", sealed: "v1.x", createdAt: 5 } as const;
  const visitorKey = { ...ofKey, metadata: { "tenant.id": "7", a: null } };
  await world.store.visitorKeys.create(account.id, visitorKey, world.context());
  const last = await world.createCompanion(account);
  await world.store.companions.delete(account.id, last.id, world.context());
  const held = await world.store.accounts.findHeld(account.id);
  await world.close();

  await copyStore({ from: sqlite, to: postgres });
  const log = createCapturedLog();
  const { store } = await openPostgresStore({ url, pool: 2, poolHeavy: 2, log });
  const expectFound = async (opened: typeof store) => {
    for (const [at, value] of values.entries()) {
      const query = {
        metadata: [
          { path: "value", value },
          { path: value, value: "1" },
          { path: value, value: "1", isKey: true as const },
        ],
        q: null,
      };
      const { items } = await opened.companions.list(account.id, query, { limit: 5, afterId: null });
      expect(items.map(({ id }) => id)).toEqual([companions[at]?.id ?? ""]);
    }
    expect(await opened.accounts.findHeld(account.id)).toEqual(held);
    expect(await opened.turns.findExchange(turn.key, "m1")).toMatchObject({ question: "Hello", endCode: "too_long" });
    expect(await opened.turns.countVisitorDay(turn.key.companionId, verifiedId, turn.day)).toBe(1);
    const stored = await opened.conversations.find(account.id, turn.conversationId);
    expect(stored?.conversation).toMatchObject({ visitorId: verifiedId, sealedVisitor: "s" });
    expect(await opened.handoffs.find(turn.key)).toMatchObject({ state: "person", person, untilMs: 7, change: 1 });
    const { messages } = await opened.handoffs.listLive(turn.conversationId, 1, 5);
    expect(messages.map(({ seq, author }) => [seq, author])).toEqual([[2, null] as const, [3, person] as const]);
    const covered = { id: "c", metadata: { tenant: { id: 7 }, a: [null] } };
    expect(await opened.visitorKeys.findOnly(account.id, visitorFactsOf(covered))).toEqual(visitorKey);
    expect(await opened.apiKeys.findByHash(sha256(key.id))).toMatchObject({ keyId: key.id });
  };
  await expectFound(store);
  const numbers = () => queryRows(url, "SELECT max(number)::int AS number FROM companions");
  const added = newCompanion();
  await store.companions.create(account.id, added, testContext());
  // The deleted one's number is not given again.
  expect(await numbers()).toEqual([{ number: values.length + 2 }]);
  await store.companions.delete(account.id, added.id, testContext());
  await store.close();

  await copyStore({ from: postgres, to: sqliteBack });
  const returned = await openStoreAt(back);
  await expectFound(returned);
  await returned.companions.create(account.id, newCompanion(), testContext());
  await returned.close();
  const database = openDatabase(back);
  expect(database.query("SELECT max(number) FROM companions").values()).toEqual([[values.length + 3]]);
  database.close();
});

test("NUL in a text becomes U+FFFD in PostgreSQL, and is counted", async () => {
  await makeOddStore(source);
  const database = openDatabase(source, false);
  database.run("UPDATE messages SET text = ? WHERE number IN (3, 6, 9)", ["a\0b\0"]);
  database.run("UPDATE idempotency SET path = path || ?", ["\0"]);
  database.close();
  const { tables } = await copyStore({ from: sqlite, to: postgres, maxRows: 5 });
  const replaced = tables.filter((table) => table.replaced > 0).map((table) => [table.table, table.replaced]);
  expect(replaced).toEqual([
    ["idempotency", readStore(source)["idempotency"]?.length ?? 0],
    ["messages", 3],
  ]);
  expect(await queryRows(url, "SELECT DISTINCT text FROM messages WHERE number < 10")).toEqual([
    { text: "a\ufffdb\ufffd" },
  ]);
});

/** Runs the copy again and again, each time killed after some pages, until one run gets to the end. */
async function copyWithKills(from: StoreLocation, to: StoreLocation, seed: number): Promise<number> {
  const random = createRandom(seed);
  const script = join(import.meta.dir, "../support/copy-process.ts");
  for (let kills = 0; ; kills++) {
    const child = Bun.spawn([process.execPath, script, JSON.stringify({ from, to, maxRows: 4 })], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const complaint = new Response(child.stderr).text();
    // The check begins anew each time: in the end a run must have the time for it.
    let left = 20 + random.below((100 + 60 * kills) * (isFull ? 1 : 4));
    let isDone = false;
    for await (const line of readLines(child.stdout)) {
      isDone ||= line === "done";
      if (--left === 0) child.kill("SIGKILL");
    }
    await child.exited;
    if (isDone || child.exitCode === 0) return kills;
    // The run before was killed when all was copied, and not yet moved into position.
    if ((await complaint).includes("An earlier run had copied everything")) return kills;
    expect([child.signalCode, await complaint]).toEqual(["SIGKILL", ""]);
  }
}

test("a copy that is killed again and again goes on where it was, both ways", async () => {
  await makeOddStore(source);
  expect(await copyWithKills(sqlite, postgres, 7)).toBeGreaterThan(isFull ? 3 : 1);
  expect(await copyWithKills(postgres, sqliteBack, 8)).toBeGreaterThan(isFull ? 3 : 1);
  expect(readStore(back)).toEqual(readStore(source));
}, 300_000);
