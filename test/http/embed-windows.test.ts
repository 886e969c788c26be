/** Which windows embed requests take: page views by settings of their own, and where a companion asks for work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { createRedisLimiter } from "../../src/engines/redis/limiter.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { type RedisServer, startRedisServer } from "../support/redis-server.ts";
import { noLimiter, openSharedRedis } from "../support/shared-redis.ts";
import { readChallenge, solve } from "../support/solve.ts";
import { testContext } from "../support/test-context.ts";

let redis: RedisServer;
let client: RedisClient;
let shared: Awaited<ReturnType<typeof openSharedRedis>>;
beforeAll(async () => {
  redis = await startRedisServer();
  client = new RedisClient(redis.url);
  shared = await openSharedRedis(redis.url);
});
afterAll(async () => {
  shared.close();
  client.close();
  await redis[Symbol.asyncDispose]();
});

interface World extends AsyncDisposable {
  server: TestServer;
  open(settings?: Partial<CompanionSettings>): Promise<Awaited<ReturnType<typeof openVisitors>>>;
}

/** Few places, so that few requests fill them. */
async function openWorld(limiter: "memory" | "redis", environment: Record<string, string> = {}): Promise<World> {
  const server = await startTestServer({
    environment: {
      ...{ COMPANIOND_TRUST_PROXY: "1", COMPANIOND_RATE_PER_IP: "5", COMPANIOND_RATE_PER_TOKEN: "8" },
      ...environment,
    },
  });
  const inRedis = createRedisLimiter({ redis: shared, fallback: noLimiter });
  if (limiter === "redis") Object.assign(server.services, { limiter: inRedis });
  return {
    server,
    open: (settings) => openVisitors(server, settings),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Networks of one world are not those of another: Redis keeps their windows. */
let networks = 0;

async function openVisitors(server: TestServer, settings: Partial<CompanionSettings> = {}) {
  const { embedToken } = await server.createCompanion(settings);
  const network = `10.${++networks}.0`;
  const address = (host: number) => ({ "x-forwarded-for": `${network}.${host}` });
  const base = `${server.url}/api/embed/${embedToken}`;
  const view = (host: number) => fetch(base, { headers: address(host) });
  async function chat(host: number, solution?: string, body: unknown = { message: "[[say:yes]]" }) {
    const headers = { "content-type": "application/json", ...address(host) };
    const proof = solution === undefined ? {} : { "x-challenge": solution };
    const response = await sendChat(server.url, embedToken, body, { headers: { ...headers, ...proof } });
    if (response.ok) await response.text();
    return response;
  }
  const solveFor = async (host: number) => solve(await readChallenge(await chat(host)));
  return {
    view,
    chat,
    solveFor,
    /** A message with the work that is asked for it. */
    chatWithWork: async (host: number) => chat(host, await solveFor(host)),
    follow: (host: number) =>
      fetch(`${base}/chat/${crypto.randomUUID()}?session_id=${crypto.randomUUID()}`, { headers: address(host) }),
  };
}

const statusesOf = (responses: readonly Response[]) => responses.map(({ status }) => status);
const limitsOf = ({ headers }: Response) => [headers.get("ratelimit-policy"), headers.get("ratelimit")];
const times = (count: number, act: (index: number) => Promise<Response>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

describe.each(["memory", "redis"] as const)("counted in %s", (limiter) => {
  test("page views count beside messages, unless the operator gives them windows of their own", async () => {
    await using world = await openWorld(limiter);
    const { view, chat } = await world.open();
    await times(8, view);
    expect((await chat(100)).status).toBe(429);
    const other = await world.open();
    await times(5, () => other.view(1));
    expect((await other.chat(1)).status).toBe(429);
  });

  test("page views with windows of their own take no visitor's message, nor messages a page view", async () => {
    const own = { COMPANIOND_CONFIG_RATE_PER_TOKEN: "8", COMPANIOND_CONFIG_RATE_PER_IP: "5" };
    await using world = await openWorld(limiter, own);
    const { view, chat } = await world.open();
    const first = await view(1);
    expect(limitsOf(first)).toEqual(['"ip";q=5;w=60, "token";q=8;w=60', '"ip";r=4;t=60, "token";r=7;t=60']);
    expect(statusesOf(await times(5, () => view(1))).sort()).toEqual([200, 200, 200, 200, 429]);
    expect(statusesOf(await times(5, (host) => view(host + 2))).sort()).toEqual([200, 200, 200, 429, 429]);
    const refused = await view(9);
    expect(limitsOf(refused)[1]).toMatch(/^"ip";r=4;t=60, "token";r=0;t=\d+$/);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(await refused.json()).toMatchObject({ code: "rate_limited" });
    const answered = await chat(1);
    expect([answered.status, limitsOf(answered)[1]]).toEqual([200, '"ip";r=4;t=60, "token";r=7;t=60']);
    expect(statusesOf(await times(4, () => chat(1)))).toEqual([200, 200, 200, 200]);
    expect((await chat(1)).status).toBe(429);
    const inRedis = await client.send("KEYS", ["companiond:config_token:*"]);
    expect(inRedis).toHaveLength(limiter === "redis" ? 1 : 0);
    const { refusedConfigs } = world.server.services.measurements;
    expect(refusedConfigs.counts).toEqual({ ip: 1, token: 3, read: 0 });
  });

  test.each([
    ["COMPANIOND_CONFIG_RATE_PER_TOKEN", "20", '"ip";q=5;w=60, "token";q=20;w=60'],
    ["COMPANIOND_CONFIG_RATE_PER_IP", "20", '"ip";q=20;w=60, "token";q=8;w=60'],
  ])("with %s alone both are their own, and the other has the usual number", async (name, number, policy) => {
    await using world = await openWorld(limiter, { [name]: number });
    const { view, chat } = await world.open();
    const views = await times(60, (index) => view(Math.floor(index / 3)));
    expect(statusesOf(views).filter((status) => status === 200)).toHaveLength(name.endsWith("TOKEN") ? 20 : 8);
    expect(limitsOf(await view(100))[0]).toBe(policy);
    await times(6, () => view(101));
    expect((await chat(101)).status).toBe(200);
    expect(limitsOf(await chat(101))[0]).toBe('"ip";q=5;w=60, "token";q=8;w=60');
  });

  test("where work is always asked, no flood without it takes the place of somebody who worked", async () => {
    await using world = await openWorld(limiter);
    const { view, follow, chat, chatWithWork } = await world.open({ challenge: "always" });
    const first = await view(100);
    expect(limitsOf(first)).toEqual(['"ip";q=5;w=60, "token";q=8;w=60', '"ip";r=4;t=60, "token";r=8;t=60']);
    const flood = await times(40, (host) => (host % 2 === 0 ? view(host) : follow(host)));
    expect(statusesOf(flood).filter((status) => status === 429)).toHaveLength(40 - 7);
    const refused = await view(41);
    expect(limitsOf(refused)[1]).toBe('"ip";r=4;t=60, "token";r=8;t=60');
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(statusesOf(await times(20, (host) => chat(host + 42)))).toEqual(Array(20).fill(403));
    const answered = [];
    for (let host = 70; host < 79; host++) answered.push(await chatWithWork(host));
    expect(statusesOf(answered)).toEqual([...Array(8).fill(200), 429]);
    expect(limitsOf(answered[0] as Response)[1]).toMatch(/"token";r=7;t=60$/);
  });

  test("one solution takes one place, however often what comes with it is refused", async () => {
    await using world = await openWorld(limiter);
    const { chat, chatWithWork, solveFor } = await world.open({ challenge: "always" });
    const solution = await solveFor(1);
    for (let host = 10; host < 18; host++) {
      const refused = await chat(host, solution, "{");
      expect([refused.status, limitsOf(refused)[1]]).toEqual([400, expect.stringContaining('"token";r=7;')]);
    }
    // It still begins a message, which has a place as every message.
    const answered = await chat(20, solution);
    expect([answered.status, limitsOf(answered)[1]]).toEqual([200, expect.stringContaining('"token";r=6;')]);
    const others = [];
    for (let host = 30; host < 37; host++) others.push(await chatWithWork(host));
    expect(statusesOf(others)).toEqual([...Array(6).fill(200), 429]);
  });

  test("solutions whose first message was refused begin no more messages than there are places", async () => {
    await using world = await openWorld(limiter);
    const { chat, chatWithWork, solveFor } = await world.open({ challenge: "always" });
    const solutions = await Promise.all([1, 2, 3].map(solveFor));
    expect(statusesOf(await times(3, (at) => chat(at, solutions[at], "{")))).toEqual([400, 400, 400]);
    for (let host = 10; host < 14; host++) expect((await chatWithWork(host)).status).toBe(200);
    const begun = await times(3, (at) => chat(at, solutions[at]));
    expect(statusesOf(begun).filter((status) => status === 200)).toHaveLength(1);
    for (const refused of begun.filter(({ status }) => status !== 200)) {
      // Of two that saw the last place, one is told to work anew.
      expect(refused.status).toBeOneOf([403, 429]);
      expect(limitsOf(refused)[1]).toContain('"token";r=0;');
    }
    expect((await chatWithWork(20)).status).toBe(429);
  });

  test("where work is asked in a flood, a burst without it gets half of the places and one, and no more", async () => {
    await using world = await openWorld(limiter);
    const { view, follow, chat, chatWithWork } = await world.open({ challenge: "auto" });
    const burst = await times(60, (host) => [view, follow, chat][host % 3]?.(host) as Promise<Response>);
    const statuses = statusesOf(burst);
    const inTokensWindow = burst.filter(({ headers }) => /"token";r=[4-7];/.test(headers.get("ratelimit") ?? ""));
    expect(new Set(statuses).isSubsetOf(new Set([200, 404, 403, 429]))).toBe(true);
    // Five in the token's window, and eight of those that ask for no work in the second.
    expect(statuses.filter((status) => status === 200 || status === 404)).toHaveLength(5 + 8);
    expect(inTokensWindow.length).toBeGreaterThanOrEqual(4);
    const answered = [];
    for (let host = 100; host < 104; host++) answered.push(await chatWithWork(host));
    expect(statusesOf(answered)).toEqual([200, 200, 200, 429]);
  });

  test("page views with windows of their own stay in them where work is asked, and bring none about", async () => {
    await using world = await openWorld(limiter, { COMPANIOND_CONFIG_RATE_PER_TOKEN: "20" });
    for (const challenge of ["always", "auto"] as const) {
      const { view, follow, chat, chatWithWork } = await world.open({ challenge });
      const views = await times(25, view);
      expect(statusesOf(views).filter((status) => status === 200)).toHaveLength(20);
      expect(limitsOf(views[0] as Response)[1]).toMatch(/"token";r=\d+;t=60$/);
      expect((await follow(1)).status).toBe(404);
      const answered = challenge === "auto" ? await chat(50) : await chatWithWork(50);
      const left = challenge === "auto" ? 6 : 7;
      expect([answered.status, limitsOf(answered)[1]]).toEqual([200, expect.stringContaining(`"token";r=${left};`)]);
    }
  });
});

test("in Redis, a token that worked before takes one command, and what is refused takes the slots that it always took", async () => {
  await using world = await openWorld("redis");
  const { accountId, id, embedToken } = await world.server.createCompanion({
    allowedOrigins: ["https://shop.example"],
  });
  const network = `10.${++networks}.0`;
  const view = async (host: number, origin = "https://shop.example") => {
    const headers = { "x-forwarded-for": `${network}.${host}`, origin };
    const response = await fetch(`${world.server.url}/api/embed/${embedToken}`, { headers });
    return [response.status, ...(limitsOf(response)[1]?.match(/(?<=r=)\d+/g) ?? []).map(Number)];
  };
  const { companions } = world.server.services.store;
  await client.send("CONFIG", ["RESETSTAT"]);
  const commands = async () => /evalsha:calls=(\d+),/.exec(await client.send("INFO", ["commandstats"]))?.[1];
  expect([await view(1), await commands()]).toEqual([[200, 4, 7], "2"]);
  expect([await view(1), await view(1), await commands()]).toEqual([[200, 3, 6], [200, 2, 5], "4"]);
  expect([await view(2, "https://other.example"), await commands()]).toEqual([[403, 4], "5"]);
  expect([await view(1), await view(1), await view(1)]).toEqual([
    [200, 1, 4],
    [200, 0, 3],
    [429, 0],
  ]);
  await companions.update(accountId, id, { enabled: false }, testContext());
  // The first that finds it paused may take a slot; the next does not.
  expect([await view(2), await view(2)]).toEqual([
    [404, 3],
    [404, 2],
  ]);
  await companions.update(accountId, id, { enabled: true }, testContext());
  expect([await view(3), await view(3), await view(3)]).toEqual([
    [200, 4, 1],
    [200, 3, 0],
    [429, 2, 0],
  ]);
});
