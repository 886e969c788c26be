/** What lets a provider of a chain be passed over: its own failures, and not what requests bring about. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LlmProvider, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { createChains } from "../../src/core/llm/chain.ts";
import { Circuit } from "../../src/core/llm/circuit.ts";
import type { LlmApi } from "../../src/domain/llm-api.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark, event, type Responder, usageChunk } from "../support/mock-llm-replies.ts";

let mock: MockLlm;
let opened: LlmProvider[];
beforeEach(async () => {
  opened = [];
  mock = await startMockLlm();
});
afterEach(async () => {
  for (const llm of opened) llm.close();
  await mock.close();
});

/** Asks in turn for two accounts, and shows whether others are passed by the provider then. */
async function isPassedOverAfter(
  answer: Responder,
  { api = "chat", asks = 10, ...fields }: Partial<ReplyRequest> & { api?: LlmApi; asks?: number } = {},
) {
  mock.respond(answer);
  const log = createCapturedLog();
  const options = { name: "first", apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 1, api };
  const answerer = { provider: "first", model: "m" };
  const circuit = new Circuit();
  const entries = [{ answerer, engine: createOpenAiProvider(options), circuit }];
  const clock = createManualClock();
  const calls = { ended() {}, failed() {} };
  const llm = createChains({ name: "first", findEntries: () => entries, close() {}, calls, clock, log });
  opened.push(entries[0]?.engine ?? expect.unreachable());
  for (let asked = 0; asked < asks; asked++) {
    const request = replyRequest("Hi", { accountId: `account-${asked % 2}`, ...fields });
    await expect(llm.streamReply(request, collectReply(), new AbortController().signal)).rejects.toMatchObject({
      code: "upstream_error",
    });
  }
  return circuit.isPassedOver(clock.monotonicMs(), "account-3");
}

const sending =
  (...parts: string[]): Responder =>
  async (_, response) => {
    for (const part of parts) await response.write(part);
    response.end();
  };
const refusing =
  (status: number, message: string, fields = {}): Responder =>
  (_, response) =>
    response.send(status, { "x-should-retry": "false" }, JSON.stringify({ error: { message, ...fields } }));
const thought = chunk({ delta: { reasoning_content: "hm" } });
const ended = (finishReason: string) => chunk({ finishReason });
const response = (type: string, fields: object) => event({ type: `response.${type}`, response: fields });

describe("of two accounts that bring every failure about, nobody else takes harm:", () => {
  const tooLong = "This model's maximum context length is 8192 tokens.";
  const tooLarge = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 31538.";
  test.each<[string, Responder, (Partial<ReplyRequest> & { api?: LlmApi })?]>([
    ["a bound of one token", sending(ended("length"), doneMark), { maxOutputTokens: 1 }],
    ["a bound that thoughts use up", sending(thought, ended("length")), { maxOutputTokens: 1 }],
    ["a bound in another vendor's words", sending(ended("MAX_TOKENS")), { maxOutputTokens: 1 }],
    ["a bound that is called a stop", sending(ended("stop"), usageChunk(11, 1), doneMark), { maxOutputTokens: 1 }],
    ["a bound, and no reason", sending(usageChunk(11, 1), doneMark), { maxOutputTokens: 1 }],
    ["a bound, over Responses", sending(response("incomplete", { status: "incomplete" })), { api: "responses" }],
    ["a stop text", sending(ended("stop"), doneMark), { stop: ["END"] }],
    [
      "a stop text that is ours to find",
      sending(event({ type: "response.output_text.delta", delta: "END" })),
      { api: "responses", stop: ["END"] },
    ],
    ["words that are answered with thoughts alone", sending(chunk({ content: "<think>hm" }), ended("stop"))],
    ["words that are answered with a call", sending(ended("tool_calls"), usageChunk(11, 9))],
    [
      "words that are answered with nothing, over Responses",
      sending(response("completed", { usage: { input_tokens: 11, output_tokens: 1 } })),
      { api: "responses" },
    ],
    ["what a filter leaves nothing of", sending(ended("content_filter"), doneMark)],
    ["what a filter leaves nothing of, in another vendor's words", sending(ended("PROHIBITED_CONTENT"))],
    ["what a filter breaks off", sending(event({ error: { message: "no", code: "content_filter" } }))],
    ["what a filter refuses", refusing(400, "no", { code: "content_filter" })],
    ["a value that is refused", refusing(400, "top_k is too high")],
    ["a value that another code refuses", refusing(422, "top_k is too high")],
    ["too long a context", refusing(400, tooLong, { code: "context_length_exceeded" })],
    ["too long a context, in the stream", sending(event({ error: { message: tooLong } }))],
    [
      "too long a context, by its code alone",
      sending(event({ error: { message: "no", code: "context_length_exceeded" } })),
    ],
    ["too long a context, as an error of its own", refusing(500, "the request exceeds the available context size")],
    ["more than a minute may have", refusing(429, tooLarge, { code: "rate_limit_exceeded" })],
  ])("%s", async (_, answer, fields) => {
    expect(await isPassedOverAfter(answer, fields)).toBe(false);
    expect(mock.requests.length).toBeGreaterThanOrEqual(10);
  });
});

describe("a provider is passed over that", () => {
  test.each<[string, Responder, { api?: LlmApi; stop?: string[] }?]>([
    ["fails", refusing(500, "no")],
    ["takes too long itself", refusing(503, "context deadline exceeded")],
    ["has no rate left", refusing(429, "Rate limit reached: Limit 30000, Used 30000, Requested 12.")],
    ["refuses the key", refusing(401, "no")],
    ["sends nothing", sending("")],
    ["sends nothing to requests with stop texts", sending(doneMark), { stop: ["END"] }],
    ["sends nothing but an end mark", sending(chunk({ content: "" }), doneMark)],
    ["says that it is done with nothing", sending(ended("stop"), usageChunk(11, 0), doneMark)],
    ["says so over Responses", sending(response("completed", { status: "completed" })), { api: "responses" }],
    ["runs out of something while it thinks", sending(thought, ended("insufficient_system_resource"), doneMark)],
    ["ends while it thinks", sending(thought)],
    ["sends what is no reply", sending("data: {\n\n")],
    ["never comes to a word", sending(":\n", "\n".repeat(200_000))],
    ["reports an error", sending(event({ error: { message: "overloaded" } }))],
    ["reports an error over Responses", sending(event({ type: "error", code: "server_error" })), { api: "responses" }],
  ])("%s", async (_, answer, fields) => {
    expect(await isPassedOverAfter(answer, { asks: 5, ...fields })).toBe(true);
  });
});
