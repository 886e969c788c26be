/** The limiter in Redis: the contract, windows that instances share, and keys that are bounded, expire and keep no secret. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import type { RateRule } from "../../../src/contracts/limiter/limiter.ts";
import { createRedisLimiter } from "../../../src/engines/redis/limiter.ts";
import { testLimiterContract } from "../../contracts/limiter.ts";
import { eventually } from "../../support/eventually.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { noLimiter, openSharedRedis } from "../../support/shared-redis.ts";

let server: RedisServer;
let client: RedisClient;
beforeAll(async () => {
  server = await startRedisServer();
  client = new RedisClient(server.url);
});
afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

const minuteMs = 60_000;
const byIp: RateRule = { name: "ip", limit: 10, windowMs: minuteMs };
const byToken: RateRule = { name: "token", limit: 30, windowMs: minuteMs };

for (const [engine, maxString] of [
  ["redis", 1000],
  ["redis, windows with high limits", 0],
] as const) {
  testLimiterContract(engine, async (clock) => {
    await client.send("FLUSHALL", []);
    const redis = await openSharedRedis(server.url);
    const limiter = createRedisLimiter({ redis, fallback: noLimiter, clock, maxString });
    return {
      isRemote: limiter.isRemote,
      admit: (rule, subject) => limiter.admit(rule, subject),
      admitAll: (places) => limiter.admitAll(places),
      admitInTurn: (...asked) => limiter.admitInTurn(...asked),
      admitUpTo: (...asked) => limiter.admitUpTo(...asked),
      close: () => redis.close(),
    };
  });
}

describe("the limiter in Redis", () => {
  const opened: { close(): void }[] = [];
  async function open(clock?: ReturnType<typeof createManualClock>, maxString = 1000) {
    const redis = await openSharedRedis(server.url);
    opened.push(redis);
    return createRedisLimiter({ redis, fallback: noLimiter, maxString, ...(clock === undefined ? {} : { clock }) });
  }
  beforeEach(() => client.send("FLUSHALL", []));
  afterAll(() => {
    for (const redis of opened) redis.close();
  });

  const allKeys = async (): Promise<string[]> => await client.send("KEYS", ["*"]);

  test("admits exactly the limit of 200 that ask at once at two instances", async () => {
    const limiters = [await open(), await open()] as const;
    for (const subject of ["192.0.2.1", "emb_0123456789abcdefghijABCDEFGHIJ01"]) {
      const verdicts = await Promise.all(
        Array.from({ length: 200 }, (_, index) => limiters[index % 2 === 0 ? 0 : 1].admit(byToken, subject)),
      );
      expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(30);
      const left = verdicts.filter(({ isAdmitted }) => isAdmitted).map(({ remaining }) => remaining);
      expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: 30 }, (_, index) => 29 - index));
    }
  });

  test("takes one command for all the windows of a request, and for up to 32 requests of one turn of the event loop", async () => {
    const limiter = await open();
    const places = [
      { rule: byIp, subject: "2001:db8::/64" },
      { rule: { ...byIp, limit: 40 }, subject: "2001:db8::/56" },
      { rule: { ...byIp, limit: 160 }, subject: "2001:db8::/48" },
    ] as const;
    await client.send("CONFIG", ["RESETSTAT"]);
    for (let i = 0; i < 5; i++) expect((await limiter.admitAll(places)).remaining).toBe(9 - i);
    const statistics: string = await client.send("INFO", ["commandstats"]);
    expect(statistics).toContain("cmdstat_evalsha:calls=5,");
    expect(statistics).not.toContain("cmdstat_eval:");
    expect(await allKeys()).toHaveLength(3);
    await limiter.admitInTurn(places, { rule: byToken, subject: "token" });
    expect(await client.send("INFO", ["commandstats"])).toContain("cmdstat_evalsha:calls=6,");
    const together = await Promise.all(Array.from({ length: 40 }, () => limiter.admitAll(places)));
    expect(together.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, ...Array(36).fill(0)]);
    expect(await client.send("INFO", ["commandstats"])).toContain("cmdstat_evalsha:calls=8,");
  });

  test("goes on when Redis has forgotten the script", async () => {
    const limiter = await open();
    await limiter.admit(byIp, "192.0.2.1");
    await client.send("SCRIPT", ["FLUSH"]);
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.admit(byIp, "192.0.2.1")));
    expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(9);
  });

  test("keeps no more times than the limit, and no key for longer than its window", async () => {
    const clock = createManualClock();
    const [limiter, ticking] = [await open(), await open(clock)];
    for (let i = 0; i < 25; i++) {
      await ticking.admit(byToken, "192.0.2.7");
      clock.advance(30_000);
    }
    const [key = ""] = await allKeys();
    expect(await client.send("STRLEN", [key])).toBe(12);
    for (let i = 0; i < 50; i++) await limiter.admit(byIp, "192.0.2.1");
    expect(await client.send("STRLEN", ["companiond:ip:10:60000:192.0.2.1"])).toBe(60);
    const leftMs = Number(await client.send("PTTL", ["companiond:ip:10:60000:192.0.2.1"]));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(minuteMs);
  });

  test("leaves nothing behind once a window is over by Redis' own clock, and admits again", async () => {
    const limiter = await open();
    const short: RateRule = { name: "ip", limit: 2, windowMs: 40 };
    await limiter.admit(short, "192.0.2.1");
    await eventually(async () => Number(await client.send("DBSIZE", [])) === 0);
    const again = await limiter.admit(short, "192.0.2.1");
    expect(again).toEqual({ isAdmitted: true, rule: short, remaining: 1, resetMs: 40 });
  });

  test("shows addresses in its keys, and neither tokens nor e-mail addresses", async () => {
    const limiter = await open();
    for (const subject of [
      "192.0.2.1",
      "2001:db8::/56",
      "emb_0123456789abcdefghijABCDEFGHIJ01",
      "jo@example.com",
      "cafe",
    ])
      await limiter.admit(byIp, subject);
    const names = (await allKeys()).map((key) => key.replace("companiond:ip:10:60000:", ""));
    expect(names.filter((name) => !name.startsWith("#")).sort()).toEqual(["192.0.2.1", "2001:db8::/56"]);
    expect(names.filter((name) => /^#[\w-]{22}$/.test(name))).toHaveLength(3);
  });

  test.each([1000, 0])("neither admits nor makes wait longer when Redis' clock is set back (%p)", async (maxString) => {
    const clock = createManualClock();
    clock.advance(10 * minuteMs);
    const limiter = await open(clock, maxString);
    const rule: RateRule = { name: "ip", limit: 3, windowMs: minuteMs };
    for (let i = 0; i < 3; i++) {
      await limiter.admit(rule, "192.0.2.1");
      clock.advance(10_000);
    }
    clock.advance(-5 * minuteMs);
    // The newest counts as of now: the others keep their distance from it.
    expect(await limiter.admit(rule, "192.0.2.1")).toMatchObject({ isAdmitted: false, resetMs: 40_000 });
    clock.advance(39_999);
    expect(await limiter.admit(rule, "192.0.2.1")).toMatchObject({ isAdmitted: false, resetMs: 1 });
    clock.advance(1);
    expect(await limiter.admit(rule, "192.0.2.1")).toMatchObject({ isAdmitted: true, remaining: 0, resetMs: 10_000 });
  });
});
