/** What a reply holds while its visitor waits for more of it: thousands of them are open for minutes. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./support/eventually.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "./support/executable.ts";
import { startMockLlm } from "./support/mock-llm.ts";
import { startRawChat } from "./support/raw-visitor.ts";
import { temporaryDirectory } from "./support/temporary.ts";

/** Bun's own objects of a request, its response and its connection to the provider are a dozen of them. */
const mostObjects = 125;

async function countObjects(server: RunningExecutable): Promise<number> {
  const listCounts = () => [...server.stderr.matchAll(/^(\d+) objects$/gm)];
  const earlier = listCounts().length;
  process.kill(server.pid, "SIGUSR2");
  await eventually(() => listCounts().length > earlier);
  return Number(listCounts().at(-1)?.[1]);
}

test("an open reply holds few objects", async () => {
  using directory = temporaryDirectory();
  const mock = await startMockLlm();
  await using _ = { [Symbol.asyncDispose]: () => mock.close() };
  const executable = directory.file("companiond");
  const preload = join(import.meta.dir, "support/counted-process.ts");
  const main = join(import.meta.dir, "../src/main.ts");
  writeFileSync(executable, `#!/bin/sh\nexec '${process.execPath}' --preload '${preload}' '${main}' "$@"\n`, {
    mode: 0o755,
  });
  const dataDir = directory.file("data");
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await runExecutable([...args, "--data-dir", dataDir, "--json"], { executable });
    return JSON.parse(stdout || stderr);
  };
  await run("account", "create", "--email", "ada@example.com");
  const { embed_token: token } = await run("companion", "create", "--account", "ada@example.com", "--name", "Ada");
  const env = {
    OPENAI_BASE_URL: `${mock.url}/v1`,
    COMPANIOND_STREAMS_PER_IP: "1000",
    COMPANIOND_RATE_PER_IP: "1000000",
    COMPANIOND_RATE_PER_TOKEN: "1000000",
    COMPANIOND_DAILY_FREE: "1000000",
  };
  await using server = await startExecutable({ executable, dataDir, env });
  const open = async (visitors: number) => {
    const opened = await Promise.all(
      Array.from({ length: visitors }, () => startRawChat(server.url, token, "one [[silence:600]]")),
    );
    await Promise.all(opened.map((visitor) => visitor.until((received) => received.includes("one"))));
  };
  // What is made once, for the first of them.
  await open(50);
  const before = await countObjects(server);
  await open(100);
  const each = ((await countObjects(server)) - before) / 100;
  expect(each).toBeGreaterThan(20);
  expect(each).toBeLessThan(mostObjects);
});
