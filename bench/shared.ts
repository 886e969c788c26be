/**
 * Turns and config requests by storage engine and number of servers: SQLite, and one to three servers on one PostgreSQL
 * and Redis. All run on the same two cores with the load, so only ratios say something, and several servers cannot be
 * faster here: their database has no machine of its own.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgresServer } from "../test/support/postgres-server.ts";
import { type RedisServer, startRedisServer } from "../test/support/redis-server.ts";
import { planMessage, type StreamPlan } from "./load/plan.ts";
import { anyCore, cpuSeconds, type Running, runClient, startProcess, startProvider } from "./load/processes.ts";
import { loads } from "./loads.ts";
import { executable, noLimits } from "./rivals/start.ts";
import { type Provider, toJob } from "./streams.ts";
import { runWrk } from "./wrk.ts";

export interface SharedRow {
  name: string;
  turnsPerSecond: number;
  /** CPU microseconds for each turn, of all servers together and of PostgreSQL. */
  serverMicros: number;
  databaseMicros: number;
  configsPerSecond: number;
  configMicros: number;
}

/** Visitors are spread over so many companions of different accounts. */
const companions = 4;
const rounds = 3;

/** The harness is pinned to the load's core, and what it starts with it. */
export function useAllCores(): void {
  Bun.spawnSync(["taskset", "-acp", anyCore, String(process.pid)]);
}

interface Setup {
  servers: Running[];
  paths: string[];
}

export async function measureShared(say: (sentence: string) => void): Promise<SharedRow[]> {
  useAllCores();
  await using postgres = await startPostgresServer({ isDurable: true });
  await using redis = await startRedisServer();
  const rows: SharedRow[] = [];
  for (const count of [0, 1, 2, 3]) {
    const name = count === 0 ? "SQLite" : `PostgreSQL, ${count} ${count === 1 ? "server" : "servers"}`;
    say(name);
    const provider = await startProvider();
    const setup = await start(count, provider, postgres, redis);
    try {
      rows.push({ name, ...(await measure(setup, provider, count === 0 ? null : postgres)) });
    } finally {
      for (const server of setup.servers) await server.stop();
      await provider.stop();
    }
  }
  return rows;
}

async function start(count: number, provider: Provider, postgres: PostgresServer, redis: RedisServer): Promise<Setup> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-bench-"));
  const shared: Record<string, string> =
    count === 0
      ? {}
      : {
          DATABASE_URL: (await postgres.createDatabase()).url,
          REDIS_URL: redis.url,
          COMPANIOND_SECRET_KEY: Buffer.alloc(32, 1).toString("base64"),
        };
  const environment = {
    ...noLimits,
    ...shared,
    COMPANIOND_DATA_DIR: dataDir,
    OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
    COMPANIOND_LOG: "warn",
  };
  const run = (...args: string[]) => {
    const result = Bun.spawnSync([executable, ...args, "--json"], { env: environment });
    if (result.exitCode !== 0) throw new Error(result.stderr.toString());
    return JSON.parse(result.stdout.toString());
  };
  const paths = Array.from({ length: companions }, (_, at) => {
    run("account", "create", "--email", `bench-${at}@example.com`);
    const made = run("companion", "create", "--account", `bench-${at}@example.com`, "--name", "Ada");
    return `/api/embed/${made.embed_token}`;
  });
  const servers: Running[] = [];
  for (let at = 0; at < Math.max(1, count); at++) {
    const log = join(dataDir, `log-${at}`);
    const logged = { ...environment, COMPANIOND_LOG: "info" };
    servers.push(await startProcess(anyCore, [executable, "serve", "--port", "0", "--json"], logged, log));
  }
  return { servers, paths };
}

async function measure(
  { servers, paths }: Setup,
  provider: Provider,
  postgres: PostgresServer | null,
): Promise<Omit<SharedRow, "name">> {
  const serverSeconds = () => servers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const databaseSeconds = () => (postgres === null ? 0 : cpuSeconds(postgres.pid));
  // The first is the warm-up.
  const figures: Omit<SharedRow, "name">[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = { servers: serverSeconds(), database: databaseSeconds(), atMs: performance.now() };
    const turns = await runTurns(servers, paths, provider);
    const seconds = (performance.now() - before.atMs) / 1000;
    const used = { servers: serverSeconds() - before.servers, database: databaseSeconds() - before.database };
    const configs = measureConfigs(servers[0] as Running, paths[0] ?? "/");
    figures.push({
      turnsPerSecond: turns / seconds,
      serverMicros: (used.servers * 1e6) / turns,
      databaseMicros: (used.database * 1e6) / turns,
      ...configs,
    });
  }
  return bestOf(figures.slice(1));
}

/** Visitors of each companion come to one server; each message begins a conversation. */
async function runTurns(servers: readonly Running[], paths: readonly string[], provider: Provider): Promise<number> {
  const load = { ...loads.request, visitors: 16, requests: 2_000 };
  const results = await Promise.all(
    paths.map((path, at) => {
      const server = servers[at % servers.length] as Running;
      const bodyFor = (plan: StreamPlan) => JSON.stringify({ message: planMessage(plan) });
      const contender = { ...server, name: "", chatPath: `${path}/chat`, headers: {}, bodyFor, configPath: path };
      return runClient(toJob(contender, provider, load));
    }),
  );
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${failed} turns failed`);
  return paths.length * load.requests;
}

function measureConfigs(server: Running, path: string): Pick<SharedRow, "configsPerSecond" | "configMicros"> {
  const before = cpuSeconds(server.pid);
  const wrk = runWrk(server.port, path, 2);
  if (wrk === null) throw new Error("needs wrk");
  const micros = ((cpuSeconds(server.pid) - before) * 1e6) / wrk.requests;
  return { configsPerSecond: wrk.perSecond, configMicros: micros };
}

/** Noise only adds. */
function bestOf(figures: readonly Omit<SharedRow, "name">[]): Omit<SharedRow, "name"> {
  const of = (name: keyof Omit<SharedRow, "name">) => figures.map((each) => each[name]);
  return {
    turnsPerSecond: Math.max(...of("turnsPerSecond")),
    serverMicros: Math.min(...of("serverMicros")),
    databaseMicros: Math.min(...of("databaseMicros")),
    configsPerSecond: Math.max(...of("configsPerSecond")),
    configMicros: Math.min(...of("configMicros")),
  };
}
