/** Servers that agree through PostgreSQL: the contract, and what several of them promise one another. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { TurnGate, TurnTicket } from "../../src/contracts/coordination.ts";
import { createSignInFailures } from "../../src/engines/memory/coordination/sign-in-failures.ts";
import type { Queries } from "../../src/engines/postgres/queries.ts";
import { testCoordinationContract } from "../contracts/coordination.ts";
import { testDutiesContract } from "../contracts/coordination-duties.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { startLineProcess } from "../support/line-process.ts";
import {
  type InstanceChoices,
  openPostgresInstance,
  type PostgresInstance,
  readProbe,
} from "../support/postgres-instance.ts";
import { reuseDatabases } from "../support/postgres-store.ts";
import { openWorld } from "../support/store-world.ts";
import { turnEntry } from "../support/turn-entry.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

const stays = new AbortController().signal;

const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

async function openAlone(choices: InstanceChoices) {
  const database = await databases.make();
  const instance = await openPostgresInstance(database.url, choices);
  async function close() {
    await instance.close();
    await database.drop();
  }
  return { instance, close };
}

async function keep({ quick }: { quick: Queries }, kind: string, companionId: string, day: string): Promise<void> {
  await quick.run(
    `INSERT INTO quota_daily AS q (companion_id, day, messages, voice_sessions)
     VALUES ($1, $2, ($3 = 'message')::int, ($3 = 'voice_session')::int)
     ON CONFLICT (companion_id, day) DO UPDATE SET messages = q.messages + excluded.messages,
       voice_sessions = q.voice_sessions + excluded.voice_sessions`,
    [companionId, day, kind],
  );
}

async function keepOwn({ quick }: { quick: Queries }, ...row: [companionId: string, visitorId: string, day: string]) {
  await quick.run(
    `INSERT INTO visitor_daily AS v (companion_id, visitor_id, day, messages) VALUES ($1, $2, $3, 1)
     ON CONFLICT (companion_id, day, visitor_id) DO UPDATE SET messages = v.messages + 1`,
    row,
  );
}

testCoordinationContract("PostgreSQL", async (clock) => {
  const { instance, close } = await openAlone({ clock });
  return {
    coordination: { ...instance.coordination, signInFailures: createSignInFailures(clock) },
    keep: (kind, companionId, day) => keep(instance.engine, kind, companionId, day),
    keepOwn: (...row) => keepOwn(instance.engine, ...row),
    close,
  };
});

testDutiesContract("PostgreSQL", async () => {
  const { instance, close } = await openAlone({});
  return { duties: instance.coordination.duties, close };
});

describe("servers that share a database", () => {
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

  const entry = turnEntry({ queueKey: "k", messagesPerDay: 1000 });

  async function enter({ coordination }: PostgresInstance, queueKey = "k"): Promise<TurnTicket> {
    const verdict = await inTime(coordination.turns.enter({ ...entry, queueKey }, stays), { what: "a turn" });
    if (!verdict.isAdmitted) throw new Error(verdict.reason);
    return verdict;
  }

  const countTickets = async () =>
    (await one.engine.quick.get<{ count: number }>("SELECT count(*)::int AS count FROM open_turns"))?.count ?? 0;

  /** Enters, and resolves when it has its place in the queue. */
  async function waitAt({ coordination }: PostgresInstance): Promise<{ ticket: ReturnType<TurnGate["enter"]> }> {
    const before = await countTickets();
    const ticket = coordination.turns.enter(entry, stays);
    await eventually(async () => (await countTickets()) > before);
    return { ticket };
  }

  async function leaveOnce(ticket: ReturnType<TurnGate["enter"]>): Promise<void> {
    const verdict = await inTime(ticket, { what: "the turn of the one that waits" });
    if (!verdict.isAdmitted) throw new Error(verdict.reason);
    verdict.leave();
  }

  const terminate = (which: string) =>
    one.engine.heavy.all(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
       AND pid <> pg_backend_pid() AND ${which}`,
    );

  test("let turns of one conversation in one after the other, in the order in which they came", async () => {
    const order: string[] = [];
    const first = await enter(one);
    const done: Promise<void>[] = [];
    for (const [name, instance] of [
      ["a", other],
      ["b", one],
      ["c", other],
    ] as const) {
      const { ticket } = await waitAt(instance);
      done.push(
        ticket.then(async (verdict) => {
          order.push(name);
          await turnsOfTheLoop(3);
          if (verdict.isAdmitted) verdict.leave();
        }),
      );
    }
    expect(await one.coordination.turns.enter(entry, stays)).toMatchObject({ reason: "queue_full" });
    expect(order).toEqual([]);
    first.leave();
    await inTime(Promise.all(done), { what: "everyone's turn" });
    expect(order).toEqual(["a", "b", "c"]);
    await eventually(async () => (await countTickets()) === 0);
  });

  test("admit exactly as many messages and voice sessions as are left of a day", async () => {
    const turns = Array.from({ length: 200 }, (_, at) =>
      (at % 2 === 0 ? one : other).coordination.turns.enter({ ...entry, queueKey: null, messagesPerDay: 37 }, stays),
    );
    const sessions = Array.from({ length: 200 }, (_, at) =>
      (at % 2 === 0 ? one : other).coordination.voiceSessions.reserve("c", 23),
    );
    expect((await Promise.all(turns)).filter((verdict) => verdict.isAdmitted)).toHaveLength(37);
    expect((await Promise.all(sessions)).filter((verdict) => verdict.isAdmitted)).toHaveLength(23);
  });

  test("let the next one in with the commit that keeps a turn, and count it once", async () => {
    const { store, parts } = one;
    const world = await openWorld(async () => ({ store, arrivals: parts.arrivals, close: async () => {} }));
    const companion = await world.createCompanion(await world.createAccount());
    const own = turnEntry({ companionId: companion.id, queueKey: "k", messagesPerDay: 2 });
    const running = await one.coordination.turns.enter(own, stays);
    if (!running.isAdmitted) throw new Error(running.reason);
    const waiting = other.coordination.turns.enter(own, stays);
    await eventually(async () => (await countTickets()) === 2);
    const { day, id } = running;
    await store.turns.settle({ ...world.turnOf(companion), day, ticketId: id });
    expect(await inTime(waiting, { what: "the next turn" })).toMatchObject({ isAdmitted: true });
    running.settle();
    running.leave();
    const free = { ...own, queueKey: null };
    expect(await one.coordination.turns.enter(free, stays)).toMatchObject({ reason: "day_used_up" });
    expect(await one.coordination.turns.enter({ ...free, messagesPerDay: 3 }, stays)).toMatchObject({ day });
    expect(await readProbe(one, "companiond_turn_batches_total")).toBe(1);
    expect(await readProbe(one, "companiond_turns_batched_total")).toBe(1);
  });

  test("let the next one in when a server is killed", async () => {
    const killed = startLineProcess("postgres-instance-process.ts", database.url, "k", "m-1");
    expect(await killed.readLine()).toBe("in");
    expect(await one.coordination.turns.findElsewhere("k", "m-1")).toEqual({ url: null });
    const { ticket } = await waitAt(other);
    const countLive = () => readProbe(one, "companiond_instances");
    await eventually(async () => (await countLive()) === 3);
    killed.kill("SIGKILL");
    await killed.exited;
    expect(await inTime(ticket, { what: "the next turn" })).toMatchObject({ isAdmitted: true });
    expect(await one.coordination.turns.findElsewhere("k", "m-1")).toBeNull();
    await eventually(async () => (await countLive()) === 2);
    const countReaped = async () => {
      const counts = await Promise.all([one, other].map((each) => readProbe(each, "companiond_tickets_reaped_total")));
      return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    };
    await eventually(async () => (await countReaped()) > 0);
    expect(await countReaped()).toBe(1);
    // Which it asks on its own: the figure above may be ahead of it.
    await eventually(async () => (await one.coordination.countOthers()) === 1);
  });

  test("keep what they hold when the session ends that shows that they are alive", async () => {
    const running = await enter(one);
    const { ticket } = await waitAt(other);
    const sessions = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid > 0";
    await terminate(`pid IN (${sessions})`);
    await eventually(async () => (await other.coordination.countOthers()) === 1);
    // Both lost theirs, and give each other time. Then one alone does, while the other looks as ever.
    await Bun.sleep(3500);
    await terminate(`pid IN (${sessions} AND objid = (SELECT min(number) FROM instances))`);
    await Bun.sleep(2500);
    expect(await Promise.all([one, other].map(({ coordination }) => coordination.countOthers()))).toEqual([1, 1]);
    expect(await countTickets()).toBe(2);
    expect(other.coordination.turns.waitingCount).toBe(1);
    expect(() => one.coordination.checkAlive()).not.toThrow();
    running.leave();
    await leaveOnce(ticket);
  });

  test("let the next one in while nobody hears of it, and hear again", async () => {
    const running = await enter(one);
    const { ticket } = await waitAt(other);
    await terminate("query LIKE 'LISTEN%'");
    running.leave();
    await leaveOnce(ticket);
    await eventually(async () => {
      const listening = await one.engine.heavy.all(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
      );
      return listening.length === 2;
    });
    expect(other.coordination.turns.waitingCount).toBe(0);
  });

  test("end a ticket that nobody holds, and no other", async () => {
    const running = await enter(one);
    await one.engine.quick.run(
      `INSERT INTO open_turns (id, instance_number, companion_id, kind, queue_key, is_running, day)
       SELECT 'stray', instance_number, companion_id, kind, NULL, true, day FROM open_turns`,
    );
    await eventually(async () => (await countTickets()) === 1);
    expect(await one.engine.quick.all("SELECT id FROM open_turns")).toEqual([{ id: running.id }]);
  });

  test("give back what a server holds when it closes", async () => {
    await enter(one);
    const { ticket } = await waitAt(other);
    await one.close();
    expect(await inTime(ticket, { what: "the next turn" })).toMatchObject({ isAdmitted: true });
    expect(await other.engine.quick.all("SELECT number FROM instances")).toHaveLength(1);
  });

  test("a duty is one server's, and another's when that one has ended", async () => {
    expect(await one.coordination.duties.take("jobs")).toBe(true);
    expect(await other.coordination.duties.take("jobs")).toBe(false);
    await one.close();
    expect(await other.coordination.duties.take("jobs")).toBe(true);
  });

  test("work that excludes others runs at one server at a time", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await Bun.sleep(5);
      inside--;
    };
    const runs = Array.from({ length: 10 }, (_, at) =>
      (at % 2 === 0 ? one : other).coordination.duties.exclude("x", work),
    );
    await Promise.all(runs);
    expect(most).toBe(1);
  });
});
