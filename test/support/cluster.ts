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
import { type Instance, type InstanceName, openInstance } from "./cluster-instance.ts";
import { ClusterLedger } from "./cluster-ledger.ts";
import { type ClusterModel, startClusterModel } from "./cluster-model.ts";
import { startClusterProxy } from "./cluster-proxy.ts";
import type { LedgerCompanion } from "./cluster-stored.ts";
import { eventually } from "./eventually.ts";
import { runExecutable } from "./executable.ts";
import type { NetworkNamespace } from "./network-namespace.ts";
import { type PostgresServer, startPostgresServer } from "./postgres-server.ts";
import { hasEnded } from "./processes.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";
import { temporaryDirectory } from "./temporary.ts";

export interface ClusterPeople {
  visitorsUrl(): string;
  teamUrl(): string;
  readonly key: string;
  readonly companion: LedgerCompanion;
}

export interface Cluster extends AsyncDisposable {
  /** What nginx has printed, for failing tests. */
  nginxOutput(): string;
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
  /** A companion whose conversations people may take; visitors and the team come through nginx. */
  openPeople(handoff: object): Promise<ClusterPeople>;
  /** Both servers running, undisturbed lines, and all instances running and ready. */
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
  "companions:read,companions:write,conversations:read,conversations:write,conversations:reply,usage:read,keys:read,keys:write,audit:read";

export interface ClusterOptions {
  /** For all instances. */
  env?: Readonly<Record<string, string>>;
  /** Where instance c runs; by default beside the others. */
  network?: NetworkNamespace;
}

export async function startCluster({ env = {}, network }: ClusterOptions = {}): Promise<Cluster> {
  await using undo = new AsyncDisposableStack();
  const model = undo.use(await startClusterModel());
  const address = network?.cuttable.here;
  const postgres = undo.use(await startPostgresServer({ isDurable: true, address }));
  const settings = address === undefined ? [] : ["--bind", "127.0.0.1", address, "--protected-mode", "no"];
  const redis = undo.use(await startRedisServer({ settings }));
  const database = await postgres.createDatabase();
  const home = undo.use(temporaryDirectory());
  const secretKey = crypto.getRandomValues(Buffer.alloc(32)).toString("base64");
  const direct = { DATABASE_URL: database.url, REDIS_URL: redis.url, COMPANIOND_SECRET_KEY: secretKey };

  async function runJson(...words: string[]): Promise<Record<string, string>> {
    const command = [...words, "--data-dir", home.file("commands"), "--json"];
    const { exitCode, stdout, stderr } = await runExecutable(command, { env: direct });
    if (exitCode !== 0) throw new Error(`companiond ${words.join(" ")}: ${stderr}`);
    return JSON.parse(stdout);
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

  const open = (name: InstanceName, place: NetworkNamespace | null) => {
    const provider = { OPENAI_BASE_URL: model.baseUrl(name), OPENAI_API_KEY: "sk-of-the-operator" };
    const environment = { ...limits, ...direct, ...provider, COMPANIOND_TRUST_PROXY: "1", ...env };
    return openInstance(name, { dataDir: home.file(name), environment, network: place }, undo);
  };
  const [a, b, c] = await Promise.all([open("a", null), open("b", null), open("c", network ?? null)]);
  const all = [a, b, c];
  const proxy = undo.use(await startClusterProxy(all.map(({ url }) => new URL(url).host)));
  const stack = undo.move();
  return {
    url: proxy.url,
    nginxOutput: () => proxy.output(),
    instances: { a, b, c },
    all,
    postgres,
    redis,
    model,
    api: (url = proxy.url, plan = "free") => apiClient(url, keys.get(plan) ?? null),
    runJson,
    openLedger: async (plan = "free") => new ClusterLedger(model, await createCompanion(plan)),
    async openPeople(handoff) {
      const companion = await createCompanion("free");
      const key = keys.get("free") ?? "";
      const { status, text } = await apiClient(a.url, key).call("PATCH", `/api/companions/${companion.id}`, {
        handoff,
      });
      if (status !== 200) throw new Error(`the companion's handoff was answered ${status}: ${text}`);
      return { visitorsUrl: () => proxy.url, teamUrl: () => proxy.url, key, companion };
    },
    async mend() {
      for (const one of [postgres, redis]) if (hasEnded(one.pid)) await one.start();
      for (const { database, redis } of all) await Promise.all([database.set("pass"), redis.set("pass")]);
      for (const instance of all) {
        if (hasEnded(instance.server.pid)) await instance.start();
        await eventually(() => instance.isReady(), { what: `instance ${instance.name} is ready` });
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
