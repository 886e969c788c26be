/** One instance of a cluster's tests: the executable, with lines of its own to PostgreSQL and Redis. */
import { type RunningExecutable, startExecutable } from "./executable.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { findFreePort } from "./free-port.ts";
import type { NetworkNamespace } from "./network-namespace.ts";

export const instanceNames = ["a", "b", "c"] as const;
export type InstanceName = (typeof instanceNames)[number];

export interface Instance {
  readonly name: InstanceName;
  /** Its own address, past nginx. */
  readonly url: string;
  /** The process that runs, or ran last. */
  readonly server: RunningExecutable;
  /** Its lines to the servers; unused by one in a network of its own. */
  readonly database: FaultProxy;
  readonly redis: FaultProxy;
  kill(): Promise<void>;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
  /** On the same port, after `kill` or `stop`. */
  start(): Promise<void>;
  isReady(): Promise<boolean>;
}

export interface InstanceOptions {
  dataDir: string;
  /** With the URLs of the servers themselves. */
  environment: Readonly<Record<"DATABASE_URL" | "REDIS_URL" | "OPENAI_BASE_URL", string>> &
    Readonly<Record<string, string>>;
  /** Where it runs; by default on this machine. */
  network: NetworkNamespace | null;
}

/** Ends with `undo`. */
export async function openInstance(
  name: InstanceName,
  { dataDir, environment, network }: InstanceOptions,
  undo: AsyncDisposableStack,
): Promise<Instance> {
  const { DATABASE_URL, REDIS_URL, OPENAI_BASE_URL } = environment;
  const database = undo.use(await startFaultProxy(portOf(DATABASE_URL)));
  const redis = undo.use(await startFaultProxy(portOf(REDIS_URL)));
  const here = { args: [], env: { DATABASE_URL: via(DATABASE_URL, database), REDIS_URL: via(REDIS_URL, redis) } };
  const place = network === null ? here : await placeIn(network, environment, OPENAI_BASE_URL, undo);
  const port = findFreePort();
  const servers: RunningExecutable[] = [];
  const start = async () => {
    const server = await startExecutable({ ...place, port, dataDir, env: { ...environment, ...place.env } });
    servers.push(server);
    return server;
  };
  undo.defer(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  let server = await start();
  const { url } = server;
  return {
    name,
    url,
    get server() {
      return server;
    },
    database,
    redis,
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

/** PostgreSQL and Redis over the line that can be cut; visitors and the model over the other. */
async function placeIn(
  { enter, cuttable, lasting }: NetworkNamespace,
  environment: InstanceOptions["environment"],
  modelUrl: string,
  undo: AsyncDisposableStack,
): Promise<{ args: string[]; enter: readonly string[]; env: Record<string, string> }> {
  const model = undo.use(await startFaultProxy(portOf(modelUrl), lasting.here));
  const at = (url: string) => {
    const changed = new URL(url);
    changed.hostname = cuttable.here;
    return changed.href;
  };
  const env = {
    DATABASE_URL: at(environment.DATABASE_URL),
    REDIS_URL: at(environment.REDIS_URL),
    OPENAI_BASE_URL: via(modelUrl, model).replace("127.0.0.1", lasting.here),
  };
  return { args: ["--host", lasting.there], enter, env };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function via(url: string, { port }: FaultProxy): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
