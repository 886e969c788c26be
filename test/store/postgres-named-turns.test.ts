/** Turns that clients have named, and visitors with a day of their own, at several servers of one PostgreSQL database. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import type { TurnEntry, TurnTicket } from "../../src/contracts/coordination.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { openPostgresInstance, type PostgresInstance } from "../support/postgres-instance.ts";
import { reuseDatabases } from "../support/postgres-store.ts";
import { openWorld } from "../support/store-world.ts";
import { turnEntry } from "../support/turn-entry.ts";

const stays = new AbortController().signal;
const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

let database: { url: string; drop(): Promise<void> };
let one: PostgresInstance;
let other: PostgresInstance;
beforeEach(async () => {
  database = await databases.make();
  [one, other] = await Promise.all([openPostgresInstance(database.url), openPostgresInstance(database.url)]);
});
afterEach(async () => {
  await Promise.all([one.close(), other.close()]);
  await database.drop();
});

const named = turnEntry({ queueKey: "k", messageId: "m-1" });
const visitor = { id: toVerifiedId("digest"), messagesPerDay: 7 };

async function enter({ coordination }: PostgresInstance, entry: TurnEntry): Promise<TurnTicket> {
  const verdict = await inTime(coordination.turns.enter(entry, stays), { what: "a turn" });
  if (!verdict.isAdmitted) throw new Error(verdict.reason);
  return verdict;
}

const find = ({ coordination }: PostgresInstance, messageId = "m-1") =>
  coordination.turns.findElsewhere("k", messageId);
const countTickets = async () =>
  (await one.engine.quick.get<{ count: number }>("SELECT count(*)::int AS count FROM open_turns"))?.count;

/** Ends the session by which others know this server. */
async function endSession({ engine, coordination }: PostgresInstance, number: number): Promise<void> {
  expect(coordination.turns.waitingCount).toBe(0);
  await engine.heavy.all(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objsubid = 2 AND objid = $1::bigint AND pid <> pg_backend_pid()`,
    [number],
  );
}

test("a running or waiting turn is found at the server that has it, by the URL that it announced", async () => {
  await other.coordination.announce("http://192.0.2.1:3000");
  expect(await find(one)).toBeNull();
  const running = await enter(other, named);
  expect(await find(one)).toEqual({ url: "http://192.0.2.1:3000" });
  expect(await find(other)).toBeNull();
  expect(await find(one, "m-2")).toBeNull();
  expect(await one.coordination.turns.findElsewhere("another", "m-1")).toBeNull();

  const waiting = enter(one, { ...named, messageId: "m-2" });
  await eventually(async () => (await countTickets()) === 2);
  expect(await find(other, "m-2")).toEqual({ url: null });
  running.leave();
  (await waiting).leave();
  await eventually(async () => (await countTickets()) === 0);
  expect(await Promise.all([find(one), find(other, "m-2")])).toEqual([null, null]);
});

test("a turn is found nowhere from the commit on that settles it", async () => {
  const { store, parts } = one;
  const world = await openWorld(async () => ({ store, arrivals: parts.arrivals, close: async () => {} }));
  const companion = await world.createCompanion(await world.createAccount());
  const turn = world.turnOf(companion, { messageId: "m-1" });
  const ticket = await enter(one, { ...named, companionId: companion.id });
  expect(await find(other)).toEqual({ url: null });
  await store.turns.settle({ ...turn, day: ticket.day, ticketId: ticket.id });
  expect(await find(other)).toBeNull();
  expect(await other.store.turns.findExchange(turn.key, "m-1")).toMatchObject({ question: "Hello", isComplete: true });
});

test("of the same message at two servers at once, one runs", async () => {
  for (let round = 0; round < 20; round++) {
    const entry = { ...named, messageId: `m-${round}` };
    const verdicts = await Promise.all([one, other].map(({ coordination }) => coordination.turns.enter(entry, stays)));
    const reasons = verdicts.map((verdict) => (verdict.isAdmitted ? "runs" : verdict.reason));
    expect(reasons.sort()).toEqual(["runs", "runs_elsewhere"]);
    for (const verdict of verdicts) if (verdict.isAdmitted) verdict.leave();
  }
  await eventually(async () => (await countTickets()) === 0);
});

test("what a server has left of a message itself is waited for, and keeps the message from nobody", async () => {
  const left = await enter(one, named);
  const again = one.coordination.turns.enter(named, stays);
  await eventually(async () => (await countTickets()) === 2);
  left.leave();
  expect(await inTime(again, { what: "the same message" })).toMatchObject({ isAdmitted: true });
});

test("the same message that waits elsewhere is not let in either, and others of the conversation are", async () => {
  const running = await enter(one, { ...named, messageId: "m-0" });
  const waiting = enter(one, named);
  await eventually(async () => (await countTickets()) === 2);
  expect(await other.coordination.turns.enter(named, stays)).toEqual({ isAdmitted: false, reason: "runs_elsewhere" });
  const behind = enter(other, { ...named, messageId: "m-2" });
  running.leave();
  (await waiting).leave();
  (await behind).leave();
});

test("where a server is reached is told again with a session that replaces a lost one", async () => {
  const rows = await one.engine.quick.all<{ number: number }>(
    "SELECT number::float8 AS number FROM instances ORDER BY number",
  );
  const [first = 0, second = 0] = rows.map(({ number }) => number);
  const readUrls = async () =>
    (await one.engine.quick.all<{ url: string | null }>("SELECT url FROM instances ORDER BY url")).map(
      ({ url }) => url,
    );
  await Promise.all([one.coordination.announce("http://a"), other.coordination.announce("http://b")]);
  expect(await readUrls()).toEqual(["http://a", "http://b"]);
  await one.coordination.announce("http://a2");
  expect(await readUrls()).toEqual(["http://a2", "http://b"]);

  // As if the others had taken both for dead.
  await one.engine.quickPool.once.run("DELETE FROM instances");
  await Promise.all([first, second].map((number) => endSession(one, number)));
  await one.coordination.announce("http://a3");
  await eventually(async () => Bun.deepEquals(await readUrls(), ["http://a3", "http://b"]), { what: "both URLs" });
});

test("a visitor's own day is exact at all servers together, beside the companion's", async () => {
  const entry = turnEntry({ messagesPerDay: 30, visitor });
  const verdicts = await Promise.all(
    Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? one : other).coordination.turns.enter(entry, stays)),
  );
  const refused = verdicts.flatMap((verdict) => (verdict.isAdmitted ? [] : [verdict.reason]));
  expect(refused).toEqual(Array(33).fill("visitor_day_used_up"));
  const enterAs = (fields: Partial<TurnEntry>) => other.coordination.turns.enter({ ...entry, ...fields }, stays);
  const rest = await Promise.all(Array.from({ length: 30 }, () => enterAs({ visitor: null })));
  expect(rest.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(23);
  expect(await enterAs({})).toMatchObject({ reason: "day_used_up" });
  expect(await enterAs({ messagesPerDay: null })).toMatchObject({ isAdmitted: true });
});

test("a turn that waits is asked for its visitor's day when its time comes, and those behind it go on", async () => {
  const { store, parts } = one;
  const world = await openWorld(async () => ({ store, arrivals: parts.arrivals, close: async () => {} }));
  const companion = await world.createCompanion(await world.createAccount());
  const limited = turnEntry({
    companionId: companion.id,
    queueKey: "k",
    visitor: { ...visitor, messagesPerDay: 1 },
  });
  const running = await enter(one, { ...limited, messageId: "m-1" });
  const second = other.coordination.turns.enter({ ...limited, messageId: "m-2" }, stays);
  await eventually(async () => (await countTickets()) === 2);
  const again = other.coordination.turns.enter({ ...limited, messageId: "m-3", messagesPerDay: null }, stays);
  await eventually(async () => (await countTickets()) === 3);
  const key = { companionId: companion.id, sessionId: "s", visitorId: visitor.id };
  const kept = world.turnOf(companion, { key, visitor: { sealed: "x", isLimited: true }, messageId: "m-1" });
  await store.turns.settle({ ...kept, day: running.day, ticketId: running.id });
  running.leave();
  expect(await inTime(second, { what: "the second" })).toMatchObject({ reason: "visitor_day_used_up" });
  expect(await inTime(again, { what: "the one that runs again" })).toMatchObject({ isAdmitted: true });
  expect(await other.store.turns.countVisitorDay(companion.id, visitor.id, running.day)).toBe(1);
});

test("what ends early gives the visitor's message back", async () => {
  const entry = turnEntry({ visitor: { ...visitor, messagesPerDay: 1 } });
  for (const instance of [one, other, one]) {
    const ticket = await enter(instance, entry);
    expect(await instance.coordination.turns.enter(entry, stays)).toMatchObject({ reason: "visitor_day_used_up" });
    ticket.leave();
    await eventually(async () => (await countTickets()) === 0);
  }
});
