/** Tools on both wires: what is sent, what comes back, and what becomes of answers that break. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LlmProvider, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { textParts } from "../../src/domain/conversation.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ToolRound } from "../../src/domain/tool.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest, toRound, weatherTool } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { readFixture } from "../support/llm-dialects.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark, event } from "../support/mock-llm-replies.ts";
import { mockModels } from "../support/mock-models.ts";
import { ResponsesScript } from "../support/mock-responses-events.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

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
  const provider = createOpenAiProvider({
    ...{ apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 1, reasoningTokens: 1000 },
    ...options,
  });
  opened.push(provider);
  return provider;
}

const tools = [weatherTool];
const call = '[[call:get_weather {"city":"Oslo"}]]';

async function ask(provider: LlmProvider, text = call, fields: Partial<ReplyRequest> = {}) {
  const reply = collectReply();
  const request = replyRequest(text, { tools, ...fields });
  const outcome = await provider.streamReply(request, reply, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

/** The next requests are answered with this. */
function answer(...sent: (string | Uint8Array)[]) {
  mock.respond(async (_, response) => {
    for (const part of sent) await response.write(part);
    response.end();
  });
}

const bodies = () => mock.requests.map(({ body }) => body);
const lastBody = () => mock.requests.at(-1)?.body ?? {};
const withoutCarry = (id: string, result: string, text = ""): ToolRound => ({
  text,
  calls: [{ id, name: "get_weather", arguments: '{"city":"Oslo"}', result }],
  carry: null,
});

describe("the request of a chat", () => {
  test("has tools as functions; its rounds as calls and their results", async () => {
    const rounds = [withoutCarry("a", "Snow"), withoutCarry("b", "Rain", "Hm.")];
    expect(await ask(open(), "Hi", { rounds })).toMatchObject({ text: "The tools said: Snow; Rain" });
    const { name, description, parameters } = weatherTool;
    const called = (id: string, content: string | null) => ({
      ...{ role: "assistant", content },
      tool_calls: [{ id, type: "function", function: { name, arguments: '{"city":"Oslo"}' } }],
    });
    expect(lastBody()).toMatchObject({ tools: [{ type: "function", function: { name, description, parameters } }] });
    expect(lastBody().messages).toEqual([
      { role: "system", content: "You are Ada." },
      { role: "user", content: "Hi" },
      called("a", null),
      { role: "tool", tool_call_id: "a", content: "Snow" },
      called("b", "Hm."),
      { role: "tool", tool_call_id: "b", content: "Rain" },
    ]);
    expect(lastBody()).not.toHaveProperty("include");
  });

  test("is the same to the byte where no tools are offered, whatever the operator has set", async () => {
    const extra = { tools: [{ type: "web_search" }], include: ["x"] };
    for (const fields of [{ tools: [] }, { tools: [], rounds: [] }]) {
      for (const api of ["chat", "responses"] as const) {
        mock.respond((_, response) => response.send(400, {}, "{}"));
        const provider = open({ extra, api });
        const { tools: _, ...plain } = replyRequest("Hi");
        const alive = new AbortController().signal;
        await provider.streamReply(plain, collectReply(), alive).catch(() => {});
        await ask(provider, "Hi", fields).catch(() => {});
        const [before, after] = bodies()
          .slice(-2)
          .map((body) => JSON.stringify(body));
        expect(after).toBe(before ?? "");
        expect(lastBody().tools).toEqual(extra.tools);
      }
    }
  });

  test("has the operator's own tools behind those of the companion", async () => {
    const own = { type: "function", function: { name: "own", parameters: { type: "object" } } };
    await ask(open({ extra: { tools: [own] } }), "Hi");
    expect(lastBody().tools).toMatchObject([{ function: { name: "get_weather" } }, own]);
  });

  test("sends an empty object for arguments that were none", async () => {
    const round = withoutCarry("a", "These were no JSON.");
    const rounds = [{ ...round, calls: round.calls.map((one) => ({ ...one, arguments: '{"city' })) }];
    await ask(open(), "Hi", { rounds });
    expect(lastBody().messages).toMatchObject([{}, {}, { tool_calls: [{ function: { arguments: "{}" } }] }, {}]);
  });

  test("joins an answer before the calls with the message before it, for a model that wants roles in turn", async () => {
    const provider = open();
    let refusals = 0;
    mock.respond((_, response) => {
      if (refusals++ === 0) return response.send(400, {}, '{"error":{"message":"roles must alternate"}}');
      response.begin();
      return response.write(chunk({ content: "ok" }) + doneMark).then(() => response.end());
    });
    const messages = ["user", "user", "assistant"].map((role) => ({ role: role as "user", parts: textParts(role) }));
    await ask(provider, "", { messages, rounds: [withoutCarry("a", "Snow", "Hm.")], systemPrompt: null });
    expect(lastBody().messages).toMatchObject([
      { role: "user", content: "user\n\nuser" },
      { role: "assistant", content: "assistant\n\nHm.", tool_calls: [{ id: "a" }] },
      { role: "tool", tool_call_id: "a" },
    ]);
  });

  test("puts instructions before the first question for a model that knows none, rounds or not", async () => {
    mock.models.set("no-roles", { ...mockModels["refuses-system"] });
    const refused: string[] = [];
    mock.respond((request, response) => {
      const [{ role }] = request.body.messages as [{ role: string }];
      if (role !== "user") {
        refused.push(role);
        const message = `'messages[0].role' does not support '${role}' with this model.`;
        return response.send(400, {}, JSON.stringify({ error: { message, param: "messages[0].role" } }));
      }
      return response.write(chunk({ content: "ok" }) + doneMark).then(() => response.end());
    });
    await ask(open(), "Hi", { rounds: [withoutCarry("a", "Snow")] });
    expect(refused).toEqual(["system", "developer"]);
    expect(lastBody().messages).toMatchObject([
      { role: "user", content: "You are Ada.\n\nHi" },
      { role: "assistant", content: null },
      { role: "tool", content: "Snow" },
    ]);
  });

  test.each([
    ["tools-deepseek.sse", { reasoning_content: "I need the weather." }],
    ["tools-gemini.sse", { tool_calls: [{ extra_content: { google: { thought_signature: "CsYBAdHt" } } }, {}] }],
    ["tools-openrouter.sse", { reasoning_details: [{ text: "The city is Oslo." }, { data: "CiQB0e2Kb1Fz" }] }],
  ])("brings back what %s wants back with the results", async (file, expected) => {
    answer(readFixture(file));
    const provider = open();
    const round = toRound(await ask(provider), "Snow");
    mock.respond(null);
    expect(await ask(provider, "Hi", { rounds: [round] })).toMatchObject({ complete: true });
    expect((lastBody().messages as unknown[])[2]).toMatchObject({ role: "assistant", ...expected });
  });
});

