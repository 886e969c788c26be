/** Chat through the compiled executable: streamed, kept over a restart and a crash, drained on SIGTERM. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import {
  type ExecutableOptions,
  type RunningExecutable,
  runExecutable,
  startExecutable as start,
} from "./support/executable.ts";
import { type MockLlm, type MockResponse, startMockLlm } from "./support/mock-llm.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { temporaryDirectory } from "./support/temporary.ts";

let mock: MockLlm;
beforeAll(async () => {
  mock = await startMockLlm();
});
beforeEach(() => mock.respond(null));
afterAll(() => mock.close());

const sessionId = "7f8b1c52-3a0e-4f5f-9a5b-0c2d3e4f5a6b";

function startExecutable(options: ExecutableOptions = {}) {
  const env = {
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: `${mock.url}/v1`,
    COMPANIOND_MODEL: "test-model",
    COMPANIOND_RATE_PER_IP: "1000",
    COMPANIOND_STREAMS_PER_IP: "1000",
    ...options.env,
  };
  return start({ args: ["--demo"], ...options, env });
}

/** What the start message of `serve --demo` tells to try. */
async function readCurl(server: RunningExecutable): Promise<{ url: string; body: string }> {
  const [, url = "", body = ""] = await server.printed(
    /curl -N (\S+) -H 'Content-Type: application\/json' -d '([^']+)'/,
  );
  return { url, body };
}

function say(url: string, message: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, session_id: sessionId }),
  });
}

function textOf(stream: string): string {
  const events = stream.split("\n").filter((line) => line.startsWith("data: {"));
  return events.map((line): string => JSON.parse(line.slice("data: ".length)).text).join("");
}

/** The words of the conversation that the provider was sent last, without what the demo has to read. */
function lastMessages(): string[] {
  const { messages } = mock.requests.at(-1)?.body ?? {};
  if (!Array.isArray(messages)) return [];
  const texts = messages.slice(1).map(({ content }): string => content);
  return texts.filter((text) => !text.startsWith("Passages from the knowledge base"));
}

test("streams a reply of a real provider to the curl line that it prints", async () => {
  await using server = await startExecutable();
  const { url, body } = await readCurl(server);
  expect(url).toStartWith(`${server.url}/api/embed/emb_`);
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const stream = await response.text();
  expect(textOf(stream)).toBe(`You said: ${JSON.parse(body).message}`);
  expect(stream).toEndWith("data: [DONE]\n\n");
  expect(mock.requests.at(-1)?.headers.authorization).toBe("Bearer sk-test");
  expect(server.stdout + server.stderr).not.toContain("sk-test");
});

test("replies through the demo provider, offline and saying so, if no language model is configured", async () => {
  await using server = await start({ args: ["--demo"], env: {} });
  await server.printed(/No language model is configured/);
  expect(server.log.some(({ level }) => level === "warn")).toBe(true);
  const stream = await (await say((await readCurl(server)).url, "Who are you?")).text();
  expect(textOf(stream)).toContain("demo");
  expect(stream).toEndWith("data: [DONE]\n\n");
});

test("keeps conversations and the demo companion over a restart", async () => {
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const first = await startExecutable({ dataDir });
  const path = new URL((await readCurl(first)).url).pathname;
  await (await say(first.url + path, "My name is Grace.")).text();
  expect(await first.stop()).toBe(0);

  await using second = await startExecutable({ dataDir });
  expect(new URL((await readCurl(second)).url).pathname).toBe(path);
  await (await say(second.url + path, "Who am I?")).text();
  expect(lastMessages()).toEqual(["My name is Grace.", "You said: My name is Grace.", "Who am I?"]);
});

test("has lost nothing that ended in [DONE] after a kill -9 in the middle of a reply", async () => {
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const first = await startExecutable({ dataDir });
  const path = new URL((await readCurl(first)).url).pathname;
  for (const message of ["one", "two"]) {
    expect(await (await say(first.url + path, message)).text()).toEndWith("data: [DONE]\n\n");
  }
  const cut = await say(first.url + path, "[[silence:2]]");
  await cut.body?.getReader().read();
  await first.kill();

  await using second = await startExecutable({ dataDir });
  expect(await (await say(second.url + path, "three")).text()).toEndWith("data: [DONE]\n\n");
  expect(lastMessages()).toEqual(["one", "You said: one", "two", "You said: two", "three"]);
});

test("on SIGTERM refuses newcomers, lets the open reply finish with [DONE], and ends with exit code 0", async () => {
  const held = Promise.withResolvers<MockResponse>();
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "Before" }));
    held.resolve(response);
  });
  await using server = await startExecutable();
  const { url } = await readCurl(server);
  const answer = await say(url, "Tell me.");
  const provider = await held.promise;

  const exited = server.stop();
  await server.logged("stopping");
  const refusal = await fetch(`${server.url}/readyz`).then(
    ({ status }) => status,
    () => "refused",
  );
  expect(["refused", 503]).toContain(refusal);

  await provider.write(chunk({ content: ", after.", finishReason: "stop" }) + doneMark);
  provider.end();
  const stream = await answer.text();
  expect(textOf(stream)).toBe("Before, after.");
  expect(stream).toEndWith("data: [DONE]\n\n");
  expect(await exited).toBe(0);
  expect(server.log.at(-1)?.event).toBe("stopped");
});

test.each(["SIGTERM", "SIGINT"] as const)("ends at once on a second %s, with a reply still open", async (signal) => {
  const begun = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "Never" }));
    begun.resolve();
  });
  await using server = await startExecutable();
  const answer = await say((await readCurl(server)).url, "Go on.");
  await begun.promise;
  const ended = server.stop(signal);
  await server.logged("stopping");
  expect(await server.stop(signal)).toBe(signal === "SIGTERM" ? 143 : 130);
  expect(await ended).toBe(signal === "SIGTERM" ? 143 : 130);
  // Cut off: neither the end of the body nor [DONE].
  const rest = await answer.text().catch(() => "cut");
  expect(rest).not.toContain("[DONE]");
});

test("counts messages per day durably, and refuses the next one also after a crash", async () => {
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const env = { COMPANIOND_DAILY_FREE: "2" };
  const first = await startExecutable({ dataDir, env });
  const path = new URL((await readCurl(first)).url).pathname;
  for (const message of ["one", "two"]) {
    expect(await (await say(first.url + path, message)).text()).toEndWith("data: [DONE]\n\n");
  }
  await first.kill();
  await using second = await startExecutable({ dataDir, env });
  const refused = await say(second.url + path, "three");
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ code: "quota_exceeded" });
});

test("keeps nothing beside the data directory", async () => {
  using dir = temporaryDirectory();
  await using server = await startExecutable({ cwd: dir.path, dataDir: join(dir.path, "data") });
  await (await say((await readCurl(server)).url, "Hello")).text();
  expect([...new Bun.Glob("*").scanSync({ cwd: dir.path, onlyFiles: false, dot: true })]).toEqual(["data"]);
  expect((await runExecutable(["account", "list"], { env: { COMPANIOND_DATA_DIR: server.dataDir } })).exitCode).toBe(0);
});
