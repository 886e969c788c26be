/** Redis that is slow, silent, killed or refuses: verdicts go on by the same rules, and only those that were waiting waited. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { RedisClient } from "bun";
import type { Limiter, RateRule } from "../../../src/contracts/limiter/limiter.ts";
import { createSignInFailures } from "../../../src/engines/memory/coordination/sign-in-failures.ts";
import { createMemoryLimiter } from "../../../src/engines/memory/limiter/memory.ts";
import { type SharedRedis, scripts } from "../../../src/engines/redis/breaker.ts";
import { createRedisLimiter } from "../../../src/engines/redis/limiter.ts";
import { openRedis, type RedisOptions } from "../../../src/engines/redis/open.ts";
import { createRedisSignInFailures } from "../../../src/engines/redis/sign-in-failures.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { eventually } from "../../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../../support/fault-proxy.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";

const rule: RateRule = { name: "ip", limit: 5, windowMs: 600_000 };
const password = "kept-out-of-the-log";
/** Longer than any test: a busy machine does not look like a lost server, and a test that waits for it fails. */
const patient: RedisOptions = { commandMs: 600_000 };

let server: RedisServer;
let proxy: FaultProxy;
let client: RedisClient;
beforeAll(async () => {
  server = await startRedisServer({ password });
});
afterAll(() => server[Symbol.asyncDispose]());

const opened: { close(): void }[] = [];
beforeEach(async () => {
  proxy = await startFaultProxy(server.port);
  client = new RedisClient(server.url);
  await client.send("FLUSHALL", []);
});
afterEach(async () => {
  for (const redis of opened.splice(0)) redis.close();
  client.close();
  await proxy[Symbol.asyncDispose]();
});

interface Instance {
  redis: SharedRedis;
  limiter: Limiter;
  log: ReturnType<typeof createCapturedLog>;
  /** Events of the breaker so far. */
  turns(): string[];
}

async function openInstance(options: RedisOptions = patient, { port }: { port: number } = proxy): Promise<Instance> {
  const log = createCapturedLog();
  const redis = await openRedis(server.url.replace(String(server.port), String(port)), log, options);
  opened.push(redis);
  const limiter = createRedisLimiter({ redis, fallback: createMemoryLimiter({ clock: systemClock }) });
  const turns = () => log.events.map(({ event }) => /is (away|back)/.exec(event)?.[1] ?? event);
  return { redis, limiter, log, turns };
}

async function admittedOf(limiter: Limiter, count: number, subject = "192.0.2.1"): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: count }, () => limiter.admit(rule, subject)));
  return verdicts.filter(({ isAdmitted }) => isAdmitted).length;
}

/** How often Redis has carried out the command. */
async function callsOf(command: string): Promise<number> {
  const statistics: string = await client.send("INFO", ["commandstats"]);
  const line = statistics.split("\r\n").find((text) => text.startsWith(`cmdstat_${command}:`));
  return Number(/calls=(\d+)/.exec(line ?? "")?.[1] ?? 0);
}

test("a killed Redis: each instance limits by itself at once, and shares again once it is back, scripts lost", async () => {
  const [one, other] = [await openInstance(), await openInstance()];
  expect(await admittedOf(one.limiter, 3)).toBe(3);
  expect(await admittedOf(other.limiter, 3)).toBe(2);
  await server.kill();
  await eventually(() => one.redis.isLocal && other.redis.isLocal);
  // What Redis had admitted is not known here: N instances admit N times the limit.
  for (const { limiter } of [one, other]) expect(await admittedOf(limiter, 8)).toBe(5);
  await server.start();
  await eventually(() => !one.redis.isLocal && !other.redis.isLocal);
  expect(await admittedOf(one.limiter, 4)).toBe(4);
  expect(await admittedOf(other.limiter, 4)).toBe(1);
  for (const { turns, log } of [one, other]) {
    expect(turns()).toEqual(["away", "back"]);
    expect(log.events[0]?.fields).toMatchObject({ server: `127.0.0.1:${proxy.port}`, reason: "connection closed" });
    expect(JSON.stringify(log.events)).not.toContain(password);
  }
});

