/** A server of the version before beside one of this version: what it calls of the database still does what it did. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { migrations, oldestReader } from "../../src/store/postgres/migrations.ts";
import { migratePostgres } from "../../src/store/postgres/migrator.ts";
import { createEngine } from "../../src/store/postgres/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { openPostgresInstance, type PostgresInstance } from "../support/postgres-instance.ts";
import { sharedPostgres } from "../support/postgres-server.ts";
import { reuseDatabases } from "../support/postgres-store.ts";
import { day, openWorld, type StoreWorld } from "../support/store-world.ts";
import { turnEntry } from "../support/turn-entry.ts";

const stays = new AbortController().signal;
const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

let database: { url: string; drop(): Promise<void> };
let serverBefore: SQL;
let now: PostgresInstance;
let world: StoreWorld;
let companionId: string;
let accountId: string;
beforeEach(async () => {
  database = await databases.make();
  serverBefore = new SQL(database.url, { max: 1 });
  await serverBefore`SELECT pg_advisory_lock(1668246896, ${before}::integer)`;
  now = await openPostgresInstance(database.url, { clock: createManualClock() });
  const { store, parts } = now;
  world = await openWorld(async () => ({ store, arrivals: parts.arrivals, close: async () => {} }));
  ({ id: companionId, accountId } = await world.createCompanion(await world.createAccount()));
});
afterEach(async () => {
  await Promise.all([now.close(), serverBefore.close()]);
  await database.drop();
});

const ask = <Row>(text: string, parameters: (string | number | null)[]) =>
  now.engine.quickPool.once.get<Row>(text, parameters);

/** The number of the server of the version before, which shows as every server does that it is alive. */
const before = 1_000_000;
const enterBefore = async (id: string, { perDay = 100, queueKey = "k" as string | null } = {}) =>
  (
    await ask<{ verdict: string }>(
      `SELECT enter_turn($1::text, $2::bigint, $3::text, 'message', $4::text, 3, $5::text, $6::bigint, '{}'::text[])
       AS verdict`,
      [id, before, companionId, queueKey, day, perDay],
    )
  )?.verdict;
const takeBefore = async (id: string, perDay = 100) =>
  (
    await ask<{ verdict: string }>("SELECT verdict FROM take_turn($1::text, $2::text, $3::text, $4::bigint)", [
      ...[id, companionId, day, perDay],
    ])
  )?.verdict;

/** As the version before settles one message and its reply. */
async function settleBefore(sessionId: string, ticketId: string): Promise<void> {
  const [conversation, question, reply] = [systemIds.uuid(), systemIds.uuid(), systemIds.uuid()];
  const atMs = world.clock.nowMs();
  await ask(
    `SELECT settle_turns('${systemIds.uuid()}', ARRAY[$1], ARRAY[$2], ARRAY[$3], ARRAY[''], ARRAY[NULL]::text[],
       ARRAY[2], ARRAY[$4::bigint], ARRAY[$4::bigint + 1], ARRAY[1, 1], ARRAY['${question}', '${reply}'],
       ARRAY['user', 'assistant'], ARRAY['text', 'text'], ARRAY[true, true], ARRAY[NULL, NULL]::bigint[],
       ARRAY[NULL, NULL]::bigint[], ARRAY[false, false], ARRAY[$4::bigint, $4::bigint + 1], ARRAY['Of before', 'Kept'],
       ARRAY[$5], ARRAY[$2], ARRAY[$6], ARRAY[''], ARRAY[1]::bigint[], ARRAY[0]::bigint[], ARRAY[1]::bigint[],
       ARRAY[1]::bigint[], ARRAY[0]::bigint[], ARRAY[0]::bigint[], '{}'::text[], '{}'::text[], '{}'::text[],
       '{}'::text[], ARRAY[$2], ARRAY[$6], ARRAY[1]::bigint[], ARRAY[0]::bigint[], ARRAY[$7])`,
    [conversation, companionId, sessionId, atMs, accountId, day, ticketId],
  );
}

test("a conversation's turns of both versions follow each other, and none is found by a name", async () => {
  const entry = turnEntry({ companionId, queueKey: "k", messageId: "m-1" });
  expect(await enterBefore("old-1")).toBe("run");
  const named = now.coordination.turns.enter(entry, stays);
  await eventually(() => now.coordination.turns.waitingCount === 1);
  await eventually(async () => (await ask("SELECT 1 FROM open_turns WHERE NOT is_running", [])) !== null);
  expect(await enterBefore("old-2")).toBe("wait");
  expect(await now.coordination.turns.findElsewhere("k", "m-1")).toBeNull();
  const key = { companionId, sessionId: systemIds.randomUuid(), visitorId: null };
  await settleBefore(key.sessionId, "old-1");
  const ticket = await inTime(named, { what: "the turn with a name" });
  expect(await takeBefore("old-2")).toBe("wait");
  if (!ticket.isAdmitted) throw new Error(ticket.reason);
  ticket.leave();
  await eventually(async () => (await takeBefore("old-2")) === "run");
  const texts = (await now.store.turns.listHistory(key, 1_000, "m-1")).map(textOf);
  expect(texts).toEqual(["Kept", "Of before"]);
  expect(await now.store.turns.findExchange(key, "m-1")).toBeNull();
});

