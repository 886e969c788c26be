/** The background jobs: what has run out goes, what has not stays, and nothing that fails stops the server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { replyDeadlines } from "../../src/contracts/llm/attempt.ts";
import { AppError } from "../../src/domain/errors.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { lifetimeMs } from "../../src/domain/session.ts";
import { maxRoundsMs } from "../../src/domain/tool.ts";
import { type JobServices, runJobs, startJobs } from "../../src/server/jobs/jobs.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { openDashboard } from "../support/dashboard.ts";
import { inTime } from "../support/eventually.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { newCall, newTool } from "../support/stored-tool.ts";

const dayMs = 86_400_000;
/** Rounds, a last one that began before their end, and the reply without tools. */
const maxTurnMs = maxRoundsMs + 2 * replyDeadlines.totalMs;
const clock = createManualClock();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

test("deletes conversations past their companion's retention, in as many steps as it takes, and no others", async () => {
  const account = await server.createAccount();
  const brief = await server.createCompanion({ retentionDays: 2 }, account);
  const lasting = await server.createCompanion({}, account);
  const kept = await keepTurn(server, lasting);
  for (let turn = 0; turn < 250; turn++) await keepTurn(server, brief, { message: "old" });
  clock.advance(2 * dayMs + 1000);
  const fresh = await keepTurn(server, brief, { message: "new" });

  await runJobs(server.services);

  const client = apiClient(server.url, (await server.createKey(account)).key);
  const { data } = (await client.call("GET", "/api/conversations?limit=100")).json;
  expect(data.map(({ id }) => id)).toEqual([fresh, kept]);
  expect(server.log.events).toContainEqual({
    level: "info",
    event: "cleared away",
    fields: { job: "retention", deleted: 250 },
  });
});

test("deletes responses of idempotent calls after a day, and not before", async () => {
  const { key } = await server.createKey(await server.createAccount());
  const client = apiClient(server.url, key);
  const create = () => client.call("POST", "/api/companions", { name: "Ada" }, { "idempotency-key": "once" });
  const first = await create();
  clock.advance(dayMs - 1000);
  await runJobs(server.services);
  expect((await create()).json.id).toBe(first.json.id);
  clock.advance(2000);
  await runJobs(server.services);
  expect((await create()).json.id).not.toBe(first.json.id);
});

test("deletes calls of tools whose reply was never stored after a day, for which their message calls nothing again, and no others", async () => {
  const account = await server.createAccount();
  const companion = await server.createCompanion({}, account);
  const { store } = server.services;
  const tool = newTool(companion.id, clock.nowMs());
  await store.tools.create(account.id, tool, testContext());
  const begin = async () => {
    const call = newCall(tool, clock.nowMs());
    const key = { companionId: companion.id, sessionId: crypto.randomUUID(), visitorId: null };
    await store.toolCalls.begin({ key, replyId: crypto.randomUUID(), messageId: null }, [call]);
    return call.id;
  };
  await begin();
  clock.advance(dayMs - maxTurnMs);
  const young = await begin();
  clock.advance(maxTurnMs + 1);
  await runJobs(server.services);
  const kept = await store.toolCalls.listOfTool(account.id, companion.id, tool.id, { limit: 9, afterId: null });
  expect(kept?.items.map(({ id }) => id)).toEqual([young]);
});

test("deletes sessions that have ended, and keeps open ones", async () => {
  const idle = await openDashboard(server);
  clock.advance(7 * dayMs + 1000);
  const fresh = await openDashboard(server, {}, idle.account);
  await runJobs(server.services);
  const { sessions } = server.services.store;
  expect((await sessions.list(ownIdentity(idle.account.id))).map(({ id }) => id)).toEqual([fresh.sessionId]);
  clock.advance(lifetimeMs);
  await runJobs(server.services);
  expect(await sessions.list(ownIdentity(idle.account.id))).toEqual([]);
});

test("deletes mail a day after it failed, or after nobody sent it", async () => {
  const account = await server.createAccount();
  const { mails } = server.services.store;
  const mail = {
    accountId: account.id,
    companionId: null,
    conversationId: null,
    memberId: null,
    sealed: null,
  } as const;
  const createdAtMs = clock.nowMs();
  const times = { createdAtMs, dueAtMs: createdAtMs, expiresAtMs: null };
  await mails.add({ id: crypto.randomUUID(), kind: "invitation", ...mail, ...times });
  clock.advance(dayMs);
  await runJobs(server.services);
  expect(await mails.findNextDue()).toBe(createdAtMs);
  clock.advance(1);
  await runJobs(server.services);
  expect(await mails.findNextDue()).toBeNull();
});