test("Redis that swallows what it is sent: 32 callers get their verdict, those after them without asking it", async () => {
  const { redis, limiter, turns, log } = await openInstance({ commandMs: 1_000 });
  await proxy.set("swallow");
  expect(await admittedOf(limiter, 32)).toBe(5);
  expect(redis.isLocal).toBe(true);
  const swallowed = proxy.swallowedBytes;
  const sent = () => proxy.swallowedBytes - swallowed;
  const verdicts: string[] = [];
  for (let i = 0; i < 32; i++) verdicts.push(String((await limiter.admit(rule, `192.0.2.${i}`)).isAdmitted));
  expect(verdicts).toEqual(Array.from({ length: 32 }, (_, index) => String(index !== 1)));
  // A verdict of theirs would be a hundred bytes; the attempts to reach Redis again are a greeting each.
  expect(sent()).toBeLessThan(32 * 100);
  expect(log.events.map(({ fields }) => fields["reason"])).toEqual(["no answer within 1000 ms"]);
  await proxy.set("pass");
  await eventually(() => !redis.isLocal);
  expect(turns()).toEqual(["away", "back"]);
  expect(await admittedOf(limiter, 8, "198.51.100.1")).toBe(5);
});

test("nobody waits for Redis while it is away, and one attempt at a time is made to reach it", async () => {
  const { redis, limiter } = await openInstance();
  await proxy.set("hold");
  proxy.cut();
  await eventually(() => redis.isLocal);
  await eventually(() => proxy.openConnections === 1);
  // Each of these would wait for longer than the test.
  expect(await admittedOf(limiter, 50)).toBe(5);
  expect(proxy.openConnections).toBe(1);
  await proxy.set("pass");
  await eventually(() => !redis.isLocal);
  expect(await admittedOf(limiter, 8)).toBe(5);
  expect(proxy.openConnections).toBe(1);
});

test("Redis that is too slow is away, until it is quick enough again", async () => {
  const { redis, limiter, turns } = await openInstance({ commandMs: 100, connectMs: 60_000, maxPauseMs: 20 });
  // On the way there alone, longer than the deadline: no pause of this process can make the answer come in time.
  await proxy.set({ delayMs: 130 });
  expect(await admittedOf(limiter, 8)).toBe(5);
  expect(redis.isLocal).toBe(true);
  // Attempts connect and load the scripts, find it too slow, and leave again.
  const loaded = await callsOf("script|load");
  await eventually(async () => (await callsOf("script|load")) >= loaded + 2 * scripts.length);
  expect(redis.isLocal).toBe(true);
  await proxy.set("pass");
  await eventually(() => !redis.isLocal);
  expect(turns()).toEqual(["away", "back"]);
});

test("a process that was busy itself for longer than the deadline does not take Redis for lost", async () => {
  const { redis, limiter, log } = await openInstance({ commandMs: 200 }, server);
  // Not through the proxy, which is as busy: the answer arrives while this process sleeps.
  const asked = limiter.admit(rule, "192.0.2.1");
  await new Promise((resolve) => setImmediate(resolve));
  Bun.sleepSync(1000);
  expect((await asked).isAdmitted).toBe(true);
  expect(redis.isLocal).toBe(false);
  expect(log.events).toEqual([]);
  expect(await callsOf("evalsha")).toBeGreaterThan(0);
});

test("a lost connection that nobody uses is noticed before a visitor would wait for it", async () => {
  const { redis, log } = await openInstance({ commandMs: 1_000, heartbeatMs: 20 });
  await eventually(async () => (await callsOf("ping")) > 2);
  expect(redis.isLocal).toBe(false);
  await proxy.set("swallow");
  await eventually(() => redis.isLocal);
  expect(log.events.map(({ fields }) => fields["reason"])).toEqual(["no answer within 1000 ms"]);
});

