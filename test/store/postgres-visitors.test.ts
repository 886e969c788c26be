/** Verified visitors at several servers of one PostgreSQL database: what they take over, what is sealed, their days. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import type { ConversationAddition } from "../../src/engines/postgres/conversation-writer.ts";
import { settleTurns, toParameters } from "../../src/engines/postgres/settling.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { openPostgresServers, type PostgresServers } from "../support/postgres-servers.ts";
import { day } from "../support/store-world.ts";

let servers: PostgresServers;
beforeEach(async () => {
  servers = await openPostgresServers();
});
afterEach(() => servers.close());

const verified = { id: toVerifiedId("digest"), sealed: "sealed" };
const newKey = (visitorId: string | null = systemIds.randomUuid()) => ({
  companionId: servers.companion.id,
  sessionId: systemIds.randomUuid(),
  visitorId,
});

/** Texts by visitor. */
async function readTexts(sessionId: string): Promise<Record<string, string[]>> {
  const rows = await servers.sql`SELECT c.visitor_id, c.message_count::int AS count,
      array_agg(m.text ORDER BY m.number) AS texts
    FROM conversations c JOIN messages m ON m.conversation_number = c.number
    WHERE c.session_id = ${sessionId} GROUP BY 1, 2`;
  for (const { count, texts } of rows) expect(texts).toHaveLength(count);
  return Object.fromEntries(rows.map(({ visitor_id, texts }: Record<string, unknown>) => [visitor_id, texts]));
}

test("a conversation changes hands whole while turns of it are settled elsewhere", async () => {
  const [{ store }, elsewhere] = servers.worlds;
  const { companion } = servers;
  for (let round = 0; round < 15; round++) {
    const key = newKey(round % 3 === 0 ? null : undefined);
    await elsewhere.store.turns.settle(elsewhere.turnOf(companion, { key, said: "first" }));
    const turns = Array.from({ length: 5 }, (_, at) => elsewhere.turnOf(companion, { key, said: `number ${at}` }));
    const [isMerged] = await Promise.all([
      store.conversations.merge(key, verified),
      ...turns.map((turn) => elsewhere.store.turns.settle(turn)),
    ]);
    expect(isMerged).toBe(true);
    const texts = await readTexts(key.sessionId);
    const [own = [], late = []] = [texts[verified.id], texts[key.visitorId ?? ""]];
    expect(own.slice(0, 2)).toEqual(["first", "Hi there"]);
    expect([...own, ...late].filter((text) => text.startsWith("number")).sort()).toEqual(
      turns.map((_, at) => `number ${at}`),
    );
    expect(await store.conversations.merge(key, verified)).toBe(false);
  }
  expect(await servers.tally()).toMatchObject({ messages: 180, countedMessages: 180, deadlocks: 0 });
});

test("whoever makes the visitor's own conversation of a session first, there is one", async () => {
  const [here, elsewhere] = servers.worlds;
  for (let round = 0; round < 15; round++) {
    const key = newKey();
    const anonymous = here.turnOf(servers.companion, { key, said: "anonymous" });
    await here.store.turns.settle(anonymous);
    const own = elsewhere.turnOf(servers.companion, { key: { ...key, visitorId: verified.id }, said: "own" });
    const settle = async () => elsewhere.store.turns.settle(own);
    const merge = async () => here.store.conversations.merge(key, verified);
    const [isMerged] = await (round % 2 === 0
      ? Promise.all([merge(), settle()])
      : Promise.all([settle(), merge()]).then(([, isMerged]) => [isMerged] as const));
    const texts = await readTexts(key.sessionId);
    expect(texts[verified.id]?.filter((text) => text !== "Hi there")).toEqual(
      isMerged ? ["anonymous", "own"] : ["own"],
    );
    expect(texts[key.visitorId ?? ""]).toEqual(isMerged ? undefined : ["anonymous", "Hi there"]);
  }
  expect(await servers.tally()).toMatchObject({ deadlocks: 0 });
});

test("a transcript goes to the conversation that its session belongs to when it comes", async () => {
  const [{ store, turnOf, clock }, elsewhere] = servers.worlds;
  const { companion, account } = servers;
  for (let round = 0; round < 10; round++) {
    const key = newKey();
    await store.turns.settle(turnOf(companion, { key }));
    const providerConversationId = `call-${round}`;
    await store.voice.startSession({
      ...{ ...key, providerConversationId, ticketId: null, accountId: account.id, keyId: null, day },
      ...{ sealedVisitor: null, reservationId: null, createdAt: clock.nowMs() },
    });
    const spoken = {
      id: systemIds.uuid(),
      role: "user",
      text: "spoken",
      complete: true,
      createdAt: clock.nowMs(),
    } as const;
    const [isMerged, transcript] = await Promise.all([
      store.conversations.merge(key, verified),
      elsewhere.store.voice.addTranscript(providerConversationId, systemIds.uuid(), [spoken], null),
    ]);
    expect([isMerged, transcript.isAdded]).toEqual([true, true]);
    expect(await readTexts(key.sessionId)).toEqual({ [verified.id]: ["Hello", "Hi there", "spoken"] });
  }
  expect(await servers.tally()).toMatchObject({ deadlocks: 0 });
});

