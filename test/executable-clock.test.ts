/** The wall clock stepped under the running executable, forward and back: nothing locks up, nothing is given twice, no restart is needed. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { apiClient, expectProblem } from "./support/api-client.ts";
import { chat, sendChat } from "./support/chat.ts";
import { cookieOf, testPassword, withCookie } from "./support/dashboard.ts";
import { eventually } from "./support/eventually.ts";
import { runExecutable } from "./support/executable.ts";
import { type MockLlm, type MockResponse, startMockLlm } from "./support/mock-llm.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { noonMs, type SteppedWorld, startSteppedWorld } from "./support/stepped-world.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const yearMs = 365 * dayMs;
const steps = [dayMs, -hourMs, yearMs, -yearMs, -300, 12 * hourMs, -12 * hourMs, -yearMs, yearMs];

let mock: MockLlm;
beforeAll(async () => {
  if (!existsSync("/usr/bin/faketime")) throw new Error("There is no /usr/bin/faketime: apt-get install faketime");
  mock = await startMockLlm();
});
beforeEach(() => mock.respond(null));
afterAll(() => mock.close());

/** All pages of a list, one item each. */
async function pageThrough({ client }: Pick<SteppedWorld, "client">, path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  for (let cursor = ""; items.length < 50; ) {
    const { data: page, next_cursor } = (await client.call("GET", `${path}?limit=1${cursor}`)).json;
    items.push(...page);
    if (next_cursor === null) return items;
    cursor = `&cursor=${next_cursor}`;
  }
  throw new Error("the pages do not end");
}

test("goes on serving after each step, and reports the time of the clock", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, client, server, companion } = world;
  for (const stepMs of steps) {
    clock.step(stepMs);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const made = await client.call("POST", "/api/companions", { name: "Grace" });
    expect(made.status).toBe(201);
    expect(Math.abs(Date.parse(String(made.json.created_at)) - clock.nowMs())).toBeLessThan(minuteMs);
    expect(await chat(server.url, companion.token, { message: "Hello" })).toMatchObject({ status: 200, isDone: true });
    expect((await client.call("GET", "/api/usage?group_by=day,companion")).json.data).toContainEqual(
      expect.objectContaining({ day: new Date(clock.nowMs()).toISOString().slice(0, 10), companion_id: companion.id }),
    );
  }
  // Made once a second by Bun.
  await eventually(async () => {
    const date = (await fetch(`${server.url}/healthz`)).headers.get("date");
    return Math.abs(Date.parse(date ?? "") - clock.nowMs()) < minuteMs;
  });
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await server.stop()).toBe(0);
});

test("rate limits let no more in, and keep nobody out for longer", async () => {
  await using world = await startSteppedWorld(mock, { env: { COMPANIOND_RATE_PER_IP: "3" } });
  const ask = () => fetch(`${world.server.url}/api/embed/${world.companion.token}`);
  for (let asked = 0; asked < 3; asked++) expect((await ask()).status).toBe(200);
  for (const stepMs of steps) {
    world.clock.step(stepMs);
    const refused = await ask();
    expect(refused.status).toBe(429);
    const seconds = [
      refused.headers.get("retry-after"),
      /"ip";r=0;t=(\d+)/.exec(refused.headers.get("ratelimit") ?? "")?.[1],
    ];
    for (const waited of seconds.map(Number)) {
      expect(waited).toBeGreaterThanOrEqual(1);
      expect(waited).toBeLessThanOrEqual(60);
    }
  }
});

test("the day's quota is the UTC day's, whichever way and how often that is reached", async () => {
  const midnightMs = noonMs + 12 * hourMs;
  await using world = await startSteppedWorld(mock, {
    startMs: midnightMs - 10 * minuteMs,
    env: { COMPANIOND_DAILY_FREE: "2" },
  });
  const { clock, start, companion } = world;
  let { url } = world.server;
  const say = async () => {
    const response = await chat(url, companion.token, { message: "Hello" });
    return response.status === 200 ? "answered" : Number(response.headers.get("retry-after"));
  };
  expect([await say(), await say()]).toEqual(["answered", "answered"]);
  expect(await say()).toBeLessThanOrEqual(10 * 60);

  clock.step(20 * minuteMs);
  expect([await say(), await say()]).toEqual(["answered", "answered"]);
  const untilMidnight = Number(await say());
  expect(untilMidnight).toBeGreaterThan(23 * 3600);
  expect(untilMidnight).toBeLessThanOrEqual(24 * 3600);

  clock.step(-20 * minuteMs);
  expect(await say()).toBeLessThanOrEqual(10 * 60);
  // A wrong clock for a while, under which somebody writes, must not make today's messages free again.
  clock.step(yearMs);
  expect(await say()).toBe("answered");
  clock.step(-yearMs);
  expect(await say()).toBeLessThanOrEqual(10 * 60);
  clock.step(20 * minuteMs);
  expect(await say()).toBeGreaterThan(23 * 3600);

  expect(await world.server.stop()).toBe(0);
  await using again = await start();
  ({ url } = again);
  expect(await say()).toBeGreaterThan(23 * 3600);
});

