/** Each way in which a provider can fail has the kind that owners and operators are told. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FailureKind, findFailureKind } from "../../src/domain/reply-failure.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { event } from "../support/mock-llm-replies.ts";

let mock: MockLlm;
beforeEach(async () => {
  mock = await startMockLlm();
});
afterEach(() => mock.close());

async function kindOf(text: string, options: Partial<OpenAiOptions> = {}): Promise<FailureKind | null> {
  const log = createCapturedLog();
  const base = { apiKey: "key", baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 1 };
  const provider = createOpenAiProvider({ ...base, ...options });
  try {
    const asked = provider.streamReply(replyRequest(text), collectReply(), new AbortController().signal);
    return findFailureKind(
      await asked.then(
        ({ failure }) => failure,
        (error: unknown) => error,
      ),
    );
  } finally {
    provider.close();
  }
}

test.each<[string, FailureKind]>([
  ["[[fail:400]]", "refused_request"],
  ["[[fail:401]]", "refused_key"],
  ["[[fail:402]]", "rate_limited"],
  ["[[fail:403]]", "refused_key"],
  ["[[fail:404]]", "unknown_model"],
  ["[[fail:413]]", "refused_request"],
  ["[[fail:429]]", "rate_limited"],
  ["[[fail:500]]", "provider_error"],
  ["[[fail:503]]", "provider_error"],
  ["[[html]]", "malformed"],
  ["[[garbage:0]]", "malformed"],
  ["[[garbage:3]] one two three", "malformed"],
  ["[[error:0]]", "provider_error"],
  ["[[error:3]] one two three", "provider_error"],
  ["[[cut:0]]", "broken_off"],
  ["[[cut:3]] one two three", "broken_off"],
  ["[[reset:3]] one two three", "broken_off"],
])("%s is %s", async (text, kind) => {
  expect(await kindOf(text)).toBe(kind);
});

test("an address where nobody listens is unreachable", async () => {
  const { url } = mock;
  await mock.close();
  expect(await kindOf("Hi", { baseUrl: `${url}/v1` })).toBe("unreachable");
});

test("silence before and after the first text is timed_out", async () => {
  expect(await kindOf("[[hang]]", { deadlines: { firstTextMs: 20 } })).toBe("timed_out");
  expect(await kindOf("one two [[silence:3]]", { deadlines: { silenceMs: 20 } })).toBe("timed_out");
});

test("a stream without a word is empty, and one that reports a status has that status' kind", async () => {
  mock.respond((_, response) => response.send(200, {}, ""));
  expect(await kindOf("Hi")).toBe("empty");
  mock.respond(async (_, response) => {
    await response.write(event({ error: { code: 401, message: "no" } }));
    response.end();
  });
  expect(await kindOf("Hi")).toBe("refused_key");
});

test("a whole reply has none", async () => {
  expect(await kindOf("Hi")).toBeNull();
});
