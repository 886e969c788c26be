/** What an operator is told who starts with a Redis that cannot be used, and what `doctor` says of one that can. */
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { RedisClient } from "bun";
import { checkRedis, findUnfit, openRedis, readServerInfo } from "../../../src/engines/redis/open.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startRedisServer } from "../../support/redis-server.ts";

const password = "p%ss/w:rd that is kept secret";
const log = createCapturedLog();
afterEach(() => {
  expect(log.events).toEqual([]);
});

/** The sentence with which the start ends; nothing in it or behind it may hold a password. */
async function refusalOf(url: string): Promise<string> {
  const error = await openRedis(url, log).then(
    (redis) => redis.close(),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("it was not refused");
  expect(error).toMatchObject({ name: "AppError", code: "unavailable" });
  // The driver's own words would contradict the sentence: to it, everything is a closed connection.
  expect(error.cause).toBeUndefined();
  expect(Bun.inspect(error, { depth: 10 })).not.toContain(new URL(url).password || password);
  expect(Bun.inspect(error, { depth: 10 })).not.toContain(password);
  return error.message;
}

test("a wrong password and none are told apart", async () => {
  await using server = await startRedisServer({ password });
  const place = `REDIS_URL: 127.0.0.1:${server.port}`;
  expect(await refusalOf(`redis://:wrong-password@127.0.0.1:${server.port}`)).toBe(
    `${place} refuses the user name or password in it.`,
  );
  expect(await refusalOf(`redis://127.0.0.1:${server.port}`)).toBe(`${place} requires a password, and it has none.`);
  const redis = await openRedis(server.url, log);
  expect(redis.isLocal).toBe(false);
  redis.close();
});

test("a user who lacks rights is told which", async () => {
  await using server = await startRedisServer();
  const client = new RedisClient(server.url);
  await client.send("ACL", ["SETUSER", "limited", "on", ">some-password", "~companiond:*", "+ping", "+hello", "+info"]);
  expect(await refusalOf(`redis://limited:some-password@127.0.0.1:${server.port}`)).toContain("EVALSHA");
  const commands = ["+script|load", "+eval", "+evalsha", "+get", "+set", "+del", "+time"];
  await client.send("ACL", ["SETUSER", "limited", ...commands]);
  client.close();
  const redis = await openRedis(`redis://limited:some-password@127.0.0.1:${server.port}`, log);
  expect(redis.isLocal).toBe(false);
  redis.close();
});

test("a port where nothing listens, and a name without address", async () => {
  const port = findFreePort();
  expect(await refusalOf(`redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`)).toBe(
    `REDIS_URL: 127.0.0.1:${port} cannot be reached: nothing listens there.`,
  );
  expect(await refusalOf("redis://redis.invalid")).toBe(
    "REDIS_URL: redis.invalid:6379 cannot be reached: its name has no address.",
  );
});

test("a server that is silent, and one that does not speak TLS", async () => {
  await using plain = await startRedisServer();
  await using silent = await startFaultProxy(plain.port);
  await silent.set("swallow");
  const [first, second] = await Promise.all([
    refusalOf(`redis://127.0.0.1:${silent.port}`),
    refusalOf(`rediss://127.0.0.1:${plain.port}`),
  ]);
  expect(first).toBe(`REDIS_URL: 127.0.0.1:${silent.port} accepts connections, but does not answer.`);
  expect(second).toContain("does not speak TLS");
});

test("a server that is something else", async () => {
  await using website = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
  expect(await refusalOf(`redis://127.0.0.1:${website.port}`)).toBe(
    `REDIS_URL: 127.0.0.1:${website.port} is not Redis: something else listens there.`,
  );
});

test("no TLS where it is expected, and a certificate that is not trusted", async () => {
  await using secured = await startRedisServer({ password, isTls: true });
  expect(await refusalOf(secured.url.replace("rediss:", "redis:"))).toContain("does it expect TLS (rediss://)?");
  expect(await refusalOf(secured.url)).toContain("has a TLS certificate that is not trusted");
});

const fixtures = join(import.meta.dir, "../../fixtures/tls");

/** What the check says in a process that trusts the certificate, as an operator arranges it. */
async function checkTrusting(certificate: string, url: string): Promise<string> {
  const script = `
    const { checkRedis } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/engines/redis/open.ts"))});
    await checkRedis(process.env.URL).then(({ server }) => console.log(server), ({ message }) => console.log(message));`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { NODE_EXTRA_CA_CERTS: join(fixtures, certificate), URL: url },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await new Response(child.stdout).text()).trim();
}