test("keys and sessions end by the clock, and go on once it is set right", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, server, run, email } = world;
  const args = ["--account", email, "--name", "short", "--scopes", "companions:read", "--expires", "1d"];
  const brief = apiClient(server.url, (await run(["key", "create", ...args])).key);
  const signedIn = await apiClient(server.url, null).call("POST", "/api/session", { email, password: testPassword });
  expect(signedIn.status).toBe(201);
  const dashboard = withCookie(server.url, cookieOf(signedIn.headers));
  const statuses = async () => [
    (await world.client.call("GET", "/api/companions")).status,
    (await brief.call("GET", "/api/companions")).status,
    (await dashboard.call("GET", "/api/session")).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200]);
  for (const [stepMs, whileStepped] of [
    [-hourMs, [200, 200, 200]],
    [-yearMs, [200, 200, 200]],
    [2 * dayMs, [200, 401, 200]],
    [8 * dayMs, [200, 401, 401]],
    [yearMs, [200, 401, 401]],
  ] as const) {
    clock.step(stepMs);
    expect(await statuses()).toEqual([...whileStepped]);
    clock.step(-stepMs);
    expect(await statuses()).toEqual([200, 200, 200]);
  }
});

test("one-time links open nothing once the clock is past them, and wait for a clock that was set back", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, server, run, email } = world;
  const resetBy = async (path: string) =>
    apiClient(server.url, null).call("POST", "/api/session/password-reset", {
      secret: path.slice(path.indexOf("#") + 1),
      password: testPassword,
    });
  const linkOf = async (): Promise<string> =>
    Object.values(await run(["account", "reset-link", email])).find((value) => String(value).includes("#")) as string;
  const late = await linkOf();
  clock.step(hourMs);
  expectProblem(await resetBy(late), 404, "not_found");
  const early = await linkOf();
  clock.step(-dayMs);
  expect((await resetBy(early)).status).toBe(201);
  expectProblem(await resetBy(early), 404, "not_found");
});

test("a retried call creates nothing twice within a day of any clock", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, client } = world;
  const create = async () => {
    const made = await client.call("POST", "/api/companions", { name: "Grace" }, { "idempotency-key": "once" });
    expect(made.status).toBe(201);
    return { id: made.json.id, isReplayed: made.headers.get("idempotent-replayed") === "true" };
  };
  const first = await create();
  expect(first.isReplayed).toBe(false);
  for (const stepMs of [-hourMs, -yearMs, yearMs + hourMs, 23 * hourMs]) {
    clock.step(stepMs);
    expect(await create()).toEqual({ id: first.id, isReplayed: true });
  }
  clock.step(2 * hourMs);
  const second = await create();
  expect(second.isReplayed).toBe(false);
  clock.step(-yearMs);
  expect(await create()).toEqual({ id: second.id, isReplayed: true });
});

test("lists are newest first by creation and paged without gap or repetition, over steps and a restart", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, companion } = world;
  const made: Record<"companions" | "keys", string[]> = { companions: [companion.id], keys: [] };
  let current: Pick<SteppedWorld, "client"> & { url: string } = { client: world.client, url: world.server.url };
  const makeAll = async () => {
    made.companions.unshift((await current.client.call("POST", "/api/companions", { name: "Grace" })).json.id);
    made.keys.unshift((await current.client.call("POST", "/api/keys", { name: "k", scopes: ["usage:read"] })).json.id);
    expect((await chat(current.url, companion.token, { message: "Hello" })).isDone).toBe(true);
  };
  await makeAll();
  clock.step(yearMs);
  await makeAll();
  clock.step(-yearMs + hourMs);
  await makeAll();
  expect(await world.server.stop()).toBe(0);

  // Ids go back here: this process has not seen the later clock.
  await using again = await world.start();
  current = { client: world.clientAt(again.url), url: again.url };
  await makeAll();
  clock.step(-2 * hourMs);
  await makeAll();
  const companions = await pageThrough(current, "/api/companions");
  expect(companions.map(({ id }) => String(id))).toEqual(made.companions);
  for (const [path, count] of [
    ["/api/keys", 6],
    ["/api/conversations", 5],
  ] as const) {
    const items = await pageThrough(current, path);
    expect(new Set(items.map(({ id }) => id)).size).toBe(count);
    const times = items.map(({ created_at }) => String(created_at));
    expect(times).toEqual(times.toSorted().reverse());
  }
});

