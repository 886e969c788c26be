import { afterEach, beforeEach, expect, test } from "bun:test";
import { checkLlm } from "../../src/llm/check.ts";
import { openLlmProvider } from "../../src/llm/registry.ts";
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
  const provider = openLlmProvider({ apiKey: null, baseUrl: null, extra: null }, { log });
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
    const provider = openLlmProvider({ apiKey, baseUrl, extra: null }, { log });
    expect(provider.name).toBe("default");
    provider.close();
  }
  expect(log.events).toEqual([]);
});

test("a configured provider that fails is a failure, never the demo", async () => {
  const provider = openLlmProvider(
    { apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: null },
    { log: createCapturedLog() },
  );
  const reply = collectReply();
  const failing = provider.streamReply(replyRequest("[[fail:401]]"), reply, new AbortController().signal);
  await expect(failing).rejects.toMatchObject({ code: "upstream_error" });
  expect(reply.writes).toEqual([]);
  provider.close();
});

test("checking a provider hangs up at the first text", async () => {
  const provider = openLlmProvider(
    { apiKey: null, baseUrl: `${mock.url}/v1`, extra: null },
    { log: createCapturedLog() },
  );
  mock.respond(async (_, response) => {
    await response.write('data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n');
    await response.closed;
  });
  expect(await checkLlm(provider, "m")).toEqual({ isAnswering: true, detail: null });
  await mock.until(() => mock.abortedRequests === 1);
  mock.respond((_, response) => response.send(404, {}, '{"error":{"message":"no such model"}}'));
  expect(await checkLlm(provider, "m")).toEqual({
    isAnswering: false,
    detail: "the provider answered 404 no such model",
  });
  provider.close();
});