test("both versions count the same of a day", async () => {
  const visitor = { id: toVerifiedId("digest"), messagesPerDay: 100 };
  const entry = turnEntry({ companionId, messagesPerDay: 3, visitor });
  const free = { queueKey: null, perDay: 3 };
  const again = await now.coordination.turns.enter({ ...entry, messagesPerDay: null }, stays);
  const counted = await now.coordination.turns.enter(entry, stays);
  expect([again.isAdmitted, counted.isAdmitted]).toEqual([true, true]);
  expect(await enterBefore("old-1", free)).toBe("run");
  await settleBefore(systemIds.randomUuid(), "old-1");
  expect(await enterBefore("old-2", free)).toBe("run");
  expect(await now.coordination.turns.enter(entry, stays)).toMatchObject({ reason: "day_used_up" });
  expect(await enterBefore("old-3", free)).toBe("day_used_up");
});

test("what one version has named stays named when the other adds to the conversation", async () => {
  const companion = { id: companionId, accountId } as Parameters<StoreWorld["turnOf"]>[0];
  const turn = world.turnOf(companion, { messageId: "m-1", visitor: { sealed: "sealed", isLimited: false } });
  await now.store.turns.settle(turn);
  await settleBefore(turn.key.sessionId, "none");
  expect(await now.store.turns.findExchange(turn.key, "m-1")).toMatchObject({ question: "Hello", reply: "Hi there" });
  const found = await now.store.conversations.find(accountId, turn.conversationId);
  expect(found?.conversation).toMatchObject({ messageCount: 4, sealedVisitor: "sealed" });
});

test("usage from before metadata was recorded keeps its sums, and goes by what companions are now", async () => {
  const databases = await sharedPostgres();
  const { name, url } = await databases.createDatabase();
  const engine = createEngine({ url, pool: 2, poolHeavy: 2, log: createCapturedLog() });
  await migratePostgres(engine.heavyPool, { migrations: migrations.slice(0, 5), readers: oldestReader });
  const add = (text: string) => engine.quickPool.once.run(text);
  await add("INSERT INTO accounts (id, email, plan, role, created_at) VALUES ('a', 'a@x.example', 'free', 'owner', 1)");
  await add(`INSERT INTO companions (id, account_id, enabled, name, name_folded, created_at, updated_at, allowed_origins,
      starters, metadata)
    SELECT id, 'a', true, 'Ada', 'ada', 1, 1, '[]', '[]', metadata
    FROM (VALUES ('c1', '{"plan":"pro"}'), ('c2', '{}'), ('c3', '{"plan":"pro"}')) AS c (id, metadata)`);
  for (const [table, day] of [
    ["usage_daily", "day"],
    ["usage_monthly", "left(day, 7)"],
  ] as const) {
    await add(`INSERT INTO ${table} SELECT 'a', id, ${day}, '', messages FROM (VALUES
      ('c1', '2026-01-15', 3), ('c2', '2026-01-15', 5), ('gone', '2026-01-16', 6)) AS u (id, day, messages)`);
  }
  await add(
    "INSERT INTO usage_account_daily SELECT account_id, day, key_id, sum(messages) FROM usage_daily GROUP BY 1, 2, 3",
  );
  await migratePostgres(engine.heavyPool);
  await engine.close();

  const server = await openPostgresInstance(url, { clock: createManualClock() });
  const all = { fromDay: "2026-01-02", toDay: "2026-02-28", groupBy: [], companionId: null, metadata: [] };
  const pro = { metadata: [{ path: "plan", value: "pro" }] };
  const { usage, companions } = server.store;
  expect(await usage.query("a", all)).toMatchObject([{ messages: 14, unpriced: 14 }]);
  expect(await usage.query("a", { ...all, ...pro })).toMatchObject([{ messages: 3 }]);
  await companions.update("a", "c1", { metadata: { plan: "free" } }, world.context());
  expect(await usage.query("a", { ...all, ...pro })).toMatchObject([{ messages: 3 }]);
  expect(await usage.query("a", { ...all, groupBy: ["companion", "metadata.plan"] })).toMatchObject([
    { companionId: "c1", metadata: { "metadata.plan": "pro" }, messages: 3 },
    { companionId: "c2", metadata: { "metadata.plan": null }, messages: 5 },
    { companionId: "gone", metadata: { "metadata.plan": null }, messages: 6 },
  ]);
  await server.close();
  await databases.dropDatabase(name);
});

test("what a server of the version before counts goes under the metadata of the moment, and has no price", async () => {
  await now.store.companions.update(accountId, companionId, { metadata: { plan: "pro" } }, world.context());
  await settleBefore(systemIds.uuid(), "none");
  const query = {
    fromDay: day,
    toDay: day,
    groupBy: [],
    companionId: null,
    metadata: [{ path: "plan", value: "pro" }],
  };
  expect(await now.store.usage.query(accountId, query)).toMatchObject([{ messages: 1, unpriced: 1 }]);
});

test("a migration waits for whoever reads a table, and nobody waits behind it", async () => {
  const databases = await sharedPostgres();
  const { name, url } = await databases.createDatabase();
  const engine = createEngine({ url, pool: 2, poolHeavy: 2, log: createCapturedLog() });
  await migratePostgres(engine.heavyPool, { migrations: migrations.slice(0, 3), readers: oldestReader });
  const read = Promise.withResolvers<void>();
  const isReading = Promise.withResolvers<void>();
  const reading = engine.write(async (transaction) => {
    await transaction.all("SELECT FROM messages");
    isReading.resolve();
    await read.promise;
  });
  await isReading.promise;
  const migrated = migratePostgres(engine.heavyPool);
  const isWaiting = async () =>
    (await engine.heavy.get("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'messages'::regclass")) !== null;
  await eventually(isWaiting, { what: "the migration to wait", everyMs: 5 });
  expect(await engine.quick.all("SELECT FROM messages")).toEqual([]);
  read.resolve();
  await reading;
  expect(await migrated).toEqual(migrations.slice(3).map((migration) => migration.name));
  await engine.close();
  await databases.dropDatabase(name);
});
