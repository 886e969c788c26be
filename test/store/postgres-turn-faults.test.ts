/** Connections and servers that are lost while turns are settled: nothing twice, and nothing acknowledged is lost. */
import { afterEach, expect, test } from "bun:test";
import type { SettledTurn } from "../../src/contracts/store/store.ts";
import { createOpenTickets } from "../../src/engines/postgres/open-tickets.ts";
import { createSettling } from "../../src/engines/postgres/settling.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { sharedPostgres, startPostgresServer } from "../support/postgres-server.ts";
import { openPostgresServers, type PostgresServers, settledTally } from "../support/postgres-servers.ts";

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.reverse()) await step();
  cleanUp = [];
});

async function openServers(options: Parameters<typeof openPostgresServers>[0] = {}): Promise<PostgresServers> {
  const servers = await openPostgresServers(options);
  cleanUp.push(() => servers.close());
  return servers;
}

async function openBehindProxy(): Promise<PostgresServers & { proxy: FaultProxy }> {
  const { port } = new URL((await sharedPostgres()).url("any"));
  const proxy = await startFaultProxy(Number(port));
  cleanUp.push(async () => await proxy[Symbol.asyncDispose]());
  const servers = await openServers({ reachAt: (url) => url.replace(`:${port}/`, `:${proxy.port}/`) });
  return { ...servers, proxy };
}

function turnsOf({ worlds, companion }: PostgresServers, count: number, server: 0 | 1 = 0): SettledTurn[] {
  const key = () => ({
    companionId: companion.id,
    sessionId: systemIds.randomUuid(),
    visitorId: systemIds.randomUuid(),
  });
  return Array.from({ length: count }, () => worlds[server].turnOf(companion, { key: key() }));
}

const settling = "query LIKE '%settle_turns%' AND datname = current_database() AND pid <> pg_backend_pid()";

const turnsBetween = 40;

/**
 * Settles at both servers, and disturbs that each time some turns were settled; returns how many there were. `disturb`
 * resolves with false if there was nothing to disturb at that moment, and is called again.
 */
async function settleUnder(servers: PostgresServers, disturb: () => Promise<boolean>): Promise<number> {
  let settled = 0;
  let isDone = false;
  const disturbing = (async () => {
    for (let next = turnsBetween; !isDone; next += turnsBetween) {
      await eventually(() => settled >= next || isDone, { what: `${next} settled turns`, everyMs: 1 });
      // At any point of the batches under way.
      await Bun.sleep(Math.random() * 6);
      while (!isDone && !(await disturb()));
    }
  })();
  const visitors = Array.from({ length: 24 }, async (_, at) => {
    const server = at % 2 === 0 ? 0 : 1;
    for (const turn of turnsOf(servers, 40, server)) {
      await servers.worlds[server].store.turns.settle(turn);
      settled++;
    }
  });
  await Promise.all(visitors).finally(() => {
    isDone = true;
  });
  await disturbing;
  return settled;
}

