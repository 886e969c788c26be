/** Starts each server of the comparison, alike: pinned to the server's core, pointed at the provider, ready when it tells its port. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planMessage, type StreamPlan } from "../load/plan.ts";
import { pinned, type Running, serverCore, startProcess, stop } from "../load/processes.ts";

export interface Contender extends Running {
  name: string;
  /** Path of the chat route. */
  chatPath: string;
  /** Sent with every chat request beside the content type. */
  headers: Record<string, string>;
  /** The request body that asks for this plan. */
  bodyFor(plan: StreamPlan): string;
  /** Path that answers the companion's config, or the same bytes statically. */
  configPath: string | null;
}

const here = import.meta.dir;
const root = join(here, "../..");

const visitorBody = (plan: StreamPlan) => JSON.stringify({ message: planMessage(plan) });
const providerBody = (plan: StreamPlan) =>
  JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: planMessage(plan) }] });

/** Otherwise Bun's `fetch` would let 256 of 500 visitors wait for one another, and look cheaper for it. */
export const manyFetches = { BUN_CONFIG_MAX_HTTP_REQUESTS: "60000" };

export const noLimits = {
  COMPANIOND_RATE_PER_IP: "1000000000",
  COMPANIOND_STREAMS_PER_IP: "1000000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000000",
  COMPANIOND_DAILY_FREE: "1000000000",
};

/** What is measured, unless another build is named to compare it with. */
export const executable = process.env["BENCH_EXECUTABLE"] ?? join(root, "dist/companiond");

/** The same server, which asks the provider by its other API. */
export const responsesName = "companiond, Responses API";

/**
 * The compiled executable with everything on; limits are raised, not removed. `program` is what serves in its place, and
 * `build` what makes its database: a build refuses one of a later version.
 */
export async function startCompaniond(
  providerPort: number,
  program: readonly string[] = [executable],
  build = executable,
  api: "chat" | "responses" = "chat",
): Promise<Contender> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-bench-"));
  const environment = {
    ...noLimits,
    COMPANIOND_DATA_DIR: dataDir,
    OPENAI_BASE_URL: `http://127.0.0.1:${providerPort}/v1`,
    COMPANIOND_LOG: "warn",
    ...(api === "chat" ? {} : { COMPANIOND_LLM_API: api }),
  };
  const run = (...args: string[]) => {
    const result = Bun.spawnSync([build, ...args, "--json"], { env: environment });
    if (result.exitCode !== 0) throw new Error(result.stderr.toString());
    return JSON.parse(result.stdout.toString());
  };
  run("account", "create", "--email", "bench@example.com");
  const companion = run("companion", "create", "--account", "bench@example.com", "--name", "Ada");
  // As under a supervisor, the log goes to a file; into a pipe that nobody reads it would be tried again and again.
  const server = await startProcess(
    serverCore,
    [...program, "serve", "--port", "0", "--json"],
    { ...environment, COMPANIOND_LOG: "info" },
    join(dataDir, "log"),
  );
  const path = `/api/embed/${companion.embed_token}`;
  return {
    ...server,
    name: api === "chat" ? "companiond" : responsesName,
    chatPath: `${path}/chat`,
    headers: {},
    bodyFor: visitorBody,
    configPath: path,
  };
}

export async function startPassThrough(
  providerPort: number,
  environment: Record<string, string> = manyFetches,
): Promise<Contender> {
  const script = join(here, "pass-through.ts");
  const server = await startProcess(serverCore, ["bun", script, `http://127.0.0.1:${providerPort}`], environment);
  return {
    ...server,
    name: "pass-through",
    chatPath: "/chat",
    headers: {},
    bodyFor: visitorBody,
    configPath: "/static",
  };
}

export async function startBareRelay(providerPort: number): Promise<Contender> {
  const server = await startProcess(serverCore, ["bun", join(here, "bare-relay.ts"), String(providerPort)]);
  return {
    ...server,
    name: "bare relay",
    chatPath: "/chat",
    headers: {},
    bodyFor: visitorBody,
    configPath: null,
  };
}

export async function startNaiveElysia(
  providerPort: number,
  environment: Record<string, string> = manyFetches,
): Promise<Contender> {
  const script = join(here, "naive-elysia.ts");
  const server = await startProcess(serverCore, ["bun", script, `http://127.0.0.1:${providerPort}`], environment);
  return {
    ...server,
    name: "Elysia + SDK generator",
    chatPath: "/chat",
    headers: {},
    bodyFor: visitorBody,
    configPath: null,
  };
}

/** The provider itself, for what the way there and back takes without anything between. */
export function asContender(provider: Running): Contender {
  return {
    ...provider,
    name: "no server between",
    chatPath: "/v1/chat/completions",
    headers: {},
    bodyFor: providerBody,
    configPath: null,
  };
}

/** Debian's nginx, one worker, as a streaming reverse proxy and as a server of one static file; null where it is not installed. */
export async function startNginx(providerPort: number): Promise<Contender | null> {
  const nginx = Bun.which("nginx") ?? Bun.which("/usr/sbin/nginx");
  if (nginx === null) return null;
  const directory = mkdtempSync(join(tmpdir(), "companiond-bench-nginx-"));
  const port = await freePort();
  writeFileSync(
    join(directory, "config.json"),
    '{"name":"Ada","avatar_url":"http://127.0.0.1/avatars/x.svg","greeting":"Hi, I\'m Ada. How can I help you?","theme_color":"#4f46e5","has_voice":false,"has_text_agent":true,"voice_provider":"none"}',
  );
  writeFileSync(join(directory, "nginx.conf"), nginxConfiguration(directory, port, providerPort));
  const child = Bun.spawn(pinned(serverCore, [nginx, "-c", join(directory, "nginx.conf"), "-p", directory]), {
    stdout: "ignore",
    stderr: "ignore",
  });
  await untilListening(port);
  return {
    name: "nginx",
    pid: child.pid,
    port,
    chatPath: "/v1/chat/completions",
    headers: {},
    bodyFor: providerBody,
    configPath: "/config.json",
    stop: () => stop(child),
  };
}

function nginxConfiguration(directory: string, port: number, providerPort: number): string {
  return `daemon off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log; user root;
events { worker_connections 30000; }
worker_rlimit_nofile 65000;
http {
  access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  upstream provider { server 127.0.0.1:${providerPort}; keepalive 1000; }
  server {
    listen 127.0.0.1:${port} backlog=8192; keepalive_requests 100000000;
    location /v1/ { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
    location /config.json { root ${directory}; }
  }
}
`;
}

export async function freePort(): Promise<number> {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

export async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      socket.end();
      return;
    } catch {
      await Bun.sleep(20);
    }
  }
  throw new Error(`nothing listens on port ${port}`);
}
