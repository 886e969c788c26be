/** What is erased at one server stays erased, whatever another one is settling meanwhile. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import type { SettledTurn } from "../../src/contracts/store/store.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { openPostgresServers, type PostgresServers } from "../support/postgres-servers.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";

let servers: PostgresServers;
beforeEach(async () => {
  servers = await openPostgresServers();
});
afterEach(() => servers.close());

const newKey = () => ({
  companionId: servers.companion.id,
  sessionId: systemIds.randomUuid(),
  visitorId: systemIds.randomUuid(),
});

async function countMessages(ids: readonly string[]): Promise<number> {
  const [row] =
    await servers.sql`SELECT count(*)::int AS count FROM messages WHERE id = ANY(${servers.sql.array([...ids], "TEXT")})`;
  return row.count;
}

const idsOf = (turns: readonly SettledTurn[]) => turns.flatMap(({ messages }) => messages.map(({ id }) => id));
/** Some turns of the event loop, so that what races begins at another point each time. */
async function wait(turns: number): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise((resolve) => setImmediate(resolve));
}

test("of a visitor, or of a conversation, leave nothing of what arrived before them and settles meanwhile", async () => {
  const { worlds, account, companion } = servers;
  const [here, there] = worlds;
  for (let round = 0; round < 200; round++) {
    const key = newKey();
    await here.renewMark();
    const first = here.turnOf(companion, { key });
    const underWay = Array.from({ length: 3 }, () => here.turnOf(companion, { key }));
    const late = here.turnOf(companion, { key });
    const isOfVisitor = round % 2 === 0;
    if (!isOfVisitor) await here.store.turns.settle(first);
    const erase = () =>
      isOfVisitor
        ? there.store.conversations.eraseVisitors(account.id, companion.id, [key.visitorId], there.context())
        : there.store.conversations.delete(account.id, first.conversationId, there.context());
    const settleAll = underWay.map(async (turn, at) => {
      await wait(((round * 7) % 23) + at * 9);
      await here.store.turns.settle(turn);
    });
    const [isErased] = await Promise.all([wait((round * 5) % 17).then(erase), ...settleAll]);
    expect(isErased).toBe(true);
    await here.store.turns.settle(late);
    expect(await here.store.turns.listHistory(key, 10_000)).toEqual([]);

    await Promise.all([here.renewMark(), there.renewMark()]);
    const [next, other] = [here, there].map((world) => world.turnOf(companion, { key })) as [SettledTurn, SettledTurn];
    await Promise.all([here.store.turns.settle(next), there.store.turns.settle(other)]);
    expect(await here.store.turns.listHistory(key, 10_000)).toHaveLength(4);
    // Of a deleted conversation the messages go behind it.
    if (isOfVisitor) expect(await countMessages(idsOf([...underWay, late]))).toBe(0);
  }
});

test("leave what arrives next at their own server, without another request in between", async () => {
  const { worlds, account, companion } = servers;
  const [{ store, turnOf, context }] = worlds;
  const key = newKey();
  await store.conversations.eraseVisitors(account.id, companion.id, [key.visitorId], context());
  await store.turns.settle(turnOf(companion, { key }));
  expect(await store.turns.listHistory(key, 1000)).toHaveLength(2);
});

test("cover what arrived at a time that nobody knows", async () => {
  const { worlds, companion, tally } = servers;
  const [{ store, turnOf }] = worlds;
  const marks = ["", "1", "7:5:", "5:7:6,5", "5:7:9", "5:7:x", "0:5:", "5:7:6,", "99999999999999999999:5:", 7];
  for (const arrivalMark of marks) await store.turns.settle({ ...turnOf(companion, { key: newKey() }), arrivalMark });
  expect(await tally()).toMatchObject({ messages: 0, usage: marks.length, quota: marks.length });
});

test("that are forgotten still cover what arrived before them, and nothing else", async () => {
  const { worlds, account, companion, sql, tally } = servers;
  const [{ store, turnOf, context, opened, renewMark }] = worlds;
  const [old, other] = [turnOf(companion, { key: newKey() }), turnOf(companion, { key: newKey() })];
  const { erasures } = opened.parts;
  for (const turn of [old, turnOf(companion, { key: newKey() })]) {
    await store.conversations.eraseVisitors(account.id, companion.id, [turn.key.visitorId ?? ""], context());
  }
  await erasures.forgetOld();
  expect([...(await sql`SELECT companion_id FROM erasures`)]).toHaveLength(2);
  for (let times = 0; times < 2; times++) {
    await sql`UPDATE erasures SET erased_at = 0`;
    await sql`UPDATE settled_batches SET settled_at = 0`;
    await erasures.forgetOld();
    expect([...(await sql`SELECT companion_id FROM erasures`)]).toEqual([{ companion_id: "" }]);
    expect([...(await sql`SELECT id FROM settled_batches`)]).toEqual([]);
    await store.turns.settle(old);
    await store.turns.settle(other);
    expect(await tally()).toMatchObject({ messages: 0 });
  }
  await renewMark();
  await store.turns.settle(turnOf(companion, { key: old.key }));
  expect(await tally()).toMatchObject({ messages: 2 });
});

test("of another server's numbers, whose dump was restored here, say nothing", async () => {
  const { worlds, companion, sql } = servers;
  const [{ store, turnOf }] = worlds;
  const key = newKey();
  await sql`INSERT INTO erasures (companion_id, visitor_id, transaction) VALUES ('', '', '900000000'),
    (${key.companionId}, ${key.visitorId}, '900000001')`;
  await store.turns.settle(turnOf(companion, { key }));
  expect(await store.turns.listHistory(key, 1000)).toHaveLength(2);
});

test("of a whole companion leave nothing of what settles meanwhile", async () => {
  const { worlds, account, sql } = servers;
  const [here, there] = worlds;
  for (let round = 0; round < 40; round++) {
    const companion = await here.createCompanion(account);
    const turns = Array.from({ length: 12 }, () =>
      here.turnOf(companion, { key: { ...newKey(), companionId: companion.id } }),
    );
    const settled = turns.map(async (turn, at) => {
      await wait(at + (round % 13));
      await here.store.turns.settle(turn);
    });
    const deleting = wait((round * 3) % 11).then(() =>
      there.store.companions.delete(account.id, companion.id, there.context()),
    );
    await Promise.all([deleting, ...settled]);
  }
  const count = async (table: string) => (await sql.unsafe(`SELECT count(*)::int AS count FROM ${table}`))[0].count;
  await eventually(async () => (await count("removals")) === 0, { what: "all removals" });
  for (const table of ["messages", "conversations", "quota_daily"]) expect(await count(table)).toBe(0);
  expect(await count("usage_daily")).toBe(40);
});

test("are seen by who waited for them, whatever isolation the database has by default", async () => {
  const isolated = await openPostgresServers({
    async createDatabase() {
      const database = await createMigratedDatabase();
      await using sql = new SQL(database.url, { max: 1 });
      const [row] = await sql`SELECT current_database() AS name`;
      await sql.unsafe(`ALTER DATABASE ${row.name} SET default_transaction_isolation = 'serializable'`);
      return database;
    },
  });
  const { engine } = isolated.worlds[0].opened;
  for (const queries of [engine.quick, engine.heavy, engine.quickPool.once]) {
    expect(await queries.get("SHOW transaction_isolation")).toEqual({ transaction_isolation: "read committed" });
  }
  const isolation = await engine.write((transaction) => transaction.get("SHOW transaction_isolation"));
  expect(isolation).toEqual({ transaction_isolation: "read committed" });
  await isolated.close();
});