describe("the request of the Responses API", () => {
  test("has tools that are not strict, and asks for thoughts that can be sent back", async () => {
    await ask(open({ api: "responses" }), "Hi");
    const { name, description, parameters } = weatherTool;
    expect(lastBody()).toMatchObject({
      tools: [{ type: "function", name, description, parameters, strict: false }],
      include: ["reasoning.encrypted_content"],
      store: false,
    });
    await ask(open({ api: "responses", extra: { include: ["x"], tools: [{ type: "function", name: "own" }] } }), "Hi");
    expect(lastBody()).toMatchObject({ include: ["reasoning.encrypted_content", "x"], tools: [{}, { name: "own" }] });
  });

  test("brings back all that the model put out, as it came, and then the results", async () => {
    const provider = open({ api: "responses" });
    const model = "always-thinks";
    // It refuses an effort first, and the request after that is a bare one.
    await ask(provider, "Hi", { model });
    const first = await ask(provider, `[[before:Let me see.]] ${call}${call}`, { model });
    expect(first).toMatchObject({ text: "Let me see.", calls: [{ name: "get_weather" }, { name: "get_weather" }] });
    const round = toRound(first, "Snow", first.text);
    const second = await ask(provider, `${call}${call}`, { model, rounds: [round] });
    expect(second).toMatchObject({ text: "The tools said: Snow; Snow", complete: true });
    expect(second.calls).toBeUndefined();
    const [a, b] = (first.calls ?? []).map(({ id }) => id);
    expect(lastBody().input).toMatchObject([
      { role: "user" },
      { type: "reasoning", encrypted_content: expect.stringMatching(/./), summary: [{}, {}] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] },
      { type: "function_call", call_id: a, arguments: '{"city":"Oslo"}' },
      { type: "function_call", call_id: b },
      { type: "function_call_output", call_id: a, output: "Snow" },
      { type: "function_call_output", call_id: b, output: "Snow" },
    ]);
  });

  test("has plain calls for rounds that carry nothing, or what another provider, model or wire has put out", async () => {
    const model = "always-thinks";
    const first = await ask(open({ api: "responses" }), `[[before:Hm.]] ${call}`, { model });
    const round = toRound(first, "Snow", "Hm.");
    for (const [fields, carry] of [
      [{ name: "another" }, round.carry],
      [{}, null],
      [{}, { items: ["made up"] }],
    ] as const) {
      await ask(open({ api: "responses", ...fields }), call, { model, rounds: [{ ...round, carry }] });
      expect(lastBody().input).toEqual([
        { role: "user", content: call },
        { role: "assistant", content: "Hm." },
        { type: "function_call", call_id: first.calls?.[0]?.id, name: "get_weather", arguments: '{"city":"Oslo"}' },
        { type: "function_call_output", call_id: first.calls?.[0]?.id, output: "Snow" },
      ]);
    }
    await ask(open({ api: "responses" }), call, { model: "can-be-quick", rounds: [round] });
    expect(JSON.stringify(lastBody().input)).not.toContain("encrypted");
    await ask(open({ api: "chat" }), call, { rounds: [round] });
    expect(lastBody().messages).toMatchObject([{}, {}, { content: "Hm.", tool_calls: [{}] }, { role: "tool" }]);
  });
});

