import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { kindOfOutcome, type LlmProvider } from "../../src/contracts/llm/provider.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { replyRequest, testLlmProvider } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { readFixture, responsesDialects } from "../support/llm-dialects.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { doneMark, event } from "../support/mock-llm-replies.ts";
import { repeatWords } from "../support/mock-llm-speech.ts";

function open(mock: MockLlm): LlmProvider {
  const log = createCapturedLog();
  const options = {
    apiKey: "sk-x",
    baseUrl: `${mock.url}/v1`,
    extra: {},
    log,
    api: "responses" as const,
    backoffMs: 1,
  };
  return createOpenAiProvider(options);
}

describe("over the Responses API", () => {
  testLlmProvider("openai", async () => {
    const mock = await startMockLlm();
    mock.respond(repeatWords);
    const provider = open(mock);
    return {
      provider,
      async close() {
        provider.close();
        await mock.close();
      },
    };
  });

  let mock: MockLlm;
  let provider: LlmProvider;
  beforeAll(async () => {
    mock = await startMockLlm();
    provider = open(mock);
  });
  afterAll(async () => {
    provider.close();
    await mock.close();
  });

  for (const dialect of responsesDialects) {
    test(`${dialect.file} arrives whole, a few bytes at a time`, async () => {
      const bytes = readFixture(dialect.file);
      mock.respond(async (_, response) => {
        response.begin(200, { "Content-Type": dialect.contentType });
        for (let at = 0; at < bytes.length; at += 23) await response.write(bytes.subarray(at, at + 23));
        response.end();
      });
      const reply = collectReply();
      const asked = provider.streamReply(replyRequest("Hi"), reply, new AbortController().signal);
      if (dialect.text === "") {
        expect(await asked.catch((error: unknown) => error)).toMatchObject({ code: "upstream_error" });
        return;
      }
      const { complete, failure, usage, finishReason } = await asked;
      expect(reply.text).toBe(dialect.text);
      expect(usage).toEqual(dialect.usage === null ? null : expect.objectContaining(dialect.usage));
      expect({ complete, finishReason }).toEqual({ complete: dialect.isComplete, finishReason: dialect.finishReason });
      if (dialect.failure !== null) expect(failure).toMatchObject({ message: expect.stringMatching(dialect.failure) });
    });
  }

  test("an end mark, which gateways add, ends nothing: neither what follows it nor what broke off before", async () => {
    const say = (delta: string) => event({ type: "response.output_text.delta", delta, output_index: 0 });
    const completed = event({ type: "response.completed", response: { status: "completed", output: [] } });
    const streams = [say("one") + doneMark + say(" two") + completed, say("one") + doneMark];
    const ends = [];
    for (const stream of streams) {
      mock.respond((_, response) => response.send(200, { "Content-Type": "text/event-stream" }, stream));
      const reply = collectReply();
      const outcome = await provider.streamReply(replyRequest("Hi"), reply, new AbortController().signal);
      ends.push([reply.text, outcome.complete, kindOfOutcome(outcome)]);
    }
    expect(ends).toEqual([
      ["one two", true, null],
      ["one", false, "broken_off"],
    ]);
  });
});
