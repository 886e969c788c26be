/** What clients that others wrote make of the mock's calls, and that it refuses of them what the real APIs do. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { mockModels } from "../support/mock-models.ts";

let mock: MockLlm;
let client: OpenAI;
beforeAll(async () => {
  mock = await startMockLlm();
  for (const [id, model] of Object.entries(mockModels)) mock.models.set(id, model);
  client = new OpenAI({ apiKey: "sk-x", baseURL: `${mock.url}/v1`, maxRetries: 0 });
});
afterAll(() => mock.close());

const parameters = { type: "object", properties: { city: { type: "string" } } };
const asking = 'Well? [[before:Let me see.]] [[call:get_weather {"city":"Oslo"}]] [[call:get_weather {"city":"Köln"}]]';

test("the official client reads its calls, and answers them, in a chat", async () => {
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: asking }];
  const chat = () => client.chat.completions.stream({ model: "m", messages, tools }).finalMessage();
  const called = await chat();
  expect(called).toMatchObject({
    content: "Let me see.",
    tool_calls: [{ function: { arguments: '{"city":"Oslo"}' } }, { function: { arguments: '{"city":"Köln"}' } }],
  });
  messages.push(called);
  for (const { id } of called.tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: `as ${id}` });
  const [a, b] = (called.tool_calls ?? []).map(({ id }) => id);
  expect(a).not.toBe(b);
  expect(await chat()).toMatchObject({ content: `The tools said: as ${a}; as ${b}` });
});

test("the official client reads its calls, and answers them, over the Responses API", async () => {
  const tools = [{ type: "function" as const, name: "get_weather", parameters, strict: false }];
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: asking }];
  const include = ["reasoning.encrypted_content" as const];
  const respond = () =>
    client.responses.stream({ model: "can-be-quick", input, tools, include, store: false }).finalResponse();
  const called = await respond();
  expect(called.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
  for (const item of called.output) input.push(item as OpenAI.Responses.ResponseInputItem);
  const calls = called.output.filter((item) => item.type === "function_call");
  expect(calls.map((item) => item.arguments)).toEqual(['{"city":"Oslo"}', '{"city":"Köln"}']);
  for (const { call_id: id } of calls) input.push({ type: "function_call_output", call_id: id, output: `as ${id}` });
  expect((await respond()).output_text).toBe(`The tools said: as ${calls[0]?.call_id}; as ${calls[1]?.call_id}`);
});

test("the AI SDK calls and answers on both APIs, as often as the message says", async () => {
  const sdk = createOpenAI({ apiKey: "sk-x", baseURL: `${mock.url}/v1` });
  for (const model of [sdk.chat("m"), sdk.responses("m")]) {
    const asked: unknown[] = [];
    const getWeather = tool({
      inputSchema: jsonSchema(parameters as never),
      execute: async (input) => {
        asked.push(input);
        return "Snow";
      },
    });
    const prompt = '[[rounds:2]] [[call:get_weather {"city":"Oslo"}]]';
    const options = { model, prompt, tools: { get_weather: getWeather }, maxRetries: 0, stopWhen: stepCountIs(4) };
    const { text } = streamText(options);
    expect(await text).toBe("The tools said: Snow; Snow");
    expect(asked).toEqual([{ city: "Oslo" }, { city: "Oslo" }]);
  }
});

test("trouble may begin within a call as between words", async () => {
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters } }];
  const content = '[[error:2]] [[call:get_weather {"city":"Oslo"}]]';
  const stream = await client.chat.completions.create({
    ...{ model: "m", messages: [{ role: "user", content }], tools, stream: true },
  });
  const args: string[] = [];
  const reading = (async () => {
    for await (const { choices } of stream) args.push(choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "");
  })();
  await expect(reading).rejects.toThrow(/server had an error/);
  expect(args.join("")).toBe('{"cit');
});

async function refused(path: "chat/completions" | "responses", body: object): Promise<string | null> {
  return await client.post(`/${path}`, { body: { model: "m", stream: true, ...body } }).then(
    () => null,
    ({ message }: Error) => message,
  );
}

test("a chat is refused with a result that has no call, a call that has no result, or a tool that is none", async () => {
  const user = { role: "user", content: "Hi" };
  const called = (...ids: string[]) => ({
    ...{ role: "assistant", content: null },
    tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
  });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "x" });
  const say = (...messages: object[]) => refused("chat/completions", { messages: [user, ...messages] });
  expect(await say(called("a", "b"), result("b"), result("a"))).toBeNull();
  const noCall = /400 .*messages with role 'tool' must be a response to a preceeding message/;
  expect(await say(result("a"))).toMatch(noCall);
  expect(await say(called("a"), result("a"), result("a"))).toMatch(noCall);
  expect(await say(called("a"), result("a"), user, result("a"))).toMatch(noCall);
  expect(await say(called("a", "b"), result("a"))).toMatch(/400 .*did not have response messages: b/);
  expect(await say(called("a"), user)).toMatch(/400 .*did not have response messages: a/);
  expect(await say(called())).toMatch(/too short/);
  const broken = { ...called(), tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }] };
  expect(await say(broken, result("a"))).toMatch(/Invalid type/);
  const offer = (tools: unknown) => refused("chat/completions", { messages: [user], tools });
  expect(await offer([])).toMatch(/too short - 'tools'/);
  expect(await offer([{ type: "function", function: { name: "a b" } }])).toMatch(/Invalid value for 'tools\[0\]'/);
  expect(await offer([{ type: "function", function: { name: "f", parameters: { type: "string" } } }])).toMatch(
    /Invalid schema for function 'f'/,
  );
});

test("a response is refused with items that miss one another, or that nobody has kept", async () => {
  const user = { role: "user", content: "Hi" };
  const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "a", output: "x" };
  const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABmock" };
  const say = (...input: object[]) => refused("responses", { input: [user, ...input] });
  expect(await say(sealed, call, output)).toBeNull();
  expect(await say(output)).toMatch(/No tool call found for function call output with call_id a/);
  expect(await say(call)).toMatch(/No tool output found for function call a/);
  expect(await say(sealed)).toMatch(/without its required following item/);
  expect(await say({ ...sealed, encrypted_content: undefined }, call, output)).toMatch(/404 .*'rs_1' not found/);
  expect(await say({ type: "item_reference", id: "fc_1" })).toMatch(/404 .*'fc_1' not found/);
  expect(await say({ ...sealed, encrypted_content: "another's" }, call, output)).toMatch(/could not be verified/);
});
