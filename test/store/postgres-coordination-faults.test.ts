/** What servers that agree through PostgreSQL do while it, or the line to it, is disturbed. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { TurnTicket } from "../../src/contracts/coordination.ts";
import { AppError } from "../../src/domain/errors.ts";
import { migratePostgres } from "../../src/engines/postgres/migrator.ts";
import { createEngine } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { openPostgresInstance, type PostgresInstance, readProbe } from "../support/postgres-instance.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";
import { turnEntry } from "../support/turn-entry.ts";

const stays = new AbortController().signal;
const entry = turnEntry({ queueKey: "k", messagesPerDay: 1000 });
const enter = ({ coordination }: PostgresInstance, queueKey = "k") =>
  coordination.turns.enter({ ...entry, queueKey }, stays);

async function admitted(verdict: ReturnType<typeof enter>): Promise<TurnTicket> {
  const given = await inTime(verdict, { what: "a turn" });
  if (!given.isAdmitted) throw new Error(given.reason);
  return given;
}

const isAnswered = (query: Promise<unknown>) =>
  inTime(query, { what: "an answer", withinMs: 2000 }).then(
    () => true,
    () => false,
  );

const readTickets = ({ engine }: PostgresInstance) =>
  engine.quick.all<{ id: string }>("SELECT id FROM open_turns ORDER BY number");

function isAlive({ coordination }: PostgresInstance): boolean {
  try {
    coordination.checkAlive();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "unavailable") return false;
    throw error;
  }
}

let database: { url: string; drop(): Promise<void> };
let proxy: FaultProxy;
/** Behind the proxy. */
let far: PostgresInstance;
let near: PostgresInstance;
beforeEach(async () => {
  database = await createMigratedDatabase();
  const url = new URL(database.url);
  proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  [far, near] = await Promise.all([openPostgresInstance(url.href), openPostgresInstance(database.url)]);
});
afterEach(async () => {
  await proxy.set("pass");
  await Promise.all([far.close(), near.close()]);
  await proxy[Symbol.asyncDispose]();
  await database.drop();
});

/** Cuts the line when a ticket was made, and before the far server heard of it. */
async function loseAnswer(after: "pass" | "refuse"): Promise<{ ticket: ReturnType<typeof enter> }> {
  await proxy.set({ holdAfter: "k-of-the-lost" });
  const ticket = enter(far, "k-of-the-lost");
  ticket.catch(() => {});
  await eventually(async () => (await readTickets(near)).length === 1);
  proxy.cut();
  await proxy.set(after);
  return { ticket };
}

test("a turn whose answer is lost finds the ticket that it has", async () => {
  const { ticket } = await loseAnswer("pass");
  const turn = await admitted(ticket);
  expect(await readTickets(near)).toEqual([{ id: String(turn.id) }]);
  turn.leave();
  await eventually(async () => (await readTickets(near)).length === 0);
});

test("a turn whose answer never comes is unavailable, and its ticket ends when PostgreSQL can be asked again", async () => {
  const { ticket } = await loseAnswer("refuse");
  await expect(ticket).rejects.toMatchObject({ code: "unavailable" });
  expect(await readTickets(near)).toHaveLength(1);
  await proxy.set("pass");
  await eventually(async () => (await readTickets(near)).length === 0);
  expect((await admitted(enter(near))).isAdmitted).toBe(true);
});

test("a server that is cut off gives up its turns to others, is not ready, and comes back", async () => {
  await admitted(enter(far));
  const waiting = enter(near);
  await eventually(() => near.coordination.turns.waitingCount === 1);
  await proxy.set("swallow");
  await eventually(() => !isAlive(far));
  const next = await admitted(waiting);
  expect(await readTickets(near)).toEqual([{ id: String(next.id) }]);
  expect(isAlive(near)).toBe(true);
  expect(await near.coordination.countOthers()).toBe(0);
  await proxy.set("pass");
  await eventually(() => isAlive(far));
  await eventually(async () => (await near.coordination.countOthers()) === 1);
  const after = enter(far);
  next.leave();
  (await admitted(after)).leave();
  expect(far.log.text()).toContain("the session with the database was lost");
});