test("an erasure of several visitors and their changes of hands never wait for each other in a circle", async () => {
  const [here, elsewhere] = servers.worlds;
  const { companion, account } = servers;
  for (let round = 0; round < 15; round++) {
    const key = newKey();
    await here.store.turns.settle(here.turnOf(companion, { key }));
    const ids = [key.visitorId ?? "", verified.id];
    await Promise.all([
      elsewhere.store.conversations.merge(key, verified),
      here.store.conversations.eraseVisitors(
        account.id,
        companion.id,
        round % 2 === 0 ? ids : ids.toReversed(),
        here.context(),
      ),
    ]);
    expect(await readTexts(key.sessionId)).toEqual({});
  }
  expect(await servers.tally()).toMatchObject({ messages: 0, deadlocks: 0 });
});

test("of keys that are made at several servers at once, two are live", async () => {
  const { worlds, account, sql } = servers;
  const made = await Promise.allSettled(
    Array.from({ length: 12 }, (_, at) => {
      const { store, context } = worlds[at % 2 === 0 ? 0 : 1];
      const key = { id: `key-${at}`, name: "Site", algorithm: "HS256", metadata: null, sealed: "s" } as const;
      return store.visitorKeys.create(account.id, { ...key, createdAt: at }, context());
    }),
  );
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  const [{ store, context }, elsewhere] = worlds;
  const list = async () => (await elsewhere.store.visitorKeys.list(account.id, { limit: 9, afterId: null })).items;
  const [one, other] = await list();
  // Neither keeps what it has read: the next request knows.
  expect(await store.visitorKeys.revoke(account.id, one?.id ?? "", context())).toBe(true);
  expect(await list()).toEqual(other === undefined ? [] : [other]);
  expect(await store.visitorKeys.revoke(account.id, other?.id ?? "", context())).toBe(true);
  expect([...(await sql`SELECT id, sealed FROM visitor_keys`)]).toEqual([{ id: other?.id, sealed: null }]);
});

test("the days of many visitors that begin push out as many old ones, and none of a visitor who is counted just now", async () => {
  const [{ store, turnOf }, elsewhere] = servers.worlds;
  const settleDay = (on: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, at) => {
        const key = newKey(toVerifiedId(`digest-${at}`));
        const turn = turnOf(servers.companion, { key, day: on, visitor: { sealed: "s", isLimited: true } });
        return (at % 2 === 0 ? store : elsewhere.store).turns.settle(turn);
      }),
    );
  for (const on of ["2026-01-10", "2026-01-11", "2026-01-12", "2026-01-13"]) await settleDay(on, 60);
  const days = await servers.sql`SELECT day, count(*)::int AS count, sum(messages)::int AS messages FROM visitor_daily
    GROUP BY 1 ORDER BY 1`;
  expect(days.map(({ day: on }: { day: string }) => on)).toEqual(["2026-01-11", "2026-01-12", "2026-01-13"]);
  expect(days.at(-1)).toMatchObject({ count: 60, messages: 60 });
});

test("a batch that is sent again changes nothing, whatever it holds", async () => {
  const [{ turnOf, store, opened }] = servers.worlds;
  const { companion, sql } = servers;
  const messageId = systemIds.randomUuid();
  const key = newKey(verified.id);
  const limited = { sealed: "s", isLimited: true };
  await store.turns.settle(
    turnOf(companion, { key, visitor: limited, messageId, answered: null, endCode: "abandoned" }),
  );

  const turn = turnOf(companion, { key: newKey(verified.id), messageId });
  const [first, ...others] = turn.messages;
  if (first === undefined) throw new Error("there is no message");
  const { accountId, keyId, arrivalMark, conversationId } = turn;
  const usage = { accountId, companionId: companion.id, keyId, day, answeredBy: null, messages: 1 };
  const kept: ConversationAddition = {
    ...{ key: turn.key, conversationId, messages: [first, ...others], arrivalMark: String(arrivalMark) },
    ...{ sealedVisitor: "s", clientId: messageId, endCode: null },
  };
  const none = { failure: null, spent: null, ticketId: null, reported: null };
  const parameters = toParameters([
    {
      ...none,
      kept,
      again: null,
      usage,
      isCounted: true,
      limited: { key: turn.key, arrivalMark: kept.arrivalMark ?? "" },
    },
    {
      ...{ ...none, kept: null, again: { key, clientId: messageId, endCode: "cancelled" } },
      ...{ usage: { ...usage, messages: 0, inputTokens: 5 }, isCounted: false, limited: null },
    },
  ]);
  for (let time = 0; time < 3; time++) await opened.engine.quickPool.once.run(settleTurns, parameters);
  expect(await store.turns.countVisitorDay(companion.id, verified.id, day)).toBe(2);
  expect(await store.turns.findExchange(key, messageId)).toMatchObject({ reply: null, endCode: "cancelled" });
  expect(await store.turns.findExchange(turn.key, messageId)).toMatchObject({ reply: "Hi there", endCode: null });
  expect(await servers.tally()).toMatchObject({ messages: 3, countedMessages: 3, usage: 2, quota: 2 });
  const [{ tokens }] = await sql`SELECT sum(input_tokens)::int AS tokens FROM usage_daily`;
  expect(tokens).toBe(12);
});