test("TLS with an authority of one's own, and with a certificate for another name", async () => {
  await using secured = await startRedisServer({ password, isTls: true });
  expect(await checkTrusting("one.cert.pem", secured.url)).toStartWith("Redis 7.");
  const forLocalhost = ["--tls-cert-file", join(fixtures, "cert.pem"), "--tls-key-file", join(fixtures, "key.pem")];
  await using named = await startRedisServer({ isTls: true, settings: forLocalhost });
  expect(await checkTrusting("cert.pem", named.url.replace("127.0.0.1", "localhost"))).toStartWith("Redis 7.");
  expect(await checkTrusting("cert.pem", named.url)).toBe(
    `REDIS_URL: 127.0.0.1:${named.port} has a TLS certificate for another name.`,
  );
});

test("a cluster, a replica, a server without memory, and a database that it does not have", async () => {
  // By default its second port is one that the system gives to outgoing connections.
  const clusterPort = String(findFreePort());
  await using cluster = await startRedisServer({
    settings: ["--cluster-enabled", "yes", "--cluster-port", clusterPort],
  });
  expect(await refusalOf(cluster.url)).toContain("is part of a Redis Cluster, which cannot be used.");
  await using replica = await startRedisServer({ settings: ["--replicaof", "127.0.0.1 1"] });
  expect(await refusalOf(replica.url)).toContain("is a replica, which takes no writes.");
  await using full = await startRedisServer({ settings: ["--maxmemory", "1"] });
  expect(await refusalOf(full.url)).toBe(`REDIS_URL: 127.0.0.1:${full.port} is out of memory and refuses writes.`);
  expect(await refusalOf(`redis://127.0.0.1:${full.port}/99`)).toContain("has no database of the number");
});

test.each([
  ["redis_version:6.2.14\r\nredis_mode:standalone", "is Redis 6.2.14. It must be Redis 7 or later, or Valkey."],
  ["# Server\r\nredis_version:7.0.15", null],
  ["redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\ncluster_enabled:0\r\nrole:master", null],
  ["nothing that is known", "is Redis . It must be Redis 7 or later, or Valkey."],
])("a server that says %j of itself", (text, problem) => {
  expect(findUnfit(readServerInfo(text))).toBe(problem);
});

test("Valkey is called by its own name", () => {
  expect(readServerInfo("redis_version:7.2.4\r\nvalkey_version:8.0.1").server).toBe("Valkey 8.0.1");
});

test("the check tells version and round trip, and warns where windows may be evicted", async () => {
  await using server = await startRedisServer({ password });
  const client = new RedisClient(server.url);
  const warningOf = async (policy: string, maxMemory: string) => {
    await client.send("CONFIG", ["SET", "maxmemory-policy", policy]);
    await client.send("CONFIG", ["SET", "maxmemory", maxMemory]);
    const { server: name, roundTripMs, warning } = await checkRedis(server.url);
    expect(name).toMatch(/^Redis \d+\.\d+\.\d+$/);
    expect(roundTripMs).toBeGreaterThan(0);
    return warning;
  };
  expect(await warningOf("allkeys-lru", "0")).toBeNull();
  expect(await warningOf("noeviction", "100mb")).toBeNull();
  expect(await warningOf("volatile-ttl", "100mb")).toBeNull();
  expect(await warningOf("allkeys-lru", "100mb")).toContain("maxmemory-policy allkeys-lru");
  expect(await client.send("DBSIZE", [])).toBe(0);
  client.close();
});
