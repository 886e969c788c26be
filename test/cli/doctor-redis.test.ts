/** What doctor makes of a Redis (/usr/bin/redis-server), and of one that is not there. */
import { expect, test } from "bun:test";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { examineRedis } from "../../src/cli/doctor/small-checks.ts";
import { findFreePort } from "../support/free-port.ts";
import { startRedisServer } from "../support/redis-server.ts";

const database = { url: "postgres://db.example/companiond", pool: 10, poolHeavy: 4 };

async function examine(redisUrl: string | null): Promise<Finding> {
  const [finding, ...others] = await examineRedis({ database, redisUrl });
  if (finding === undefined || others.length > 0) throw new Error("there is not one finding");
  return finding;
}

test("says that there is none, and nothing at all where the database is a file", async () => {
  const none = { name: "redis", status: "ok", detail: expect.stringContaining("None"), is_off: true };
  expect(await examine(null)).toMatchObject(none);
  expect(await examineRedis({ database: null, redisUrl: null })).toEqual([]);
});

test("tells version and round trip of a good one", async () => {
  await using server = await startRedisServer({ password: "hunter2" });
  const { name, detail } = await examine(server.url);
  expect(name).toBe("redis");
  expect(detail).toMatch(/^Redis \d+\.\d+\.\d+ answers within \d+\.\d ms\.$/);
});

test("warns of one that drops keys when its memory is full", async () => {
  const settings = ["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"];
  await using server = await startRedisServer({ settings });
  expect(await examine(server.url)).toMatchObject({ status: "warn", advice: expect.stringContaining("allkeys-lru") });
});

test("says what is wrong with one that refuses or is not there, without the password", async () => {
  await using server = await startRedisServer({ password: "right" });
  const refused = await examine(server.url.replace("right", "hunter2"));
  const absent = await examine(`redis://:hunter2@127.0.0.1:${findFreePort()}`);
  expect([refused.status, absent.status]).toEqual(["fail", "fail"]);
  expect(refused.detail).toContain("refuses the user name or password");
  expect(absent.detail).toContain("nothing listens there");
  expect(JSON.stringify([refused, absent])).not.toContain("hunter2");
});

test("warns of a slow one", async () => {
  const slow = async () => ({ server: "Redis 7.0.15", roundTripMs: 31, warning: null });
  expect(await examineRedis({ database, redisUrl: "redis://far.example" }, slow)).toMatchObject([
    { status: "warn", detail: "Redis 7.0.15 answers within 31.0 ms." },
  ]);
});
