/** The base of the PostgreSQL engine: transactions, lookups, locks, lost connections. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { connect } from "../../src/engines/postgres/connection.ts";
import { createChangeOrder, type PostgresEngine } from "../../src/engines/postgres/engine.ts";
import { createEngine } from "../../src/engines/postgres/open.ts";
import { Pool } from "../../src/engines/postgres/pool.ts";
import { bindScripts } from "../../src/engines/postgres/scripts.ts";
import { transact } from "../../src/engines/postgres/transaction.ts";
import { insertAll } from "../../src/engines/store-shared/scripts/script.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { reuseDatabases } from "../support/postgres-store.ts";

let engine: PostgresEngine;
let statements: string[];
let database: { url: string; drop(): Promise<void> };

const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());
beforeEach(async () => {
  database = await databases.make();
  statements = [];
  const observer = { onStatement: (text: string) => void statements.push(text) };
  engine = createEngine({ url: database.url, pool: 4, poolHeavy: 2, log: createCapturedLog(), observer });
});
afterEach(async () => {
  await engine.close();
  await database.drop();
});

const addSecret = "INSERT INTO server_secrets (name, sealed) VALUES ($1, $2)";
const countSecrets = () => engine.quick.get<{ count: number }>("SELECT count(*)::int AS count FROM server_secrets");

test("what a transaction wrote is there when it resolves, and nothing of it when it fails", async () => {
  const result = await engine.write(async (transaction) => {
    await transaction.run(addSecret, ["a", "1"]);
    return "done";
  });
  expect(result).toBe("done");
  const failing = engine.write(async (transaction) => {
    await transaction.run(addSecret, ["b", "1"]);
    throw new AppError("limit_reached", "Too many.");
  });
  await expect(failing).rejects.toThrow("Too many.");
  expect(await countSecrets()).toEqual({ count: 1 });
});

test("changes of one account come one after the other, those of several beside each other", async () => {
  const order: string[] = [];
  const both = Promise.withResolvers<void>();
  let entered = 0;
  const change = (account: string, name: string) =>
    engine.change(account, async (transaction) => {
      order.push(`${name} in`);
      if (++entered === 2) both.resolve();
      await transaction.get("SELECT pg_sleep(0.01)");
      if (account !== "one") await both.promise;
      order.push(`${name} out`);
    });
  await Promise.all([change("one", "a"), change("other", "b")]);
  order.length = 0;
  await Promise.all([change("one", "a"), change("one", "b"), change("one", "c")]);
  for (let at = 0; at < order.length; at += 2) expect(order[at + 1]).toBe(String(order[at]).replace("in", "out"));
  expect(order).toHaveLength(6);
});

test("changes of one account come in the order of their calls, and those that wait hold no connection", async () => {
  const held = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const order: number[] = [];
  const changes = Array.from({ length: 20 }, (_, number) =>
    engine.change("one", async () => {
      order.push(number);
      entered.resolve();
      await held.promise;
    }),
  );
  await entered.promise;
  // With four connections, twenty waiting for a lock would leave none.
  const others = ["a", "b", "c"].map((account) => engine.change(account, async () => account));
  expect(await Promise.all(others)).toEqual(["a", "b", "c"]);
  held.resolve();
  await Promise.all(changes);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).toHaveLength(20);
});

test("a change whose turn does not come in time is unavailable, and the next one's turn comes", async () => {
  const inOrder = createChangeOrder(20);
  const held = Promise.withResolvers<void>();
  const first = inOrder("one", () => held.promise);
  let ran = false;
  const late = inOrder("one", async () => {
    ran = true;
  });
  await expect(late).rejects.toMatchObject({ code: "unavailable" });
  held.resolve();
  await first;
  expect(await inOrder("one", async () => "next")).toBe("next");
  expect(ran).toBe(false);
});

test("a change is unavailable at once where a thousand of its account wait", async () => {
  const inOrder = createChangeOrder();
  const held = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 1001 }, () => inOrder("one", () => held.promise));
  await expect(inOrder("one", async () => {})).rejects.toMatchObject({ code: "unavailable" });
  expect(await inOrder("other", async () => "beside")).toBe("beside");
  held.resolve();
  await Promise.all(waiting);
});

test("lookups of one turn of the loop are one query", async () => {
  await engine.write(async (transaction) => {
    for (const name of ["a", "b"]) await transaction.run(addSecret, [name, `sealed ${name}`]);
  });
  statements.length = 0;
  const find = engine.lookup<{ lookupKey: string; sealed: string }>(
    `SELECT name AS "lookupKey", sealed FROM server_secrets WHERE name = ANY($1::text[])`,
  );
  const found = await Promise.all(["a", "nobody", "b", "a"].map((name) => find(name)));
  expect(found.map((row) => row?.sealed ?? null)).toEqual(["sealed a", null, "sealed b", "sealed a"]);
  expect(statements).toHaveLength(1);
});

test("a transaction whose connection is ended before the commit runs again, and once", async () => {
  let runs = 0;
  await engine.write(async (transaction) => {
    runs++;
    await transaction.run(addSecret, [`run ${runs}`, "1"]);
    const row = await transaction.get<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    if (runs === 1) await engine.heavy.get("SELECT pg_terminate_backend($1::int)", [row?.pid ?? 0]);
  });
  expect(runs).toBe(2);
  expect(await countSecrets()).toEqual({ count: 1 });
});

test("a lock that is not free in time is unavailable, and its waiter holds nothing", async () => {
  const held = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const holding = engine.change("one", async () => {
    entered.resolve();
    await held.promise;
  });
  await entered.promise;
  await engine.quick.get("SELECT set_config('lock_timeout', '50', false)");
  const waiting = engine.write(async (transaction) => {
    await transaction.run("SET LOCAL lock_timeout = 50");
    await transaction.lock("account one");
  });
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  held.resolve();
  await holding;
  await engine.change("one", async () => {});
});

test("a server that is not there is unavailable", async () => {
  const nowhere = createEngine({ url: "postgres://127.0.0.1:1/x", pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await expect(nowhere.quick.get("SELECT 1")).rejects.toMatchObject({ code: "unavailable" });
  await expect(nowhere.write(async () => {})).rejects.toMatchObject({ code: "unavailable" });
  await nowhere.close();
});

test("waiting in vain for a free connection ends no transaction that others run", async () => {
  const pool = new Pool({
    connect: () => connect({ url: database.url, max: 1, statementMs: 5_000 }),
    deadlineMs: 1_000,
  });
  const connection = await pool.reserve();
  try {
    const waiting = pool.reserve();
    // Something is answered while it waits: the connection is busy, not lost.
    const ticking = setInterval(() => void pool.inTime(async () => await connection.send("SELECT 1")), 20);
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    clearInterval(ticking);
    const [row] = await connection.send("SELECT 2 AS two");
    expect(row).toEqual({ two: 2 });
  } finally {
    connection.release();
    await pool.close();
  }
});

test("a process that was not run for longer than the deadline does not take PostgreSQL for lost", async () => {
  const pool = new Pool({ connect: () => connect({ url: database.url, max: 1, statementMs: 5_000 }), deadlineMs: 400 });
  try {
    await pool.inTime(async () => await pool.reads.get("SELECT 1"), 60_000);
    const asked = pool.reads.get("SELECT 2 AS two FROM pg_sleep(0.2)");
    // The system runs this process no further until the deadline is long over; the answer arrives meanwhile.
    const stopping = Bun.spawn(["sh", "-c", `kill -STOP ${process.pid}; sleep 0.6; kill -CONT ${process.pid}`]);
    expect(await asked).toEqual({ two: 2 });
    expect(await stopping.exited).toBe(0);
    expect(pool.timeoutCount).toBe(0);
  } finally {
    await pool.close();
  }
});

test("many rows are one statement, however many they are and whatever is null in them", async () => {
  const scripts = bindScripts({ insertAll });
  const documentAt = (at: number) => ({
    edition: at,
    place: 0,
    title: "",
    contentHash: "",
    firstOrdinal: 0,
    chunks: 0,
  });
  const prepared = await engine.write(async (transaction) => {
    for (const isNull of [() => true, () => false, (at: number) => at % 2 === 0]) {
      const rows = Array.from({ length: isNull(0) ? 60 : 3 }, (_, at) => ({
        ...documentAt(at),
        url: isNull(at) ? null : "u",
      }));
      await scripts.insertAll(transaction, "knowledge_documents", rows);
      await transaction.run("DELETE FROM knowledge_documents");
    }
    return await transaction.get(
      "SELECT count(*)::int AS count FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'",
    );
  });
  expect(prepared).toEqual({ count: 1 });
});

test("a transaction whose time is up writes nothing any more, and its connection comes back clean", async () => {
  const pool = new Pool({
    connect: () => connect({ url: database.url, max: 2, statementMs: 5_000 }),
    deadlineMs: 1_000,
  });
  const slow = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  // Something is answered meanwhile, so the connections are not replaced.
  const ticking = setInterval(() => void pool.reads.get("SELECT 1"), 20);
  try {
    const writing = transact(pool, async (transaction) => {
      await transaction.run(addSecret, ["in time", "1"]);
      await slow.promise;
      late.resolve(await transaction.run(addSecret, ["too late", "1"]).catch((error: unknown) => error));
    });
    await expect(writing).rejects.toMatchObject({ code: "unavailable" });
    slow.resolve();
    expect(await late.promise).toMatchObject({ code: "unavailable" });
    clearInterval(ticking);
    const both = await Promise.all([pool.reserve(), pool.reserve()]);
    for (const connection of both) {
      const [row] = await connection.send('SELECT pg_current_xact_id_if_assigned() IS NULL AS "isClean"');
      expect(row).toEqual({ isClean: true });
      connection.release();
    }
    expect(await countSecrets()).toEqual({ count: 0 });
  } finally {
    clearInterval(ticking);
    await pool.close();
  }
});
