/** The executable under a stepped clock, with an account, its key and a companion created by the same clock. */
import { apiClient } from "./api-client.ts";
import { testPassword } from "./dashboard.ts";
import { type ExecutableOptions, runExecutable, startExecutable } from "./executable.ts";
import type { MockLlm } from "./mock-llm.ts";
import { createSteppedClock } from "./stepped-clock.ts";
import { temporaryDirectory } from "./temporary.ts";

const dayMs = 86_400_000;
/** Tomorrow, so that the program was built before it. */
export const noonMs = Math.ceil(Date.now() / dayMs) * dayMs + dayMs / 2;

export type SteppedWorld = Awaited<ReturnType<typeof startSteppedWorld>>;

export async function startSteppedWorld(
  mock: MockLlm,
  options: { startMs?: number; env?: Record<string, string> } = {},
) {
  const clock = createSteppedClock(options.startMs ?? noonMs);
  const data = temporaryDirectory();
  const dataDir = data.file("data");
  const env = {
    ...clock.env,
    OPENAI_BASE_URL: `${mock.url}/v1`,
    COMPANIOND_RATE_PER_IP: "1000",
    COMPANIOND_STREAMS_PER_IP: "1000",
    COMPANIOND_RATE_PER_TOKEN: "1000",
    ...options.env,
  };
  const run = async (args: string[], input?: string) => {
    const done = await runExecutable([...args, "--data-dir", dataDir, "--json"], {
      env,
      ...(input === undefined ? {} : { input }),
    });
    if (done.exitCode !== 0) throw new Error(done.stderr);
    return JSON.parse(done.stdout);
  };
  const email = "ada@example.com";
  await run(["account", "create", "--email", email, "--password-stdin"], testPassword);
  const scopes =
    "companions:read,companions:write,conversations:read,conversations:write,usage:read,keys:read,keys:write";
  const { key } = await run(["key", "create", "--account", email, "--name", "old", "--scopes", scopes]);
  const companion = await run(["companion", "create", "--account", email, "--name", "Ada"]);
  const start = (more: ExecutableOptions = {}) => startExecutable({ dataDir, env, ...more });
  const server = await start();
  return {
    clock,
    dataDir,
    email,
    run,
    start,
    server,
    client: apiClient(server.url, key),
    clientAt: (url: string) => apiClient(url, key),
    key: String(key),
    companion: { id: String(companion.id), token: String(companion.embed_token) },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      clock[Symbol.dispose]();
      data[Symbol.dispose]();
    },
  };
}
