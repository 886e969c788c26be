/**
 * Three instances of the executable behind nginx, on one PostgreSQL and one Redis, with a line of its own from each
 * instance to each of the two:
 *
 *     await using cluster = await startCluster();
 *     const ledger = await cluster.openLedger();
 *     await cluster.instances.a.database.set("swallow");
 *     await ledger.send(cluster.url, crypto.randomUUID());
 *     expect(await ledger.findFaults(cluster.api())).toEqual([]);
 */
import { type Plan, plans } from "../../src/domain/account.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { ClusterLedger, type LedgerCompanion } from "./cluster-ledger.ts";
import { type ClusterModel, startClusterModel } from "./cluster-model.ts";
import { startClusterProxy } from "./cluster-proxy.ts";
import { eventually } from "./eventually.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "./executable.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { findFreePort } from "./free-port.ts";
import { type PostgresServer, startPostgresServer } from "./postgres-server.ts";
import { hasEnded } from "./processes.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";
import { temporaryDirectory } from "./temporary.ts";

export const instanceNames = ["a", "b", "c"] as const;
export type InstanceName = (typeof instanceNames)[number];

export interface Instance {
  readonly name: InstanceName;
  /** Its own address, past nginx. */
  readonly url: string;
  /** The process that runs, or ran last. */
  readonly server: RunningExecutable;
  /** Its lines to the servers. */
  readonly database: FaultProxy;
  readonly redis: FaultProxy;
  kill(): Promise<void>;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
  /** On the same port, after `kill` or `stop`. */
  start(): Promise<void>;
  isReady(): Promise<boolean>;
}

export interface Cluster extends AsyncDisposable {
  /** nginx. */
  readonly url: string;
  readonly instances: Readonly<Record<InstanceName, Instance>>;
  readonly all: readonly Instance[];
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly model: ClusterModel;
  /** Calls the management API as the owner of all companions of this plan, by default through nginx. */
  api(url?: string, plan?: Plan): ApiClient;
  /** Runs a command on this database and returns its JSON. */
  runJson(...words: string[]): Promise<Record<string, string>>;
  /** Of a companion of its own. */
  openLedger(plan?: Plan): Promise<ClusterLedger>;
  /** Undisturbed lines, and all instances running and ready; the servers must run. */
  mend(): Promise<void>;
}

/** What one address may ask in a minute: a visitor of the ledger is at another one each time. */
export const requestsPerAddress = 30;

/** Messages of one companion a day, on the paid plan; on the free plan they are as good as unlimited. */
export const messagesPerPaidDay = 150;

const limits = {
  COMPANIOND_RATE_PER_IP: String(requestsPerAddress),
  COMPANIOND_STREAMS_PER_IP: "1000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000",
  COMPANIOND_RATE_PER_KEY: "1000000",
  COMPANIOND_DAILY_FREE: "1000000",
  COMPANIOND_DAILY_PAID: String(messagesPerPaidDay),
};

const scopes =
  "companions:read,companions:write,conversations:read,conversations:write,usage:read,keys:read,keys:write,audit:read";

/** `env` is for all instances. */
export async function startCluster({ env = {} }: { env?: Readonly<Record<string, string>> } = {}): Promise<Cluster> {
  await using undo = new AsyncDisposableStack();
  const model = undo.use(await startClusterModel());
  const postgres = undo.use(await startPostgresServer({ isDurable: true }));
  const redis = undo.use(await startRedisServer());
  const database = await postgres.createDatabase();
  const home = undo.use(temporaryDirectory());
  const secretKey = crypto.getRandomValues(Buffer.alloc(32)).toString("base64");
  const direct = { DATABASE_URL: database.url, REDIS_URL: redis.url, COMPANIOND_SECRET_KEY: secretKey };

  async function runJson(...words: string[]): Promise<Record<string, string>> {
    const options = { env: direct };
    const { exitCode, stdout, stderr } = await runExecutable(
      [...words, "--data-dir", home.file("commands"), "--json"],
      options,
    );
    if (exitCode !== 0) throw new Error(`companiond ${words.join(" ")}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async function openInstance(name: InstanceName): Promise<Instance> {
    const lines = {
      database: undo.use(await startFaultProxy(postgres.port)),
      redis: undo.use(await startFaultProxy(redis.port)),
    };
    const port = findFreePort();
    const through = (url: string, line: FaultProxy) => {
      const changed = new URL(url);
      changed.port = String(line.port);
      return changed.href;
    };
    const environment = {
      ...limits,
      ...direct,
      DATABASE_URL: through(database.url, lines.database),
      REDIS_URL: through(redis.url, lines.redis),
      OPENAI_BASE_URL: model.baseUrl(name),
      OPENAI_API_KEY: "sk-of-the-operator",
      COMPANIOND_TRUST_PROXY: "1",
      ...env,
    };
    const start = async () => undo.use(await startExecutable({ port, dataDir: home.file(name), env: environment }));
    let server = await start();
    const { url } = server;
    return {
      name,
      url,
      get server() {
        return server;
      },
      ...lines,
      kill: () => server.kill(),
      stop: () => server.stop(),
      async start() {
        server = await start();
      },
      async isReady() {
        const response = await fetch(`${url}/readyz`).catch(() => null);
        return response?.status === 200;
      },
    };
  }

  const emailOf = (plan: Plan) => `${plan}@shop.example`;
  const keys = new Map<Plan, string>();
  for (const plan of plans) {
    await runJson("account", "create", "--email", emailOf(plan), "--plan", plan);
    const made = await runJson("key", "create", "--account", emailOf(plan), "--name", "test", "--scopes", scopes);
    keys.set(plan, made["key"] ?? "");
  }

  async function createCompanion(plan: Plan): Promise<LedgerCompanion> {
    const made = await runJson("companion", "create", "--account", emailOf(plan), "--name", "Ada");
    return { id: made["id"] ?? "", token: made["embed_token"] ?? "" };
  }

  const [a, b, c] = await Promise.all([openInstance("a"), openInstance("b"), openInstance("c")]);
  const all = [a, b, c];
  const proxy = undo.use(await startClusterProxy(all.map(({ url }) => Number(new URL(url).port))));
  const stack = undo.move();
  return {
    url: proxy.url,
    instances: { a, b, c },
    all,
    postgres,
    redis,
    model,
    api: (url = proxy.url, plan = "free") => apiClient(url, keys.get(plan) ?? null),
    runJson,
    openLedger: async (plan = "free") => new ClusterLedger(model, await createCompanion(plan)),
    async mend() {
      for (const { database, redis } of all) await Promise.all([database.set("pass"), redis.set("pass")]);
      for (const instance of all) {
        if (hasEnded(instance.server.pid)) await instance.start();
        await eventually(() => instance.isReady(), { what: `instance ${instance.name} is ready` });
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
