/** The compiled server with companions of several accounts, whose sources are added and waited for through the API. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planMessage, type StreamPlan } from "../load/plan.ts";
import { type Running, serverCore, startProcess } from "../load/processes.ts";
import { type Contender, executable, noLimits } from "../rivals/start.ts";

export interface SourceState {
  readonly id: string;
  readonly status: "queued" | "indexing" | "ready" | "failed";
  readonly chunks: number;
  readonly progress: { readonly done: number } | null;
}

export interface Owner {
  /** As the other servers of the benchmark are; every message begins with these words. */
  contender(words: string): Contender;
  /** JSON, or a form with a file. `id`: of the source whose content it replaces. */
  send(body: object | FormData, id?: string): Promise<SourceState>;
  look(id: string): Promise<SourceState>;
}

export interface KnowledgeServer extends Running {
  readonly owners: readonly Owner[];
}

/** An account with a companion each. */
export async function startKnowledgeServer(providerPort: number, accounts: number): Promise<KnowledgeServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-bench-"));
  const environment = {
    ...noLimits,
    COMPANIOND_RATE_PER_KEY: "1000000000",
    COMPANIOND_DATA_DIR: dataDir,
    COMPANIOND_PRIVATE_SOURCES: "127.0.0.0/8",
    OPENAI_BASE_URL: `http://127.0.0.1:${providerPort}/v1`,
    COMPANIOND_LOG: "warn",
  };
  const run = (...args: string[]) => {
    const result = Bun.spawnSync([executable, ...args, "--json"], { env: environment });
    if (result.exitCode !== 0) throw new Error(result.stderr.toString());
    return JSON.parse(result.stdout.toString());
  };
  const made = Array.from({ length: accounts }, (_, at) => {
    const account = ["--account", `bench-${at}@example.com`];
    run("account", "create", "--email", `bench-${at}@example.com`);
    const companion = run("companion", "create", ...account, "--name", "Ada");
    const { key } = run("key", "create", ...account, "--name", "bench", "--scopes", "knowledge:read,knowledge:write");
    return { companion, key: String(key) };
  });
  const command = [executable, "serve", "--port", "0", "--json"];
  const logged = { ...environment, COMPANIOND_LOG: "info" };
  const server = await startProcess(serverCore, command, logged, join(dataDir, "log"));
  return { ...server, owners: made.map(({ companion, key }) => toOwner(server, companion, key)) };
}

function toOwner(server: Running, companion: { id: string; embed_token: string }, key: string): Owner {
  const sources = `http://127.0.0.1:${server.port}/api/companions/${companion.id}/sources`;
  const path = `/api/embed/${companion.embed_token}`;

  async function call(url: string, method: string, body?: object | FormData): Promise<SourceState> {
    const isForm = body instanceof FormData;
    const headers = { authorization: `Bearer ${key}`, ...(!isForm && body && { "content-type": "application/json" }) };
    const sent = isForm ? body : JSON.stringify(body);
    const response = await fetch(url, { method, headers, ...(body && { body: sent }) });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    return (await response.json()) as SourceState;
  }

  return {
    contender: (words) => ({
      ...server,
      name: "companiond",
      chatPath: `${path}/chat`,
      headers: {},
      bodyFor: (plan: StreamPlan) => JSON.stringify({ message: `${words} ${planMessage(plan)}` }),
      configPath: path,
    }),
    send: (body, id) => (id === undefined ? call(sources, "POST", body) : call(`${sources}/${id}`, "PUT", body)),
    look: (id) => call(`${sources}/${id}`, "GET"),
  };
}

const lookEveryMs = 100;

/** Until it is ready, or failed, or nobody waits any more. */
export async function waitUntilRead(owner: Owner, id: string, signal?: AbortSignal): Promise<SourceState> {
  for (;;) {
    const state = await owner.look(id);
    if (state.status === "ready" || state.status === "failed" || signal?.aborted) return state;
    await Bun.sleep(lookEveryMs);
  }
}