test("turns that wait while nobody can be asked are unavailable after a while, and hold nothing", async () => {
  const running = await admitted(enter(near));
  const waiting = enter(far);
  await eventually(async () => (await readTickets(near)).length === 2);
  await proxy.set("refuse");
  proxy.cut();
  await expect(inTime(waiting, { what: "the end of patience" })).rejects.toMatchObject({ code: "unavailable" });
  await proxy.set("pass");
  await eventually(async () => (await readTickets(near)).length === 1);
  expect(await readTickets(near)).toEqual([{ id: String(running.id) }]);
});

test("turns outlive a crash of PostgreSQL, those that wait too, and a lost ticket is taken anew", async () => {
  await using server = await startPostgresServer();
  const { url } = await server.createDatabase();
  const engine = createEngine({ url, pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await migratePostgres(engine.heavyPool);
  const [one, other] = await Promise.all([openPostgresInstance(url), openPostgresInstance(url)]);
  const running = await admitted(enter(one));
  const waiting = enter(other);
  await eventually(async () => (await readTickets(one)).length === 2);
  // Tickets reach the disk with the next commit that does.
  await engine.write((transaction) => transaction.run("INSERT INTO server_secrets (name, sealed) VALUES ('a', 'b')"));
  await server.crash();
  await eventually(() =>
    enter(one, "else").then(
      () => false,
      (error: AppError) => error.code === "unavailable",
    ),
  );
  await server.start();
  await eventually(async () => (await readTickets(one).catch(() => [])).length === 2);
  const session = () => one.coordination.countOthers().catch(() => 0);
  await eventually(async () => (await session()) === 1);
  // As long as it takes to be found dead.
  await Bun.sleep(5000);
  expect(await Promise.all([one, other].map((each) => readProbe(each, "companiond_tickets_reaped_total")))).toEqual([
    0, 0,
  ]);
  expect(other.coordination.turns.waitingCount).toBe(1);
  // As if the crash had come before the waiting one was on disk.
  await engine.quick.run("DELETE FROM open_turns WHERE NOT is_running");
  await eventually(async () => (await readTickets(one)).length === 2);
  running.leave();
  (await admitted(waiting)).leave();
  await eventually(async () => (await readTickets(one)).length === 0);
  await Promise.all([one.close(), other.close(), engine.close()]);
});

test("a server that is alone waits for the end of its own lost session, and takes it for nobody else's", async () => {
  // Of its own: whoever makes or drops a database waits for every session of the server, one that is stopped included.
  await using server = await startPostgresServer();
  const { url } = await server.createDatabase();
  const making = createEngine({ url, pool: 1, poolHeavy: 1, log: createCapturedLog() });
  await migratePostgres(making.heavyPool);
  await making.close();
  const instance = await openPostgresInstance(url, { sharesWindows: false });
  await using _ = { [Symbol.asyncDispose]: () => instance.close() };
  const { engine, log } = instance;
  const findLocks = async (isGranted: boolean) =>
    await engine.heavy.all<{ pid: number }>(
      `SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 1668246896 AND granted = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [isGranted],
    );
  const wasLogged = (event: string) => log.events.some((logged) => logged.event.includes(event));
  const findHolder = async () => {
    const [session] = await findLocks(true);
    if (!session) throw new Error("no session holds the lock");
    return session.pid;
  };
  // It cannot even end: its locks stay.
  let pid = await findHolder();
  process.kill(pid, "SIGSTOP");
  try {
    // Stopped amid a statement it may hold the table of locks itself, for which everybody else waits.
    while (!(await isAnswered(findLocks(true)))) {
      process.kill(pid, "SIGCONT");
      await eventually(() => isAnswered(findHolder()));
      pid = await findHolder();
      process.kill(pid, "SIGSTOP");
    }
    await eventually(async () => wasLogged("has replaced") || (await findLocks(false)).length > 0);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await eventually(() => wasLogged("is back"));
  expect(wasLogged("has replaced")).toBe(false);
});