test("connections that are cut: what was asked on them is judged here", async () => {
  const { redis, limiter } = await openInstance();
  await proxy.set("hold");
  const asked = admittedOf(limiter, 32);
  proxy.cut();
  expect(await asked).toBe(5);
  await proxy.set("pass");
  await eventually(() => !redis.isLocal);
  // What was held may not arrive at Redis either.
  expect(await admittedOf(limiter, 8)).toBe(5);
});

test("Redis that is full, or has become a replica, is away until it takes writes again", async () => {
  const { redis, limiter, log, turns } = await openInstance();
  await client.send("CONFIG", ["SET", "maxmemory", "1"]);
  expect(await admittedOf(limiter, 8)).toBe(5);
  expect(redis.isLocal).toBe(true);
  await client.send("CONFIG", ["SET", "maxmemory", "0"]);
  await eventually(() => !redis.isLocal);
  await client.send("REPLICAOF", ["127.0.0.1", "1"]);
  expect((await limiter.admit(rule, "192.0.2.9")).isAdmitted).toBe(true);
  expect(redis.isLocal).toBe(true);
  await client.send("REPLICAOF", ["NO", "ONE"]);
  await eventually(() => !redis.isLocal);
  expect(turns()).toEqual(["away", "back", "away", "back"]);
  expect(log.events.map(({ fields }) => fields["reason"])).toEqual(["OOM", undefined, "READONLY", undefined]);
});

test("a key that something else has written is no error for the visitor", async () => {
  const { limiter } = await openInstance();
  await client.send("LPUSH", ["companiond:ip:5:600000:192.0.2.1", "x"]);
  expect((await limiter.admit(rule, "192.0.2.1")).isAdmitted).toBe(true);
});

test("the gauge tells whether this instance counts on its own", async () => {
  const { redis } = await openInstance();
  const [gauge] = redis.probes;
  expect(gauge).toMatchObject({ name: "companiond_limits_local" });
  expect(await gauge?.read()).toBe(0);
  await proxy.set("refuse");
  proxy.cut();
  await eventually(() => redis.isLocal);
  expect(await gauge?.read()).toBe(1);
});

test("after the end nothing is asked or logged any more, and verdicts go on", async () => {
  const { redis, limiter, log } = await openInstance();
  const before = await callsOf("evalsha");
  redis.close();
  expect(await admittedOf(limiter, 8)).toBe(5);
  expect(await callsOf("evalsha")).toBe(before);
  await eventually(() => proxy.openConnections === 0);
  expect(log.events).toEqual([]);
});

test("failed sign-ins are counted here while Redis is away; taking back and forgetting never fail", async () => {
  const { redis } = await openInstance();
  const fallback = createSignInFailures(systemClock);
  const failures = createRedisSignInFailures({ redis, fallback });
  const shared = await failures.add("account", "jo@example.com");
  await proxy.set("refuse");
  proxy.cut();
  await eventually(() => redis.isLocal);
  shared.takeBack();
  expect((await failures.add("account", "jo@example.com")).count).toBe(1);
  expect(await failures.addUnlessWaiting("account", "jo@example.com", 1)).toHaveProperty("waitMs");
  const local = await failures.add("account", "jo@example.com");
  expect(local.count).toBe(2);
  await proxy.set("pass");
  await eventually(() => !redis.isLocal);
  // It was noted here, and is taken back here.
  local.takeBack();
  expect(await fallback.count("account", "jo@example.com")).toBe(1);
  expect(await failures.count("account", "jo@example.com")).toBe(1);
  failures.clear("account", "jo@example.com");
  await eventually(async () => (await failures.count("account", "jo@example.com")) === 0);
  expect(await fallback.count("account", "jo@example.com")).toBe(0);
});
