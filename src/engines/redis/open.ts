/** Opens Redis at the start, and checks it for `doctor`: what is wrong there is a sentence that names `REDIS_URL`. */
import { AppError } from "../../domain/errors.ts";
import type { Log } from "../../lib/log.ts";
import { addressOf, nameOf } from "./address.ts";
import { defaultTimes, guardConnection, prepare, type RedisTimes, type SharedRedis } from "./breaker.ts";
import { RedisConnection } from "./connection.ts";
import { explainFailure } from "./explain-failure.ts";

export interface RedisCheck {
  /** Such as `Redis 7.0.15` or `Valkey 8.0.1`. */
  readonly server: string;
  /** The quickest of a few. */
  readonly roundTripMs: number;
  /** A sentence for the operator if windows may be lost to make room; null if they may not. */
  readonly warning: string | null;
}

/** What replaces the default times, in tests. */
export type RedisOptions = Partial<RedisTimes>;

/**
 * Connects, and resolves within 10 s. Throws `unavailable` if the server cannot be reached, refuses the user or TLS, is too
 * old, a cluster, or takes no writes. The sentence names host and port, never the password. Once this has resolved,
 * failures of Redis are no errors any more: its instance counts on its own until Redis is back.
 */
export async function openRedis(url: string, log: Log, options: RedisOptions = {}): Promise<SharedRedis> {
  const { connection } = await connect(url);
  return guardConnection(url, connection, log, { ...defaultTimes, ...options });
}

/** Connects, checks, and closes again. Throws as `openRedis` does. */
export async function checkRedis(url: string): Promise<RedisCheck> {
  const { connection, info } = await connect(url);
  try {
    return { server: info.server, roundTripMs: await measureRoundTrip(connection), warning: riskOf(info) };
  } catch (cause) {
    throw await unavailable(url, cause);
  } finally {
    connection.close();
  }
}

/** For all steps together: a server may be slow at first. From then on, the deadline of commands holds. */
const startMs = 4000;

async function connect(url: string): Promise<{ connection: RedisConnection; info: ServerInfo }> {
  const untilMs = performance.now() + startMs;
  const leftMs = () => untilMs - performance.now();
  let connection: RedisConnection | null = null;
  try {
    connection = await RedisConnection.open(url, startMs);
    const info = readServerInfo(String(await connection.send("INFO", [], leftMs())));
    const problem = findUnfit(info);
    if (problem !== null) throw new AppError("unavailable", `REDIS_URL: ${nameOf(addressOf(url))} ${problem}`);
    await prepare(connection, { connectMs: leftMs() / 2, commandMs: leftMs() / 2 });
    return { connection, info };
  } catch (error) {
    connection?.close();
    throw error instanceof AppError ? error : await unavailable(url, error);
  }
}

async function unavailable(url: string, cause: unknown): Promise<AppError> {
  const sentence = await explainFailure(url, cause);
  return new AppError("unavailable", `REDIS_URL: ${nameOf(addressOf(url))} ${sentence}`);
}

async function measureRoundTrip(connection: RedisConnection): Promise<number> {
  let quickestMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    const startedMs = performance.now();
    await connection.send("PING", [], startMs / 5);
    quickestMs = Math.min(quickestMs, performance.now() - startedMs);
  }
  return quickestMs;
}

interface ServerInfo {
  /** Name and version for people. */
  readonly server: string;
  /** The version of Redis that it is, or is compatible with. */
  readonly majorVersion: number;
  readonly isCluster: boolean;
  readonly isReplica: boolean;
  /** In bytes; 0 is no limit. */
  readonly maxMemory: number;
  readonly evictionPolicy: string;
}

/** `text`: lines of `name:value`. */
export function readServerInfo(text: string): ServerInfo {
  const values = new Map(text.split(/\r?\n/).map((line) => [line.split(":", 1)[0], line.slice(line.indexOf(":") + 1)]));
  const version = values.get("redis_version") ?? "";
  const valkeyVersion = values.get("valkey_version");
  return {
    server: valkeyVersion === undefined ? `Redis ${version}` : `Valkey ${valkeyVersion}`,
    majorVersion: Number.parseInt(version, 10) || 0,
    isCluster: values.get("cluster_enabled") === "1",
    isReplica: values.get("role") === "slave",
    maxMemory: Number(values.get("maxmemory") ?? 0),
    evictionPolicy: values.get("maxmemory_policy") ?? "noeviction",
  };
}

const oldestVersion = 7;

/** The rest of a sentence that begins with the server's address; null if nothing is wrong. */
export function findUnfit({ server, majorVersion, isCluster, isReplica }: ServerInfo): string | null {
  if (majorVersion < oldestVersion) return `is ${server}. It must be Redis ${oldestVersion} or later, or Valkey.`;
  // Windows that are occupied together are keys of one script, which a cluster would put on different nodes.
  if (isCluster)
    return "is part of a Redis Cluster, which cannot be used. Name a single server, with or without replicas.";
  if (isReplica) return "is a replica, which takes no writes. Name its primary server.";
  return null;
}

/**
 * With a limit of memory and `allkeys-…`, Redis drops windows that are in use, also for the sake of other programs' keys.
 * `volatile-…` may do so where only keys that expire fill the memory, ours among them, but begins with those that matter
 * least (except `volatile-random`). With `noeviction` it refuses writes, and the instances count on their own.
 */
function riskOf({ maxMemory, evictionPolicy }: ServerInfo): string | null {
  if (maxMemory === 0 || !evictionPolicy.startsWith("allkeys-")) return null;
  return (
    `Redis evicts any key when its memory is full (maxmemory-policy ${evictionPolicy}): then limits admit more than they ` +
    "should. Set noeviction or volatile-ttl, or give companiond a Redis of its own."
  );
}