describe.each(["chat", "responses"] as const)("an answer with calls over %s", (api) => {
  const provide = (options: Partial<OpenAiOptions> = {}) => open({ api, ...options });

  /** A call in parts, and what ends an answer. */
  function script(args: string, end: "done" | "length" | "filtered" | "stopped") {
    if (api === "chat") {
      const begun = { index: 0, id: "x", type: "function", function: { name: "get_weather", arguments: "" } };
      const finishReason = { done: "tool_calls", length: "length", filtered: "content_filter", stopped: "stop" }[end];
      return {
        text: chunk({ content: "Hm." }),
        parts: [begun, { index: 0, function: { arguments: args } }].map((one) =>
          chunk({ delta: { tool_calls: [one] } }),
        ),
        end: chunk({ finishReason }),
        mark: doneMark,
      };
    }
    const events = new ResponsesScript({ body: {} });
    const item = { id: "fc", type: "function_call", call_id: "x", name: "get_weather" };
    const output = { ...item, status: "completed", arguments: args };
    const reason = end === "length" ? "max_output_tokens" : "content_filter";
    const isDone = end === "done" || end === "stopped";
    const rest = { status: isDone ? "completed" : "incomplete", output: [output], incomplete_details: { reason } };
    return {
      text: events.event("response.output_text.delta", { delta: "Hm.", output_index: 0 }),
      parts: [
        events.event("response.output_item.added", { output_index: 1, item: { ...item, arguments: "" } }),
        events.event("response.function_call_arguments.delta", { item_id: "fc", output_index: 1, delta: args }),
      ],
      end: events.event(isDone ? "response.completed" : "response.incomplete", { response: rest }),
      mark: "",
    };
  }

  const city = '{"city":"Oslo"}';

  test("is whole without a word, and ends with the same word of all providers", async () => {
    for (const end of ["done", "stopped"] as const) {
      const sent = script(city, end);
      answer(...sent.parts, sent.end, sent.mark);
      expect(await ask(provide(), "Hi")).toMatchObject({
        ...{ complete: true, failure: null, text: "", finishReason: "tool_calls" },
        calls: [{ id: "x", name: "get_weather", arguments: city }],
      });
    }
  });

  test("that breaks before its end has none, is not asked for again, and counts what has come", async () => {
    const sent = script(city, "done");
    for (const sending of ["cut", "reset", "error"] as const) {
      mock.respond(async (_, response) => {
        for (const part of sent.parts) await response.write(part);
        if (sending === "error") await response.write(event({ error: { message: "overloaded", code: 503 } }));
        else response[sending]();
        response.end();
      });
      const asked = mock.requests.length;
      const failing = ask(provide(), "Hi");
      await expect(failing).rejects.toMatchObject({ code: "upstream_error", cause: { hasAsked: true } });
      const { cause } = (await failing.catch((error) => error)) as { cause: { charged: unknown } };
      expect(cause.charged).toMatchObject({ callBytes: "xget_weather".length + city.length, usage: null });
      expect(mock.requests).toHaveLength(asked + 1);
    }
  });

  test("that breaks after words is kept incomplete, and has none", async () => {
    const sent = script(city, "done");
    answer(sent.text, ...sent.parts);
    const outcome = await ask(provide(), "Hi");
    expect(outcome).toMatchObject({ complete: false, text: "Hm.", failure: { kind: "broken_off" } });
    expect(outcome.calls).toBeUndefined();
  });

  test("that its bound cut off leaves out what is not whole", async () => {
    const whole = script(city, "length");
    answer(...whole.parts, whole.end, whole.mark);
    expect(await ask(provide(), "Hi")).toMatchObject({ complete: true, finishReason: "length", calls: [{ id: "x" }] });
    const cut = script('{"city":"Os', "length");
    answer(cut.text, ...cut.parts, cut.end, cut.mark);
    const outcome = await ask(provide(), "Hi");
    expect(outcome).toMatchObject({ complete: true, finishReason: "length", text: "Hm." });
    expect(outcome.calls).toBeUndefined();
    answer(...cut.parts, cut.end, cut.mark);
    await expect(ask(provide({ reasoningTokens: 0 }), "Hi")).rejects.toMatchObject({ cause: { kind: "no_room" } });
  });

  test("beyond its bounds is malformed, and its connection is closed", async () => {
    const sent = script(`{"city":"${"x".repeat(70_000)}"}`, "done");
    mock.respond(async (_, response) => {
      for (const part of sent.parts) await response.write(part);
      await response.closed;
    });
    await expect(ask(provide(), "Hi")).rejects.toMatchObject({ cause: { kind: "malformed", isTransient: false } });
    await mock.until(() => mock.abortedRequests === 1);
  });

  test("may take as long as thoughts, counted from the beginning", async () => {
    const time = createVirtualTime();
    const sent = script(city, "done");
    const proceed = Promise.withResolvers<void>();
    mock.respond(async (_, response) => {
      await response.write(sent.parts[0] ?? "");
      await proceed.promise;
      await response.write(sent.parts[1] ?? "");
      await response.write(sent.end + sent.mark);
      response.end();
    });
    const outcome = ask(provide({ time }), "Hi");
    await mock.until(() => mock.openRequests === 1);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await time.pass(200_000);
    proceed.resolve();
    expect(await outcome).toMatchObject({ complete: true, calls: [{}] });
  });

  test("that never ends is given up at that time, and none else is asked", async () => {
    const time = createVirtualTime();
    mock.respond(async (_, response) => {
      await response.write(script(city, "done").parts[0] ?? "");
      await response.closed;
    });
    const failing = ask(provide({ time }), "Hi");
    await mock.until(() => mock.openRequests === 1);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await time.pass(300_000);
    await expect(failing).rejects.toMatchObject({ cause: { kind: "timed_out", hasAsked: true } });
  });

  test("hides thoughts beside calls, and heeds stop texts that we see to", async () => {
    const sent = script(city, "done");
    const tagged = sent.text.replace("Hm.", "<think>secret</think>Hm.");
    answer(tagged, ...sent.parts, sent.end, sent.mark);
    expect(await ask(provide(), "Hi")).toMatchObject({ text: "Hm.", calls: [{ id: "x" }] });
    answer(sent.text.replace("Hm.", "Hm. END"), ...sent.parts, sent.end, sent.mark);
    const stopping = { stop: ["END"], model: "can-be-quick" };
    if (api === "chat") return;
    const stopped = await ask(provide(), "Hi", stopping);
    expect(stopped).toMatchObject({ text: "Hm. ", complete: true, finishReason: "stop", wasCut: true });
    expect(stopped.calls).toBeUndefined();
  });
});

