/** What two clients that others wrote make of the mock's Responses API: it must be as real as can be had offline. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import OpenAI from "openai";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import type { MockResponse } from "../support/mock-llm-replies.ts";
import { mockModels } from "../support/mock-models.ts";
import { type MockItem, ResponsesScript, wholeResponse } from "../support/mock-responses-events.ts";

let mock: MockLlm;
let client: OpenAI;
let sdk: ReturnType<typeof createOpenAI>;
beforeAll(async () => {
  mock = await startMockLlm();
  for (const [id, model] of Object.entries(mockModels)) mock.models.set(id, model);
  const baseURL = `${mock.url}/v1`;
  client = new OpenAI({ apiKey: "sk-x", baseURL, maxRetries: 0 });
  sdk = createOpenAI({ apiKey: "sk-x", baseURL });
});
afterAll(() => mock.close());

const said = { model: "test-model", instructions: "You are Ada.", store: false };

async function readWithSdk(input: string, model = "test-model") {
  const read = streamText({ model: sdk.responses(model), prompt: input, maxRetries: 0, onError() {} });
  let text = "";
  let error: unknown = null;
  for await (const part of read.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "error") error = part.error;
  }
  if (error !== null) return { text, error };
  return { text, error, usage: await read.usage, finishReason: await read.finishReason };
}

/** Answers the next requests with these parts. */
function answer(parts: (body: Record<string, unknown>) => string[]) {
  mock.respond(async ({ body }, response: MockResponse) => {
    for (const part of parts(body)) await response.write(part);
    response.end();
  });
}

test("both read text and usage", async () => {
  mock.respond(null);
  const response = await client.responses.stream({ ...said, input: "Grüße 🙂" }).finalResponse();
  expect(response).toMatchObject({
    output_text: "You said: Grüße 🙂",
    status: "completed",
    instructions: "You are Ada.",
  });
  expect(response.usage).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });
  expect(await readWithSdk("Grüße 🙂")).toMatchObject({
    text: "You said: Grüße 🙂",
    usage: { inputTokens: 11, outputTokens: 7 },
    finishReason: "stop",
  });
});

test("both read a model that thinks, comments, calls a function and answers, past a keepalive", async () => {
  const items: MockItem[] = [
    { type: "reasoning", summary: ["**Weighing**", "it"] },
    { type: "reasoning", text: ["open ", "thoughts"] },
    { type: "message", deltas: ["I look ", "it up."], phase: "commentary" },
    { type: "function_call", name: "look_up", arguments: '{"what":"it"}' },
    { type: "message", deltas: ["Here ", "it is."], phase: "final_answer" },
  ];
  const counts = {
    inputTokens: 2000,
    outputTokens: 90,
    cachedTokens: 1024,
    cacheWriteTokens: 512,
    reasoningTokens: 64,
  };
  answer((body) => {
    const script = new ResponsesScript({ body });
    const parts = [...script.begin(), script.keepalive(), ...items.flatMap((item) => script.item(item))];
    return [...parts, script.end({ status: "completed" }, counts)];
  });
  const types = new Set<string>();
  const stream = client.responses.stream({ ...said, input: "Hi" });
  for await (const { type } of stream) types.add(type);
  const response = await stream.finalResponse();
  expect(response.output.map(({ type }) => type)).toEqual([
    "reasoning",
    "reasoning",
    "message",
    "function_call",
    "message",
  ]);
  expect(response.usage).toMatchObject({
    input_tokens_details: { cached_tokens: 1024, cache_write_tokens: 512 },
    output_tokens_details: { reasoning_tokens: 64 },
  });
  expect(types).toContain("response.reasoning_summary_text.delta");
  expect(await readWithSdk("Hi")).toMatchObject({
    error: null,
    text: "I look it up.Here it is.",
    usage: { inputTokenDetails: { cacheReadTokens: 1024 }, outputTokenDetails: { reasoningTokens: 64 } },
  });
});

