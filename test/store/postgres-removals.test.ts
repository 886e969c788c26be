/** What a deletion leaves is removed behind everything else, by any of the servers. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { openPostgresServers, type PostgresServers } from "../support/postgres-servers.ts";

let servers: PostgresServers;
let written: string[];
beforeEach(async () => {
  written = [];
  const onStatement = (text: string) => void (text.startsWith("DELETE FROM messages") && written.push(text));
  servers = await openPostgresServers({ observer: { onStatement } });
});
afterEach(() => servers.close());

const count = async (from: string): Promise<number> =>
  (await servers.sql.unsafe(`SELECT count(*)::int AS count FROM ${from}`))[0].count;

/** Adds to the table itself, since so much would take long otherwise. */
async function addMessages(conversationId: string, messages: number): Promise<void> {
  await servers.sql`INSERT INTO messages (conversation_number, id, role, channel, complete, tokens_estimated, created_at, text, seq)
    SELECT c.number, 'm' || at, 'user', 'text', true, false, at, 'word ' || at, at
    FROM conversations c, generate_series(1, ${messages}) AS at WHERE c.id = ${conversationId}`;
}

test("an account's remains are gone after a while, in commits of bounded size, and only its own", async () => {
  const { worlds, account, companion, sql } = servers;
  const [here, there] = worlds;
  const other = await here.createAccount();
  const kept = await here.createCompanion(other, { metadata: { plan: "pro" } });
  await here.store.turns.settle(here.turnOf(kept));
  for (let at = 0; at < 45; at++) await here.createCompanion(account, { metadata: { plan: `plan ${at}` } });
  const turn = here.turnOf(companion);
  await here.store.turns.settle(turn);
  await addMessages(turn.conversationId, 3_500);
  const others = Array.from({ length: 150 }, () =>
    here.turnOf(companion, { key: { ...turn.key, sessionId: systemIds.randomUuid() } }),
  );
  await Promise.all(others.map((each) => here.store.turns.settle(each)));
  await there.store.accounts.delete(account.id, there.context());

  await eventually(async () => (await count("removals")) === 0, { what: "all removals" });
  expect(await count("companions")).toBe(1);
  expect(await count("messages")).toBe(2);
  for (const table of ["conversations", "quota_daily", "embed_tokens", "companion_metadata"]) {
    expect(await count(table)).toBe(1);
  }
  expect(await count("usage_daily")).toBe(2);
  expect(written.length).toBeGreaterThan(4);
  const [holdings] = await sql`SELECT count(*)::int AS count FROM account_holdings WHERE account_id = ${account.id}`;
  expect(holdings).toEqual({ count: 0 });
});

test("what a server left is removed by the next one that starts, and two share the work", async () => {
  const { worlds, account, companion } = servers;
  const [here, there] = worlds;
  const turns = Array.from({ length: 30 }, () => here.turnOf(companion));
  await Promise.all(turns.map((turn) => here.store.turns.settle(turn)));
  // As if both had ended: nobody removes.
  await Promise.all(worlds.map(({ opened }) => opened.parts.removals.stop()));
  for (const { conversationId } of turns) {
    await here.store.conversations.delete(account.id, conversationId, here.context());
  }
  await addMessages(turns[0]?.conversationId ?? "", 10);
  expect(await count("removals")).toBe(30);
  expect(await count("messages")).toBe(60);

  const { createRemovals } = await import("../../src/engines/postgres/removals.ts");
  const started = [here, there].map(({ opened: { engine, parts } }) => createRemovals(engine, parts));
  for (const removals of started) removals.start();
  await eventually(async () => (await count("removals")) === 0, { what: "all removals" });
  await Promise.all(started.map((removals) => removals.stop()));
  expect(await count("messages")).toBe(0);
});

test("an erasure ends when all text that was deleted before is gone, whoever removes it", async () => {
  const { worlds, account, companion, sql } = servers;
  const [here] = worlds;
  const visitorId = systemIds.randomUuid();
  const turn = here.turnOf(companion, {
    key: { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId },
  });
  await here.store.turns.settle(turn);
  await addMessages(turn.conversationId, 2_500);
  await Promise.all(worlds.map(({ opened }) => opened.parts.removals.stop()));
  await here.store.conversations.delete(account.id, turn.conversationId, here.context());
  // Another server is at it just now.
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM removals FOR UPDATE`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const erasing = here.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], here.context());
  const isWaiting = async () =>
    (await count("pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%removals%'")) > 0;
  await eventually(isWaiting, { what: "the erasure to wait" });
  held.resolve();
  await holding;
  expect(await erasing).toBe(true);
  expect(await count("messages")).toBe(0);
});
