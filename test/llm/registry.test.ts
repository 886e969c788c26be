import { afterEach, beforeEach, expect, test } from "bun:test";
import { openLlm, openLlmProvider } from "../../src/app/llm.ts";
import { checkEntries, checkLlm } from "../../src/core/llm/check.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";

let mock: MockLlm;
beforeEach(async () => {
  mock = await startMockLlm();
});
afterEach(() => mock.close());

test("opens the demo where nothing is configured, and says so in the log", () => {
  const log = createCapturedLog();
  const provider = openLlmProvider({ apiKey: null, baseUrl: null, extra: null, headers: {} }, { log });
  expect(provider.name).toBe("demo");
  expect(log.events.map(({ level }) => level)).toEqual(["warn"]);
});

test("opens the real engine with a key, with a base URL, and with both", () => {
  const log = createCapturedLog();
  for (const [apiKey, baseUrl] of [
    ["sk-x", null],
    [null, mock.url],
    ["sk-x", mock.url],
  ] as const) {
    const provider = openLlmProvider({ apiKey, baseUrl, extra: null, headers: {} }, { log });
    expect(provider.name).toBe("default");
    provider.close();
  }
  expect(log.events).toEqual([]);
});

test("a configured provider that fails is a failure, never the demo", async () => {
  const provider = openLlmProvider(
    { apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: null, headers: {} },
    { log: createCapturedLog() },
  );
  const reply = collectReply();
  const failing = provider.streamReply(replyRequest("[[fail:401]]"), reply, new AbortController().signal);
  await expect(failing).rejects.toMatchObject({ code: "upstream_error" });
  expect(reply.writes).toEqual([]);
  provider.close();
});

test("checking a provider hangs up at the first text", async () => {
  const log = createCapturedLog();
  const provider = createOpenAiProvider({ apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log });
  const limits = { maxOutputTokens: 4096 };
  mock.respond(async (_, response) => {
    await response.write('data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n');
    await response.closed;
  });
  const asked = { wire: "chat", effort: null } as const;
  expect(await checkLlm(provider, "m", limits)).toEqual({ isAnswering: true, detail: null, kind: null, ...asked });
  expect(mock.requests[0]?.body.max_tokens).toBe(4096);
  await mock.until(() => mock.abortedRequests === 1);
  mock.respond((_, response) => response.send(404, {}, '{"error":{"message":"no such model"}}'));
  expect(await checkLlm(provider, "m", limits)).toEqual({
    ...asked,
    isAnswering: false,
    kind: "unknown_model",
    detail: "the provider answered 404 no such model",
  });
  provider.close();
});

test("with the plain settings alone there is no chain, and nothing of one is measured", async () => {
  const told: string[] = [];
  const note = () => void told.push("called");
  const plain = { apiKey: null, baseUrl: `${mock.url}/v1`, extra: null, headers: {}, model: "m" };
  const deps = { log: createCapturedLog(), clock: systemClock, calls: { ended: note, failed: note } };
  const opened = openLlm({ ...plain, providersFile: null, providers: [], aliases: {} }, deps);
  await opened.llm.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal);
  expect({ ...opened, llm: opened.llm.name, told }).toEqual({
    llm: "default",
    tellsCalls: false,
    probes: [],
    told: [],
  });
  opened.llm.close();
});

test("a check of many asks each once, a few at a time, and waits for none for long", async () => {
  const asked = new Set<unknown>();
  let most = 0;
  mock.respond(async ({ body }, response) => {
    asked.add(body.model);
    most = Math.max(most, mock.openRequests);
    if (body.model === "silent") return await response.closed;
    if (body.model === "b") return response.send(503, {}, "{}");
    if (body.model === "a") await mock.until(() => asked.has("c"));
    await response.write('data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n');
    response.end();
  });
  const engine = createOpenAiProvider({ apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log: createCapturedLog() });
  const check = async (models: string[], firstTextMs: number) => {
    const answerers = models.map((model) => ({ provider: "default", model }));
    const limits = { firstTextMs, atOnce: 2, entries: 3 };
    const found = await checkEntries(new Map([["default", engine]]), answerers, 4096, limits);
    return found.map(({ answerer, isAnswering }) => [answerer.model, isAnswering]);
  };
  expect(await check(["a", "b", "b", "c", "d"], 10_000)).toEqual([
    ["a", true],
    ["b", false],
    ["c", true],
  ]);
  expect([most, mock.requests.length]).toEqual([2, 3]);
  expect(await check(["silent"], 20)).toEqual([["silent", false]]);
  engine.close();
});
