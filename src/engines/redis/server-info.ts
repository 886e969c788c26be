/** What the `INFO` of a Redis server says about whether, and how well, it can hold our windows. */

export interface ServerInfo {
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
 * least (except `volatile-random`). With `noeviction` it refuses writes, and the instances count by themselves.
 */
export function riskOf({ maxMemory, evictionPolicy }: ServerInfo): string | null {
  if (maxMemory === 0 || !evictionPolicy.startsWith("allkeys-")) return null;
  return (
    `Redis evicts any key when its memory is full (maxmemory-policy ${evictionPolicy}): then limits admit more than they ` +
    "should. Set noeviction or volatile-ttl, or give companiond a Redis of its own."
  );
}
