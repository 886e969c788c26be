/** Failed sign-ins in Redis: the contract, counts that instances share, and keys that expire and keep no secret. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import { createRedisSignInFailures } from "../../../src/engines/redis/sign-in-failures.ts";
import { testSignInFailuresContract } from "../../contracts/sign-in-failures.ts";
import { eventually } from "../../support/eventually.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { noSignInFailures, openSharedRedis } from "../../support/shared-redis.ts";

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

const opened: { close(): void }[] = [];
async function open(clock?: ManualClock) {
  const redis = await openSharedRedis(server.url);
  opened.push(redis);
  return createRedisSignInFailures({ redis, fallback: noSignInFailures, ...(clock === undefined ? {} : { clock }) });
}
beforeEach(() => client.send("FLUSHALL", []));
afterEach(() => {
  for (const redis of opened.splice(0)) redis.close();
});

testSignInFailuresContract("redis", open);

describe("failed sign-ins in Redis", () => {
  const hourMs = 60 * 60_000;

  test("are counted, made wait for, taken back and forgotten across instances", async () => {
    const [one, other] = [await open(), await open()];
    const failure = await one.add("account", "jo@example.com");
    expect((await other.add("account", "jo@example.com")).count).toBe(2);
    failure.takeBack();
    await eventually(async () => (await other.count("account", "jo@example.com")) === 1);
    const refused = await other.addUnlessWaiting("account", "jo@example.com", 1);
    if (!("waitMs" in refused)) throw new Error("nothing to wait for");
    expect(refused.waitMs).toBeWithin(1, 1001);
    one.clear("account", "jo@example.com");
    await eventually(async () => (await other.count("account", "jo@example.com")) === 0);
    expect(await client.send("DBSIZE", [])).toBe(0);
  });

  test("of many at once at two instances no more are noted than are free", async () => {
    const engines = [await open(), await open()] as const;
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => engines[index % 2 === 0 ? 0 : 1].addUnlessWaiting("client", "a", 5)),
    );
    expect(results.filter((result) => !("waitMs" in result))).toHaveLength(5);
  });

  test("of the same moment are taken back one by one, and leave the wait of the others", async () => {
    const clock = createManualClock();
    const failures = await open(clock);
    const [first] = [await failures.add("client", "a"), await failures.add("client", "a")];
    first.takeBack();
    expect(await failures.count("client", "a")).toBe(1);
    expect(await failures.addUnlessWaiting("client", "a", 1)).toEqual({ waitMs: 1000 });
  });

  test("wait no longer than they should when Redis' clock is set back", async () => {
    const clock = createManualClock();
    clock.advance(hourMs);
    const failures = await open(clock);
    await failures.add("client", "a");
    clock.advance(-hourMs / 2);
    expect(await failures.addUnlessWaiting("client", "a", 1)).toEqual({ waitMs: 1000 });
    clock.advance(999);
    expect(await failures.addUnlessWaiting("client", "a", 1)).toEqual({ waitMs: 1 });
    clock.advance(1);
    expect(await failures.addUnlessWaiting("client", "a", 1)).toMatchObject({ count: 2 });
  });

  test("are kept under a hash, and for an hour at most", async () => {
    const failures = await open();
    for (let i = 0; i < 3; i++) await failures.add("client", "192.0.2.1 jo@example.com");
    const keys: string[] = await client.send("KEYS", ["*"]);
    expect(keys).toEqual([expect.stringMatching(/^companiond:failures:client:#[\w-]{22}$/)]);
    const leftMs = Number(await client.send("PTTL", [keys[0] ?? ""]));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(hourMs);
  });

  test("go on when Redis has forgotten the scripts", async () => {
    const failures = await open();
    await failures.add("code", "a");
    await client.send("SCRIPT", ["FLUSH"]);
    expect((await failures.add("code", "a")).count).toBe(2);
    expect(await failures.count("code", "a")).toBe(2);
  });
});