test("a chat that stays open after its finish_reason has its calls all the same", async () => {
  const time = createVirtualTime();
  mock.respond(async (_, response) => {
    const whole = { index: 0, id: "x", function: { name: "get_weather", arguments: "{}" } };
    await response.write(chunk({ delta: { tool_calls: [whole] } }) + chunk({ finishReason: "tool_calls" }));
    await response.closed;
  });
  const outcome = ask(open({ time }), "Hi");
  await mock.until(() => mock.openRequests === 1);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  await time.pass(5_000);
  expect(await outcome).toMatchObject({ complete: true, calls: [{ id: "x" }] });
});

test("what tools have answered, and their schemas, reach no log", async () => {
  const result = "The door's code is 4711-secret";
  const parameters: JsonObject = { type: "object", description: "internal-schema-text" };
  mock.respond(({ body }, response) =>
    response.send(400, {}, JSON.stringify({ error: { message: JSON.stringify(body) } })),
  );
  const failing = ask(open(), "Hi", { rounds: [withoutCarry("a", result)], tools: [{ ...weatherTool, parameters }] });
  const error = (await failing.catch((thrown) => thrown)) as { cause: { message: string } };
  const told = `${error.cause.message} ${JSON.stringify(log.events)}`;
  for (const secret of ["4711", "internal-schema-text", weatherTool.description]) expect(told).not.toContain(secret);
});