test("both read what is incomplete, declined, failed, or an error in the middle", async () => {
  answer((body) => wholeResponse(body, [{ type: "reasoning" }], { status: "incomplete", reason: "max_output_tokens" }));
  const cut = await client.responses.stream({ ...said, input: "Hi" }).finalResponse();
  expect(cut).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  expect(await readWithSdk("Hi")).toMatchObject({ text: "", finishReason: "length" });

  answer((body) => wholeResponse(body, [{ type: "message", deltas: ["I ", "can't."], isRefusal: true }]));
  const declined = await client.responses.stream({ ...said, input: "Hi" }).finalResponse();
  expect(declined.output).toMatchObject([{ content: [{ type: "refusal", refusal: "I can't." }] }]);
  expect((await readWithSdk("Hi")).error).toBeNull();

  answer((body) => wholeResponse(body, [], { status: "failed", code: "server_error", message: "No." }, null));
  const events: { type: string }[] = [];
  for await (const event of await client.responses.create({ ...said, input: "Hi", stream: true })) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { error: { code: "server_error" } } });

  mock.respond(null);
  await expect(client.responses.stream({ ...said, input: "Hi [[error:1]]" }).finalResponse()).rejects.toThrow(
    /server had/,
  );
  expect((await readWithSdk("Hi [[error:1]]")).error).not.toBeNull();
});

test("the mock refuses in the words of the real ones, and lists its models with their end", async () => {
  mock.respond(null);
  const refused = async (fields: object) => {
    const body = {
      ...said,
      input: "Hi",
      max_output_tokens: 4096,
      ...fields,
    } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    return await client.responses.create(body).then(
      () => null,
      (error: { message: string; param: string | null }) => `${error.message} (${error.param})`,
    );
  };
  expect(await refused({ seed: 1 })).toBe("400 Unknown parameter: 'seed'. (seed)");
  expect(await refused({ stream_options: { include_usage: true } })).toMatch(/'stream_options.include_usage'/);
  expect(await refused({ max_output_tokens: 10 })).toMatch(
    /integer below minimum value. Expected a value >= 16, but got 10/,
  );
  expect(await refused({ model: "always-thinks", reasoning: { effort: "none" } })).toMatch(
    /'none' is not supported with the 'always-thinks' model. Supported values are: 'low', 'medium', and 'high'/,
  );
  expect(await refused({ model: "can-be-quick", temperature: 0.5 })).toMatch(
    /'temperature' is not supported with this/,
  );
  expect(
    await refused({ model: "can-be-quick", temperature: 0.5, reasoning: { effort: "none" }, stream: true }),
  ).toBeNull();
  expect(await refused({ model: "was-shut" })).toMatch(/404 The model `was-shut` has been deprecated/);
  const chat = (fields: object) =>
    client.chat.completions
      .create({ model: "can-be-quick", messages: [{ role: "user", content: "Hi" }], stream: true, ...fields })
      .then(
        () => null,
        ({ message }: Error) => message,
      );
  expect(await chat({ model: "only-responses" })).toMatch(/only supported in v1\/responses and not in/);
  expect(await chat({ max_tokens: 5 })).toMatch(/'max_tokens' is not supported with this model. Use 'max_completion/);
  expect(await chat({ stop: "x", reasoning_effort: "none" })).toMatch(/'stop' is not supported/);
  expect(await chat({ tools: [{ type: "function", function: { name: "f" } }] })).toMatch(
    /Function tools with reasoning_effort are not supported for can-be-quick in \/v1\/chat\/completions/,
  );
  expect(await chat({ model: "refuses-system", messages: [{ role: "system", content: "x" }] })).toMatch(/'system'/);
  expect(await chat({ model: "deprecates-temperature", temperature: 0.7 })).toMatch(/`temperature` is deprecated/);
  expect(await chat({ model: "forbids-extras", store: false })).toMatch(/422/);
  const ends = (await client.models.list()).data.map(({ id, shutdown_date: end }) => [id, end]);
  expect(ends).toContainEqual(["thinks-minimally", "2026-12-11"]);
  expect(mock.modelLists).toHaveLength(1);
});

test("a bound that thinking uses up leaves no word, on either API", async () => {
  mock.respond(null);
  const input = "one two three";
  const stream = client.responses.stream({ ...said, model: "can-be-quick", input, max_output_tokens: 300 });
  const cut = await stream.finalResponse();
  expect(cut).toMatchObject({ status: "incomplete", output_text: "" });
  expect(cut.usage).toMatchObject({ output_tokens: 300, output_tokens_details: { reasoning_tokens: 300 } });
  const { text } = await readWithSdk(input, "can-be-quick");
  expect(text).toBe("You said: one two three");
});