/** A store whose retention the test controls; its other jobs find nothing. */
function servicesWith(deleteExpired: () => Promise<number>, hasDuty = () => true) {
  const log = createCapturedLog();
  const purged: string[] = [];
  const store = {
    conversations: { deleteExpired },
    idempotency: { purge: async () => purged.push("idempotency") - purged.length },
    spending: { settleDue: async () => ({ settled: 0, reached: [] }) },
    toolCalls: { deleteOrphans: async () => 0 },
    challenges: { purge: async () => purged.push("challenges") - purged.length },
    mails: { purge: async () => purged.push("mail") - purged.length },
    webhooks: { purge: async () => purged.push("webhooks") - purged.length },
    sessions: { purge: async () => void purged.push("sessions") },
  };
  const coordination = { duties: { take: async () => hasDuty() } };
  const [indexing, events] = [{ wake: () => {} }, { wake: () => {} }];
  return { services: { store, coordination, clock, log, indexing, events } as unknown as JobServices, log, purged };
}

test("a job that fails is logged, and the others run all the same", async () => {
  const { services, log, purged } = servicesWith(() =>
    Promise.reject(new AppError("unavailable", "The disk is full.")),
  );
  await runJobs(services);
  expect(purged).toEqual(["idempotency", "challenges", "webhooks", "mail", "sessions"]);
  expect(log.events).toMatchObject([{ level: "error", event: "background job failed", fields: { job: "retention" } }]);
});

test("deletes nothing right after the clock jumped ahead: it does so at the next run if the clock stays ahead", async () => {
  const jumping = createManualClock();
  const looks: string[] = [];
  const both = Promise.withResolvers<void>();
  const { services, log } = servicesWith(async () => {
    looks.push("deletes");
    both.resolve();
    return 0;
  });
  const captured = { ...log, warn: (event: string) => void looks.push(event) };
  const jobs = startJobs({ ...services, clock: jumping, log: captured }, { firstMs: 1, intervalMs: 1 });
  jumping.step(365 * dayMs);
  await both.promise;
  await jobs.stop();
  expect(looks.slice(0, 2)).toEqual(["the clock was set forward: deleting nothing before the next run", "deletes"]);
});

test("runs nothing while another server has the duty, and takes it over when that one has ended", async () => {
  let looks = 0;
  let asked = 0;
  const deleted = Promise.withResolvers<void>();
  const { services } = servicesWith(
    async () => {
      looks++;
      deleted.resolve();
      return 0;
    },
    () => ++asked > 3,
  );
  const jobs = startJobs(services, { firstMs: 1, intervalMs: 1 });
  await deleted.promise;
  await jobs.stop();
  expect({ looks, isAsked: asked >= 4 }).toEqual({ looks: 1, isAsked: true });
});

test("runs on its own after the start, and stops between two steps", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<number>();
  let steps = 0;
  const { services } = servicesWith(() => {
    steps++;
    started.resolve();
    return release.promise;
  });
  const jobs = startJobs(services, { firstMs: 1, intervalMs: 1 });
  await started.promise;
  const stopped = jobs.stop();
  release.resolve(200);
  await stopped;
  expect(steps).toBe(1);
});

test("stops without a step that does not end", async () => {
  const started = Promise.withResolvers<void>();
  const { services } = servicesWith(() => {
    started.resolve();
    return new Promise<number>(() => {});
  });
  const jobs = startJobs(services, { firstMs: 1, intervalMs: 1, lastStepMs: 10 });
  await started.promise;
  expect(await inTime(jobs.stop(), { what: "the end of the jobs" })).toBeUndefined();
});

test("runs again after the interval", async () => {
  const thrice = Promise.withResolvers<void>();
  let runs = 0;
  const { services } = servicesWith(async () => {
    runs++;
    if (runs === 3) thrice.resolve();
    return 0;
  });
  const jobs = startJobs(services, { firstMs: 1, intervalMs: 1 });
  await thrice.promise;
  await jobs.stop();
  expect(runs).toBeGreaterThanOrEqual(3);
});
