/** Models and servers that refuse tools, or what goes with them: asked once more without, and remembered where it is lasting. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LlmProvider, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { textParts } from "../../src/domain/conversation.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest, toRound, weatherTool } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { mockModels } from "../support/mock-models.ts";

let mock: MockLlm;
let opened: LlmProvider[];
let log: ReturnType<typeof createCapturedLog>;
beforeEach(async () => {
  opened = [];
  log = createCapturedLog();
  mock = await startMockLlm();
  for (const [id, model] of Object.entries(mockModels)) mock.models.set(id, model);
});
afterEach(async () => {
  for (const provider of opened) provider.close();
  await mock.close();
});

function open(options: Partial<OpenAiOptions> = {}): LlmProvider {
  const base = { apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 1, reasoningTokens: 1000 };
  const provider = createOpenAiProvider({ ...base, ...options });
  opened.push(provider);
  return provider;
}

/** So that the bound's name is none of the refusals. */
const namesBound = { extra: { max_completion_tokens: 4096 } };
const call = '[[call:get_weather {"city":"Oslo"}]]';

async function ask(provider: LlmProvider, model: string, fields: Partial<ReplyRequest> = {}) {
  const reply = collectReply();
  const request = replyRequest(call, { model, tools: [weatherTool], ...fields });
  const outcome = await provider.streamReply(request, reply, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

const sent = (name: string) => mock.requests.map(({ body }) => body[name]);
const hadTools = () => mock.requests.map(({ body }) => "tools" in body);
const refusals = () => log.events.filter(({ event }) => event.startsWith("provider refuses"));
const rounds = [{ text: "", calls: [{ id: "a", name: "get_weather", arguments: "{}", result: "Snow" }], carry: null }];

/** Refuses requests with tools in these words. */
function refuseTools(status: number, error: unknown, isRefused = (body: Record<string, unknown>) => "tools" in body) {
  mock.respond(async ({ body }, response) => {
    if (isRefused(body)) return response.send(status, {}, JSON.stringify(error));
    for (const part of wholeStream(["ok"])) await response.write(part);
    response.end();
  });
}

test("a model that knows no tools is asked once more without, and then never with, and the log says so once", async () => {
  for (const model of ["knows-no-tools", "routes-no-tools"]) {
    const provider = open();
    mock.requests.length = 0;
    for (let turn = 0; turn < 3; turn++) {
      const outcome = await ask(provider, model);
      expect(outcome).toMatchObject({ complete: true, text: "You said: ", finishReason: "stop" });
      expect(outcome.calls).toBeUndefined();
    }
    expect(hadTools()).toEqual([true, false, false, false]);
    expect(refusals()).toMatchObject([{ fields: { model, parameter: "tools" } }]);
    log.events.length = 0;
  }
});

test.each<[string, number, unknown]>([
  [
    "Ollama",
    400,
    { error: { message: "registry.ollama.ai/library/gemma:2b does not support tools", type: "api_error" } },
  ],
  ["OpenRouter", 404, { error: { message: "No endpoints found that support tool use.", code: 404 } }],
  ["vLLM", 400, { message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set' }],
  ["llama.cpp", 500, { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } }],
  ["DeepSeek", 400, { error: { message: "deepseek-reasoner does not support Function Calling" } }],
  [
    "Azure",
    400,
    { error: { message: "Unsupported parameter: 'tools'.", param: "tools", code: "unsupported_parameter" } },
  ],
  [
    "FastAPI",
    422,
    { detail: [{ type: "extra_forbidden", loc: ["body", "tools"], msg: "Extra inputs are not permitted" }] },
  ],
])("the words of %s for that are known", async (_, status, error) => {
  refuseTools(status, error);
  const provider = open();
  for (let turn = 0; turn < 2; turn++) expect(await ask(provider, "m")).toMatchObject({ text: "ok", complete: true });
  expect(hadTools()).toEqual([true, false, false]);
});

test("a tool that is refused for its own schema is left out of that reply alone: other companions have others", async () => {
  const message = `Invalid schema for function 'get_weather': "x" is not valid.`;
  const error = { message, param: "tools[0].function.parameters", code: "invalid_function_parameters" };
  for (const told of [error, { ...error, param: null }]) {
    mock.requests.length = 0;
    refuseTools(400, { error: told });
    const provider = open();
    for (let turn = 0; turn < 2; turn++) expect(await ask(provider, "m")).toMatchObject({ text: "ok" });
    expect(hadTools()).toEqual([true, false, true, false]);
  }
});

test("a model that has taken tools before keeps them, whatever is said of one request", async () => {
  const provider = open();
  await ask(provider, "m");
  refuseTools(400, { error: { message: "This model does not support tools." } });
  expect(await ask(provider, "m")).toMatchObject({ text: "ok" });
  mock.respond(null);
  expect(await ask(provider, "m")).toMatchObject({ calls: [{ name: "get_weather" }] });
});

test("a request that is too long is none that refuses its tools", async () => {
  const message = "This model's maximum context length is 8192 tokens, however you requested 9000 (2000 in the tools).";
  refuseTools(400, { error: { message, code: "context_length_exceeded" } });
  await expect(ask(open(), "m", { maxOutputTokens: 5 })).rejects.toMatchObject({ cause: { status: 400 } });
  expect(mock.requests).toHaveLength(1);
});

test("tools may be refused after something else, and are then left out as well", async () => {
  mock.models.set("plain-and-cold", { ...mockModels["knows-no-tools"], takesTemperature: "never" });
  mock.models.set("thinks-no-tools", { ...mockModels["always-thinks"], takesTools: "never" });
  expect(await ask(open(), "plain-and-cold", { temperature: 0.5 })).toMatchObject({ complete: true });
  expect(await ask(open({ api: "responses" }), "thinks-no-tools")).toMatchObject({ complete: true });
  expect(mock.requests.length).toBeLessThanOrEqual(5);
});

test("visitors, and what tools answer, teach nothing about tools", async () => {
  const said = "My shop does not support tools, sorry";
  const told = { error: { message: `Invalid message: "${said}"` } };
  refuseTools(400, told);
  const messages = [{ role: "user" as const, parts: textParts(said) }];
  await expect(ask(open(), "m", { messages })).rejects.toMatchObject({ cause: { status: 400 } });
  const [round] = rounds;
  const told2 = [{ ...round, text: "", carry: null, calls: [{ id: "a", name: "n", arguments: "{}", result: said }] }];
  await expect(ask(open(), "m", { rounds: told2 })).rejects.toMatchObject({ cause: { status: 400 } });
  expect(hadTools()).toEqual([true, true]);
});

test("a tool with the name of a parameter hides nothing of what is refused", async () => {
  refuseTools(400, { error: { message: "temperature is deprecated for this model" } }, (body) => "temperature" in body);
  const tools = [{ ...weatherTool, name: "temperature" }];
  const outcome = await ask(open(), "m", { tools, temperature: 0.5 });
  expect(outcome).toMatchObject({ text: "ok" });
  expect(hadTools()).toEqual([true, true]);
});

describe("rounds of calls", () => {
  test("are told in words to a model that takes no tools", async () => {
    for (const api of ["chat", "responses"] as const) {
      const provider = open({ api });
      await ask(provider, "knows-no-tools");
      await ask(provider, "knows-no-tools", { rounds });
      const { messages, input } = mock.requests.at(-1)?.body ?? {};
      expect(((messages ?? input) as unknown[]).slice(-3)).toEqual([
        { role: "user", content: call },
        { role: "assistant", content: "Called get_weather with {}" },
        { role: "user", content: "Result of get_weather: Snow" },
      ]);
    }
  });

  test("are told in words for a reply without tools where a gateway wants the tools beside them", async () => {
    const message = "Expected the tools= param to be passed in when tool calls are in the conversation.";
    refuseTools(400, { error: { message } }, ({ messages }) => JSON.stringify(messages).includes("tool_calls"));
    const provider = open();
    expect(await ask(provider, "m", { rounds, tools: [] })).toMatchObject({ text: "ok" });
    mock.respond(null);
    // That says nothing of the next request.
    expect(await ask(provider, "m")).toMatchObject({ calls: [{}] });
  });
});

describe("a chat that refuses tools beside thoughts", () => {
  test("goes to the Responses API where the wire may change, for good", async () => {
    const provider = open(namesBound);
    for (let turn = 0; turn < 2; turn++) {
      expect(await ask(provider, "can-be-quick")).toMatchObject({ calls: [{ name: "get_weather" }] });
    }
    expect(mock.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/responses", "/v1/responses"]);
  });

  test("is asked without thoughts where it may not, and thinks where there are no tools", async () => {
    const provider = open({ ...namesBound, api: "chat", reasoningEffort: "low" });
    for (let turn = 0; turn < 2; turn++) {
      expect(await ask(provider, "can-be-quick")).toMatchObject({ calls: [{ name: "get_weather" }] });
    }
    await ask(provider, "can-be-quick", { tools: [] });
    expect(sent("reasoning_effort").slice(-4)).toEqual(["low", "none", "none", "low"]);
    expect(refusals()).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ toolEffort: "none" }) }),
    );
  });

  test("is asked without tools where it cannot but think, or the operator's own effort stands", async () => {
    const provider = open({ api: "chat" });
    for (let turn = 0; turn < 2; turn++) {
      expect(await ask(provider, "always-thinks", { maxOutputTokens: 600 })).toMatchObject({
        complete: true,
        finishReason: "stop",
      });
    }
    // The bound's name, tools beside thoughts, no thoughts, and then neither.
    expect(hadTools()).toEqual([true, true, true, false, false]);
    const own = open({ api: "chat", extra: { ...namesBound.extra, reasoning_effort: "low" } });
    expect(await ask(own, "can-be-quick")).toMatchObject({ complete: true, finishReason: "stop" });
    expect(hadTools().slice(-2)).toEqual([true, false]);
  });
});

test("a model that encrypts no thoughts is not asked for them again, and calls all the same", async () => {
  const provider = open({ api: "responses" });
  // It knows no effort, either, which it says later.
  for (let turn = 0; turn < 3; turn++) {
    const first = await ask(provider, "knows-no-effort");
    expect(first).toMatchObject({ calls: [{ name: "get_weather" }] });
    const second = await ask(provider, "knows-no-effort", { rounds: [toRound(first, "Snow")] });
    expect(second).toMatchObject({ text: "The tools said: Snow" });
  }
  expect(mock.requests.length).toBeLessThanOrEqual(8);
  expect(sent("include").slice(-3)).toEqual([undefined, undefined, undefined]);
  expect(
    refusals()
      .map(({ fields }) => fields.parameter)
      .toSorted(),
  ).toEqual(["effort", "include"]);
});