test("a conversation keeps the order in which it was held", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, client, server, companion } = world;
  const session_id = crypto.randomUUID();
  const said = ["one", "two", "three", "four", "five"];
  for (const [at, stepMs] of [0, -yearMs, dayMs, -300, yearMs].entries()) {
    clock.step(stepMs);
    expect((await chat(server.url, companion.token, { message: said[at], session_id })).isDone).toBe(true);
  }
  const asked = mock.requests.at(-1)?.body.messages as { role: string; content: string }[];
  const expected = said.flatMap((word) => [word, `You said: ${word}`]);
  expect(asked.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual(expected.slice(0, -1));
  const [listed] = (await client.call("GET", "/api/conversations")).json.data;
  const { messages } = (await client.call("GET", `/api/conversations/${listed?.id}`)).json;
  expect((messages as { text: string }[]).map(({ text }) => text)).toEqual(expected);
});

test("an open stream lives through every step: it is kept awake in real time, and cut by no deadline", async () => {
  await using world = await startSteppedWorld(mock);
  const held = Promise.withResolvers<MockResponse>();
  mock.respond((_, response) => held.resolve(response));
  const answer = sendChat(world.server.url, world.companion.token, { message: "Hello" });
  const upstream = await held.promise;
  for (const stepMs of steps) {
    world.clock.step(stepMs);
    expect((await fetch(`${world.server.url}/readyz`)).status).toBe(200);
  }
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toStartWith(": ping");
  world.clock.step(-yearMs);
  await upstream.write(chunk({ content: "Late, but here.", finishReason: "stop" }) + doneMark);
  upstream.end();
  let rest = "";
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) rest += part.value;
  expect(rest).toEndWith('data: {"text":"Late, but here."}\n\ndata: [DONE]\n\n');
});

test("a visitor who is erased while a reply is under way stays erased, and what is said afterwards is kept", async () => {
  await using world = await startSteppedWorld(mock);
  const { clock, client, server, companion } = world;
  const visitor_id = crypto.randomUUID();
  const held = Promise.withResolvers<MockResponse>();
  mock.respond((_, response) => held.resolve(response));
  const answer = chat(server.url, companion.token, { message: "Forget me", visitor_id });
  const upstream = await held.promise;
  const erase = () => client.call("DELETE", `/api/companions/${companion.id}/visitors/${visitor_id}`);
  const kept = async () => (await client.call("GET", `/api/conversations?visitor_id=${visitor_id}`)).json.data;
  clock.step(-hourMs);
  expect((await erase()).status).toBe(204);
  await upstream.write(chunk({ content: "Yes.", finishReason: "stop" }) + doneMark);
  upstream.end();
  expect((await answer).isDone).toBe(true);
  expect(await kept()).toEqual([]);

  mock.respond(null);
  clock.step(yearMs);
  expect((await erase()).status).toBe(204);
  clock.step(-yearMs);
  expect((await chat(server.url, companion.token, { message: "Hello again", visitor_id })).isDone).toBe(true);
  expect(await kept()).toHaveLength(1);
});

test("scheduled backups follow the clock, one for each step over their time", async () => {
  await using world = await startSteppedWorld(mock, { env: { COMPANIOND_BACKUP_CRON: "0 3 1 1 *" } });
  const { clock, server, dataDir } = world;
  const backedUp = (count: number) =>
    eventually(() => server.log.filter(({ event }) => event === "database backed up").length === count);
  clock.step(3 * yearMs);
  await backedUp(1);
  clock.step(-5 * yearMs);
  // The next look, within a second, is before the instant.
  clock.set(Date.UTC(new Date(clock.nowMs()).getUTCFullYear() + 1, 0, 1, 3) - 2000);
  await backedUp(2);
  clock.step(dayMs);
  clock.step(-dayMs - 300);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(readdirSync(`${dataDir}/backups`)).toHaveLength(2);
});

test("doctor finds a wrong clock, by another's and by the build's", async () => {
  await using world = await startSteppedWorld(mock);
  // Without a server, which would answer with its own settings.
  using nowhere = temporaryDirectory();
  const reference = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { headers: { date: new Date(noonMs).toUTCString() } }),
  });
  const examine = async () => {
    const { stdout } = await runExecutable(["doctor", "--json", "--data-dir", nowhere.path], {
      env: { ...world.clock.env, OPENAI_BASE_URL: `${reference.url}v1` },
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] };
    return checks.find(({ name }) => name === "clock");
  };
  world.clock.set(noonMs);
  expect(await examine()).toMatchObject({ status: "ok" });
  world.clock.step(hourMs);
  expect(await examine()).toMatchObject({ status: "fail", detail: expect.stringContaining(" s off 127.0.0.1") });
  world.clock.step(-yearMs);
  expect(await examine()).toMatchObject({
    status: "fail",
    detail: expect.stringContaining("earlier than the build of this program"),
  });
  await reference.stop(true);
});
