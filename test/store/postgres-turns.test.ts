/** Turns that several servers settle on one PostgreSQL database. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Companion } from "../../src/domain/companion.ts";
import { textOf, textParts } from "../../src/domain/conversation.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { openPostgresServers, type PostgresServers, settledTally } from "../support/postgres-servers.ts";

let servers: PostgresServers;
let statements: string[];

beforeEach(async () => {
  statements = [];
  servers = await openPostgresServers({ observer: { onStatement: (text) => void statements.push(text) } });
});
afterEach(() => servers.close());

const settleCount = () => statements.filter((text) => text.includes("settle_turns")).length;
const newKey = () => ({
  companionId: servers.companion.id,
  sessionId: systemIds.randomUuid(),
  visitorId: systemIds.randomUuid(),
});

/** Settles at all servers by turns, all at the same time. */
async function settleEverywhere(count: number, key: (at: number) => ReturnType<typeof newKey>): Promise<void> {
  const { worlds, companion } = servers;
  await Promise.all(
    Array.from({ length: count }, (_, at) => {
      const world = worlds[at % 2 === 0 ? 0 : 1];
      return world.store.turns.settle(world.turnOf(companion, { key: key(at), said: `number ${at}` }));
    }),
  );
}

test("of one conversation are counted exactly, in the order of each server", async () => {
  const { worlds, account, companion, tally } = servers;
  const key = newKey();
  await settleEverywhere(200, () => key);
  expect(await tally()).toEqual(settledTally(200, 1));
  const [{ store }] = worlds;
  const list = { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null };
  const { items } = await store.conversations.list(account.id, list, { limit: 1, afterId: null });
  const found = await store.conversations.find(account.id, items[0]?.id ?? "", { limit: 400, before: null });
  const texts = found?.messages.map(textOf) ?? [];
  for (let at = 0; at < texts.length; at += 2) expect(texts[at + 1]).toBe("Hi there");
  const numbers = texts.filter((text) => text.startsWith("number")).map((text) => Number(text.slice(7)));
  for (const server of [0, 1]) {
    const own = numbers.filter((number) => number % 2 === server);
    expect(own).toEqual(Array.from({ length: 100 }, (_, at) => 2 * at + server));
  }
});

test("of many conversations share statements, and the counters of their companion stay exact", async () => {
  await settleEverywhere(200, newKey);
  expect(await servers.tally()).toEqual(settledTally(200, 200));
  expect(settleCount()).toBeLessThanOrEqual(8);
});

test("of many companions never wait for each other in a circle", async () => {
  const { worlds, account, sql } = servers;
  const companions: Companion[] = [];
  for (let at = 0; at < 12; at++) companions.push(await worlds[0].createCompanion(account));
  for (let round = 0; round < 20; round++) {
    const settled = worlds.flatMap((world, server) =>
      companions.map((_, at) => {
        const companion = companions[(server === 0 ? at : companions.length - 1 - at) % companions.length];
        if (companion === undefined) throw new Error("there is no such companion");
        const key = { ...newKey(), companionId: companion.id };
        const failure = at % 3 === 0 ? ("broken_off" as const) : null;
        return world.store.turns.settle(world.turnOf(companion, { key, failure }));
      }),
    );
    await Promise.all(settled);
  }
  expect(await servers.tally()).toEqual(settledTally(480, 480));
  const [failed] = await sql`SELECT sum(replies)::int AS replies FROM failed_replies WHERE companion_id = ''`;
  expect(failed).toEqual({ replies: 160 });
});

test("one that cannot be stored is refused, and the others of its batch are kept", async () => {
  const { worlds, companion, tally } = servers;
  const [{ store, turnOf }] = worlds;
  const taken = turnOf(companion, { key: newKey() });
  await store.turns.settle(taken);
  const turns = Array.from({ length: 20 }, () => turnOf(companion, { key: newKey() }));
  const poisoned = { ...turnOf(companion, { key: newKey() }), conversationId: taken.conversationId };
  turns.splice(7, 0, poisoned);
  const results = await Promise.allSettled(turns.map((turn) => store.turns.settle(turn)));
  expect(results.map(({ status }) => status === "rejected")).toEqual(turns.map((turn) => turn === poisoned));
  expect(await tally()).toEqual(settledTally(21, 21));
});

test("keep any text, apart from NUL", async () => {
  const { worlds, companion } = servers;
  const [{ store, turnOf }] = worlds;
  const texts = ["a\0b", `{"quoted", \\ 'text'}`, "NULL", "null", "", "\ud83d\ude00 \u2028 \r\n\t", "{}", "a,b", "$1"];
  const turn = turnOf(companion, { key: newKey() });
  const [first] = turn.messages;
  if (first === undefined) throw new Error("there is no message");
  const messages = texts.map((text) => ({ ...first, id: systemIds.uuid(), parts: textParts(text) }));
  await store.turns.settle({ ...turn, messages });
  const history = await store.turns.listHistory(turn.key, 10_000);
  expect(history.map(textOf).reverse()).toEqual(["a\ufffdb", ...texts.slice(1)]);
});

test("end their tickets in the same commit, and it does not matter if one is gone", async () => {
  const { worlds, companion, sql } = servers;
  const [{ store, turnOf, opened }] = worlds;
  await sql`INSERT INTO open_turns (id, instance_number, companion_id, kind, is_running, day)
    VALUES ('held', 1, ${companion.id}, 'message', true, '2026-01-15'), ('other', 1, ${companion.id}, 'message', true, '2026-01-15')`;
  const { tickets } = opened.parts;
  for (const id of ["held", "gone", "other"]) tickets.hold(id);
  const settled = ["held", "gone"].map((ticketId) => ({ ...turnOf(companion, { key: newKey() }), ticketId }));
  await Promise.all(settled.map((turn) => store.turns.settle(turn)));
  expect([...(await sql`SELECT id FROM open_turns`)]).toEqual([{ id: "other" }]);
  expect(["held", "gone", "other"].map((id) => tickets.takeEnded(id))).toEqual([true, true, false]);
});

test("larger than a batch may be are settled in several", async () => {
  const { worlds, companion, tally } = servers;
  const [{ store, turnOf }] = worlds;
  const turns = Array.from({ length: 8 }, () => turnOf(companion, { key: newKey(), answered: "x".repeat(900_000) }));
  await Promise.all(turns.map((turn) => store.turns.settle(turn)));
  expect(await tally()).toEqual(settledTally(8, 8));
  expect(settleCount()).toBe(3);
});