test("backends that are ended while they settle", async () => {
  const servers = await openServers();
  let ended = 0;
  const settled = await settleUnder(servers, async () => {
    const rows = await servers.sql.unsafe(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND ${settling} LIMIT 1`,
    );
    ended += rows.length;
    return rows.length > 0;
  });
  expect(ended).toBeGreaterThan(0);
  expect(await servers.tally()).toEqual(settledTally(settled, settled));
});

test("connections that are cut while commits are under way", async () => {
  const servers = await openBehindProxy();
  const settled = await settleUnder(servers, async () => {
    servers.proxy.cut();
    return true;
  });
  expect(await servers.tally()).toEqual(settledTally(settled, settled));
});

test("a batch whose connection is lost is settled once, though PostgreSQL goes on with it", async () => {
  const servers = await openBehindProxy();
  const { sql, proxy, worlds, tally } = servers;
  const [first, ...others] = turnsOf(servers, 6) as [SettledTurn, ...SettledTurn[]];
  await worlds[0].store.turns.settle(first);
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM usage_account_daily FOR UPDATE`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const results = Promise.all(others.map((turn) => worlds[0].store.turns.settle(turn)));
  const countWaiting = async () =>
    (
      await sql.unsafe(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND ${settling}`,
      )
    )[0].count;
  await eventually(async () => (await countWaiting()) === 1, { what: "the batch to wait" });
  proxy.cut();
  await eventually(async () => (await countWaiting()) === 2, { what: "the same batch to be sent again" });
  held.resolve();
  await holding;
  await results;
  expect(await tally()).toEqual(settledTally(6, 6));
});

test("a PostgreSQL server that crashes, and comes back", async () => {
  // As careless as a server can be: what a commit leaves to it is lost.
  const careless = { synchronous_commit: "off", wal_writer_delay: "10000" };
  await using postgres = await startPostgresServer({ settings: careless });
  const attempts: string[] = [];
  const servers = await openPostgresServers({
    createDatabase: async () => ({ ...(await postgres.createDatabase()), drop: async () => {} }),
    observer: { onStatement: (text) => void (text.includes("settle_turns") && attempts.push(text)) },
  });
  const [{ store, opened }] = servers.worlds;
  let acknowledged = 0;
  const before = turnsOf(servers, 300).map((turn) => store.turns.settle(turn).then(() => acknowledged++));
  await eventually(() => acknowledged > 0, { everyMs: 1 });
  await postgres.crash();
  const meanwhile = turnsOf(servers, 50).map((turn) => store.turns.settle(turn));
  const seen = attempts.length;
  await eventually(() => attempts.length > seen + 3, { what: "further attempts" });

  const impatient = createSettling(opened.engine, createOpenTickets(), { ring() {} }, 0);
  const { accountId, key, day, keyId } = turnsOf(servers, 1)[0] as SettledTurn;
  const usage = { accountId, companionId: key.companionId, keyId, day, answeredBy: null, errors: 1 };
  const nothing = {
    kept: null,
    again: null,
    failure: null,
    spent: null,
    isCounted: false,
    limited: null,
    ticketId: null,
    reported: null,
  };
  await expect(impatient.add({ ...nothing, usage })).rejects.toMatchObject({ code: "unavailable" });

  await postgres.start();
  await Promise.all([...before, ...meanwhile]);
  await servers.sql.close();
  const again = await openPostgresServersTally(servers);
  expect(again).toMatchObject({ messages: 700, countedMessages: 700, usage: 350, quota: 350 });
  await Promise.all(servers.worlds.map((world) => world.close()));
});

/** On the store's own connections: the other one was lost with the server. */
async function openPostgresServersTally({ worlds }: PostgresServers) {
  return await worlds[1].opened.engine.heavy.get(`SELECT (SELECT count(*)::int FROM messages) AS messages,
    (SELECT sum(message_count)::int FROM conversations) AS "countedMessages",
    (SELECT sum(messages)::int FROM usage_daily) AS usage, (SELECT sum(messages)::int FROM quota_daily) AS quota`);
}

test("a turn that waits for a lock holds up nobody else", async () => {
  const servers = await openServers();
  const [{ store }] = servers.worlds;
  const [held, ...others] = turnsOf(servers, 5) as [SettledTurn, ...SettledTurn[]];
  const lock = `visitor ${held.key.companionId} ${held.key.visitorId}`;
  const holder = await servers.sql.reserve();
  await holder`SELECT pg_advisory_lock(hashtextextended(${lock}, 0))`;
  let isSettled = false;
  const waiting = store.turns.settle(held).then(() => {
    isSettled = true;
  });
  await Promise.all(others.map((turn) => store.turns.settle(turn)));
  expect(isSettled).toBe(false);
  await holder`SELECT pg_advisory_unlock_all()`;
  holder.release();
  await waiting;
  expect(await servers.tally()).toEqual(settledTally(5, 5));
});
