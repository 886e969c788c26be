/** `GET /api/insights` through whole requests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { openMemberDashboard } from "../support/dashboard.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { handoffSettings } from "../support/people-world.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

/** A Friday, on which the clock in Berlin is two hours ahead; it is Saturday there from 22:00 on. */
const start = Date.parse("2026-07-10T21:30:00Z");
const leads = { when: "always", consentText: "You may write to me.", replyTo: null } as const;
const handoff = { ...handoffSettings, when: "always", waitSeconds: 30 } as const;
const grace = { name: "Grace" };

let clock: ManualClock;
let server: TestServer;
let account: Account;
let companion: TestCompanion;
let other: TestCompanion;
let api: ApiClient;
let visitors: ApiClient;
beforeAll(async () => {
  clock = createManualClock(start);
  server = await startTestServer({ clock, environment: { COMPANIOND_RATE_PER_IP: "500" } });
  account = await server.createAccount();
  const settings = { handoff, leads, ratings: true, askResolved: true };
  companion = await server.createCompanion({ ...settings, metadata: { tenant: "a" } }, account);
  other = await server.createCompanion({ ...settings, metadata: { tenant: "b" } }, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  visitors = apiClient(server.url, null);
  await fill();
});
afterAll(() => server.close());

async function begin(of = companion) {
  const [session_id, message_id] = [crypto.randomUUID(), crypto.randomUUID()];
  expect((await chat(server.url, of.embedToken, { message: "Hello", session_id, message_id })).status).toBe(200);
  const { data } = (await api.call("GET", "/api/conversations?limit=100")).json;
  const id = data.find((row) => row.session_id === session_id)?.id ?? "";
  const embed = `/api/embed/${of.embedToken}`;
  const act = async (method: string, path: string, body: object, caller = visitors) => {
    const { status } = await caller.call(method, path, body);
    expect(status).toBeLessThan(300);
  };
  return {
    ask: () => act("POST", `${embed}/person`, { session_id }),
    rate: (rating: string) => act("PUT", `${embed}/ratings/${message_id}`, { session_id, rating }),
    resolve: (resolved: boolean) => act("PUT", `${embed}/resolved`, { session_id, resolved }),
    leave: () => act("POST", `${embed}/contact`, { session_id, email: "ada@example.com", consent: true }),
    take: () => act("POST", `/api/conversations/${id}/take`, { as: grace }, api),
    write: (text: string) =>
      act("POST", `/api/conversations/${id}/messages`, { as: grace, client_id: crypto.randomUUID(), text }, api),
    release: () => act("POST", `/api/conversations/${id}/release`, { as: grace }, api),
  };
}

/** On Friday one of the companion's; on Saturday, as Berlin has it, two more, and one of the other's. */
async function fill() {
  const first = await begin();
  await first.rate("up");
  await first.resolve(true);
  clock.advance(60 * 60_000);
  const second = await begin();
  await second.ask();
  clock.advance(10_000);
  await second.take();
  clock.advance(4_000);
  await second.write("Here I am.");
  clock.advance(60_000);
  await second.release();
  const third = await begin();
  await third.rate("down");
  await third.resolve(false);
  await third.leave();
  const foreign = await begin(other);
  await foreign.ask();
  await foreign.release();
}

const read = async (query: string, caller = api) => await caller.call("GET", `/api/insights?${query}`);
const none = {
  ...{ conversations: 0, replies: 0, up: 0, down: 0, resolved: 0, unresolved: 0, unanswered: 0, asked: 0, taken: 0 },
  ...{ missed: 0, contacts: 0, first_answer_seconds: { median: null, p90: null }, handled_seconds: 0 },
};

test("counts what happened, by its own time", async () => {
  const { json } = await read("from=2026-07-10&to=2026-07-10");
  expect(json).toMatchObject({
    ...{ from: "2026-07-10", to: "2026-07-10", timezone: "UTC", conversations: 4, replies: 4 },
    ...{ up: 1, down: 1, resolved: 1, unresolved: 1, unanswered: 0, asked: 2, taken: 1, missed: 1, contacts: 1 },
    ...{ first_answer_seconds: { median: 14, p90: 14 }, handled_seconds: 64 },
  });
  expect(json).toHaveProperty("cost_micros");
  const busy = json["busy"] as number[][];
  expect(busy.map((hours) => hours.length)).toEqual([24, 24, 24, 24, 24, 24, 24]);
  expect([busy[4]?.[21], busy[4]?.[22]]).toEqual([1, 3]);
});

test("has days and hours of the zone", async () => {
  const berlin = "timezone=Europe/Berlin";
  const friday = (await read(`from=2026-07-10&to=2026-07-10&${berlin}`)).json;
  expect(friday).toMatchObject({ timezone: "Europe/Berlin", conversations: 1, up: 1, asked: 0 });
  expect((friday["busy"] as number[][])[4]?.[23]).toBe(1);
  const saturday = (await read(`from=2026-07-11&to=2026-07-11&${berlin}`)).json;
  expect(saturday).toMatchObject({ conversations: 3, replies: 3, up: 0, down: 1, asked: 2 });
  expect((saturday["busy"] as number[][])[5]?.[0]).toBe(3);
  expect((await read(`from=2026-07-12&to=2026-07-20&${berlin}`)).json).toMatchObject(none);
});

test("is of a companion, or of those with such metadata", async () => {
  const days = "from=2026-07-10&to=2026-07-11";
  const foreign = { conversations: 1, replies: 1, asked: 1, missed: 1, taken: 0, contacts: 0, up: 0 };
  expect((await read(`${days}&companion_id=${other.id}`)).json).toMatchObject(foreign);
  expect((await read(`${days}&metadata.tenant=b`)).json).toMatchObject(foreign);
  expect((await read(`${days}&metadata.tenant=a`)).json).toMatchObject({ conversations: 3, asked: 1, contacts: 1 });
  expect((await read(`${days}&metadata.tenant=c`)).json).toMatchObject(none);
  expect((await read(`${days}&companion_id=${crypto.randomUUID()}`)).json).toMatchObject(none);
});

test("is the last thirty days unless days are named, at most ninety-two", async () => {
  expect((await read("")).json).toMatchObject({ from: "2026-06-11", to: "2026-07-10", conversations: 4 });
  expect((await read("from=2026-05-01&to=2026-07-31")).status).toBe(200);
  expectInvalid(await read("from=2026-04-30&to=2026-07-31"), ["from"]);
  expectInvalid(await read("from=2026-07-11&to=2026-07-10"), ["to"]);
  expectInvalid(await read("from=yesterday&timezone=Moon"), ["from", "timezone"]);
  expectInvalid(await read("timezone=%2B02:00"), ["timezone"]);
});

test("ends where years would need a fifth digit", async () => {
  expect((await read("from=9999-12-29&timezone=Pacific/Kiritimati")).status).toBe(200);
  expect((await read("from=9999-12-29&timezone=Pacific/Pago_Pago")).status).toBe(200);
  expectInvalid(await read("from=9999-12-30"), ["from"]);
  expectInvalid(await read("to=9999-12-31"), ["to"]);
});

test("shows members their own companions alone, and other accounts nothing", async () => {
  const days = "from=2026-07-10&to=2026-07-11";
  const fields = { role: "owner", companionIds: [other.id] } as const;
  const bo = await openMemberDashboard(server, { account }, fields);
  expect((await read(days, bo)).json).toMatchObject({ conversations: 1, asked: 1, up: 0 });
  expect((await read(`${days}&companion_id=${companion.id}`, bo)).json).toMatchObject(none);
  const responder = await openMemberDashboard(server, { account });
  expectProblem(await read(days, responder), 403, "insufficient_scope");
  const stranger = await server.createAccount({ email: "stranger@shop.example" });
  expect((await read(days, apiClient(server.url, (await server.createKey(stranger)).key))).json).toMatchObject(none);
});
