/** What models refuse is left out in one more request, and remembered; a visitor can teach nothing. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LlmProvider, NextCall, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { textParts } from "../../src/domain/conversation.ts";
import { findFailureKind, ReplyFailure } from "../../src/domain/reply-failure.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, event, usageChunk, wholeStream } from "../support/mock-llm-replies.ts";
import { mockModels, openAiError } from "../support/mock-models.ts";

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

async function ask(provider: LlmProvider, model: string, fields: Partial<ReplyRequest> = {}) {
  const reply = collectReply();
  const request = replyRequest("Hi", { model, maxOutputTokens: 200, ...fields });
  const outcome = await provider.streamReply(request, reply, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

const kindOf = (asked: Promise<unknown>) => asked.then(() => null, findFailureKind);
const sent = (name: string) => mock.requests.map(({ body }) => body[name]);

test("an effort that a model does not take becomes the next higher one that its refusal lists, once and for all", async () => {
  const provider = open({ api: "responses" });
  expect(await ask(provider, "thinks-minimally")).toMatchObject({ text: "You said: Hi", complete: true });
  await ask(provider, "thinks-minimally");
  await ask(provider, "thinks-minimally", { reasoningEffort: "xhigh" });
  expect(sent("reasoning")).toEqual(["none", "minimal", "minimal", "high"].map((effort) => ({ effort })));
  // The room to think is part of the bound that is sent.
  expect(sent("max_output_tokens")).toEqual([200, 1200, 1200, 1200]);
  expect(log.events.filter(({ event }) => event.startsWith("provider refuses"))).toHaveLength(1);
});

test("a model that knows no effort is sent none, and takes a temperature over the Responses API", async () => {
  const provider = open({ api: "responses" });
  await ask(provider, "knows-no-effort", { temperature: 0.5 });
  await ask(provider, "knows-no-effort", { temperature: 0.5 });
  expect(sent("reasoning")).toEqual([{ effort: "none" }, undefined, undefined]);
  expect(sent("temperature")).toEqual([0.5, undefined, 0.5]);
  expect(sent("max_output_tokens")).toEqual([200, 200, 200]);
});

test("over the Responses API a temperature goes with the effort none alone", async () => {
  const provider = open({ api: "responses" });
  await ask(provider, "can-be-quick", { temperature: 0.5 });
  await ask(provider, "can-be-quick", { temperature: 0.5, reasoningEffort: "low" });
  expect(sent("temperature")).toEqual([0.5, undefined]);
  expect(mock.requests).toHaveLength(2);
});

test("efforts rank: the operator's object, the request, the provider's own; chats send none unasked", async () => {
  await ask(open(), "any");
  await ask(open({ reasoningEffort: "low" }), "any");
  await ask(open({ reasoningEffort: "low" }), "any", { reasoningEffort: "high" });
  await ask(open({ reasoningEffort: "low", extra: { reasoning_effort: "none" } }), "any", { reasoningEffort: "high" });
  expect(sent("reasoning_effort")).toEqual([undefined, "low", "high", "none"]);
  expect(sent("max_tokens")).toEqual([200, 1200, 1200, 200]);
});

describe.each(["chat", "responses"] as const)("over %s", (api) => {
  test("all that a model has not taken yet is left out at once, and tried again later", async () => {
    const refuses = new Set(["temperature", "store", "stream_options"]);
    const refused: string[] = [];
    mock.respond(async ({ body, path }, response) => {
      const name = [...refuses].find((one) => one in body);
      if (name !== undefined) {
        refused.push(name);
        const message = `Unknown parameter: '${name}'.`;
        return response.send(400, {}, openAiError(400, message, name, "unknown_parameter").body);
      }
      if (path.endsWith("/responses")) {
        return response.send(
          200,
          {},
          '{"object":"response","status":"completed","output":[{"type":"message","content":"ok"}]}',
        );
      }
      await response.write(wholeStream(["ok"]).join(""));
      response.end();
    });
    const provider = open({ api });
    for (let turn = 0; turn < 4; turn++) {
      const before = mock.requests.length;
      expect(await ask(provider, "picky", { temperature: 0.3 })).toMatchObject({ text: "ok", complete: true });
      expect(mock.requests.length - before).toBeLessThanOrEqual(2);
    }
    expect(refused.length).toBe(api === "chat" ? 2 : 3);
    const names = log.events.map(({ fields }) => fields.parameter);
    expect(new Set(names)).toEqual(new Set(api === "chat" ? ["temperature", "stream_options"] : refuses));
  });

  test("a form is sent as JSON Schema, and a model that knows none is asked without it", async () => {
    const form = { name: "verdict", schema: { type: "object", additionalProperties: false } };
    const provider = open({ api });
    expect(await ask(provider, "m", { form, temperature: 0 })).toMatchObject({ complete: true });
    expect(mock.requests[0]?.body).toMatchObject(
      api === "chat"
        ? { response_format: { type: "json_schema", json_schema: { ...form, strict: true } } }
        : { text: { format: { type: "json_schema", ...form, strict: true } } },
    );
    const name = api === "chat" ? "response_format" : "text";
    mock.respond(async ({ body, path }, response) => {
      const message = `Invalid parameter: '${name}' of type 'json_schema' is not supported with this model.`;
      if (name in body) return response.send(400, {}, openAiError(400, message, `${name}.format`, null).body);
      const whole = '{"object":"response","status":"completed","output":[{"type":"message","content":"ok"}]}';
      if (path.endsWith("/responses")) return response.send(200, {}, whole);
      await response.write(wholeStream(["ok"]).join(""));
      response.end();
    });
    for (const _ of "12") expect(await ask(provider, "old", { form })).toMatchObject({ text: "ok" });
    expect(sent(name).map((one) => one !== undefined)).toEqual([true, true, false, false]);
  });

  test("what was refused is forgotten where leaving it out does not help", async () => {
    mock.respond((_, response) =>
      response.send(400, {}, openAiError(400, "Unsupported parameter: 'temperature'.", "temperature", null).body),
    );
    const provider = open({ api });
    expect(await kindOf(ask(provider, "m", { temperature: 0.3 }))).toBe("refused_request");
    expect(await kindOf(ask(provider, "m", { temperature: 0.3 }))).toBe("refused_request");
    expect(sent("temperature")).toEqual([0.3, undefined, 0.3, undefined]);
    expect(log.events).toEqual([]);
  });
});

test("a refusal within the stream teaches as others do, and shows nothing to be taken", async () => {
  mock.respond(async ({ body }, response) => {
    const refused = ["temperature", "reasoning_effort"].find((name) => name in body);
    const message = `Unsupported parameter: '${refused}' is not supported with this model.`;
    const events = refused === undefined ? wholeStream(["ok"]) : [event({ error: { message, code: 400 } })];
    await response.write(events.join(""));
    response.end();
  });
  const provider = open();
  const fields = { temperature: 0.3, reasoningEffort: "low" as const };
  for (const _ of "123") expect(await ask(provider, "m", fields)).toMatchObject({ text: "ok" });
  expect(mock.requests).toHaveLength(5);
});

test("a temperature out of range costs that request its temperature, and no other one", async () => {
  mock.respond(async ({ body }, response) => {
    if (Number(body.temperature) > 1) {
      const message = "Invalid 'temperature': decimal above maximum value. Expected a value <= 1, but got 2 instead.";
      return response.send(400, {}, openAiError(400, message, "temperature", "decimal_above_max_value").body);
    }
    await response.write(wholeStream(["ok"]).join(""));
    response.end();
  });
  const provider = open();
  await ask(provider, "m", { temperature: 0.5 });
  await ask(provider, "m", { temperature: 2 });
  await ask(provider, "m", { temperature: 0.5 });
  expect(sent("temperature")).toEqual([0.5, 2, undefined, 0.5]);
});

test("a model that is served by the Responses API alone is asked there from then on, but not against the operator's word", async () => {
  const provider = open();
  expect(await ask(provider, "only-responses", { temperature: 1 })).toMatchObject({ text: "You said: Hi" });
  await ask(provider, "only-responses");
  expect(mock.requests.map(({ path }) => path)).toEqual([
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/responses",
    "/v1/responses",
  ]);
  expect(await kindOf(ask(open({ api: "chat" }), "only-responses"))).toBe("unknown_model");
  expect(await kindOf(ask(open({ extra: { seed: 1 } }), "only-responses"))).toBe("unknown_model");
  expect(mock.requests).toHaveLength(6);
});

test("where system is refused the prompt goes as developer's, and where that is refused too, before the first message", async () => {
  const provider = open();
  await ask(provider, "refuses-system");
  await ask(provider, "refuses-system");
  const roles = () => mock.requests.map(({ body }) => (body.messages as { role: string }[]).map(({ role }) => role));
  expect(roles()).toEqual([
    ["system", "user"],
    ["developer", "user"],
    ["developer", "user"],
  ]);
  mock.requests.length = 0;
  mock.respond(async ({ body }, response) => {
    const [{ role } = { role: "" }] = body.messages as { role: string }[];
    if (role !== "user") return response.send(400, {}, openAiError(400, `${role} role not supported`, null, null).body);
    await response.write(wholeStream(["ok"]).join(""));
    response.end();
  });
  const other = open();
  expect(await ask(other, "gemma")).toMatchObject({ text: "ok" });
  await ask(other, "gemma");
  expect(roles()).toEqual([["system", "user"], ["developer", "user"], ["user"], ["user"]]);
  expect(mock.requests[3]?.userText).toBe("You are Ada.\n\nHi");
});

test("models without a system prompt get it before the first message, in whatever words they refuse the role", async () => {
  const alternate = "Conversation roles must alternate user/assistant/user/assistant/...";
  // To `system`, and to `developer`, which a template may count as one of the turns.
  const refusals: [string, string][] = [
    ["role 'system' is not supported on this model", "role 'developer' is not supported on this model"],
    [
      "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
      "messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
    ],
    ["System role not supported", alternate],
    ["This model does not support the 'system' role.", "This model does not support the 'developer' role."],
    ["Unsupported role: system", alternate],
    [alternate, alternate],
  ];
  for (const [system, developer] of refusals) {
    mock.requests.length = 0;
    mock.respond(async ({ body }, response) => {
      const [role = ""] = (body.messages as { role: string }[]).map((one) => one.role);
      const message = { system, developer }[role];
      if (message !== undefined)
        return response.send(400, {}, JSON.stringify({ object: "error", message, param: null, code: 400 }));
      await response.write(wholeStream(["ok"]).join(""));
      response.end();
    });
    const provider = open();
    expect([system, (await ask(provider, "m")).text]).toEqual([system, "ok"]);
    await ask(provider, "m");
    expect([system, mock.requests.length]).toEqual([system, system === alternate ? 3 : 4]);
    expect(mock.requests.at(-1)?.userText).toBe("You are Ada.\n\nHi");
  }
});

test("a template that knows no system prompt, and no two turns of one side, gets neither", async () => {
  const message = "Conversation roles must alternate user/assistant/user/assistant/...";
  mock.respond(async ({ body }, response) => {
    const roles = (body.messages as { role: string }[]).map(({ role }) => role);
    if (roles.some((role, at) => role !== (at % 2 === 0 ? "user" : "assistant")))
      return response.send(400, {}, JSON.stringify({ object: "error", message, param: null, code: 400 }));
    await response.write(wholeStream(["ok"]).join(""));
    response.end();
  });
  const provider = open();
  const messages = ["First", "Second"].map((text) => ({ role: "user" as const, parts: textParts(text) }));
  for (const requests of [3, 4]) {
    expect(await ask(provider, "m", { messages })).toMatchObject({ text: "ok" });
    expect(mock.requests).toHaveLength(requests);
  }
  expect(mock.requests[3]?.userText).toBe("You are Ada.\n\nFirst\n\nSecond");
});

test("a server that forbids whatever it does not know is asked again without it, and with the other name of the bound", async () => {
  const provider = open({ extra: { max_completion_tokens: 500 } });
  expect(await ask(provider, "forbids-extras", { reasoningEffort: "low" })).toMatchObject({ text: "You said: Hi" });
  expect(mock.requests.length).toBeLessThanOrEqual(3);
  const before = mock.requests.length;
  await ask(provider, "forbids-extras", { reasoningEffort: "low" });
  expect(mock.requests).toHaveLength(before + 1);
  expect(mock.requests.at(-1)?.body).toMatchObject({ max_tokens: 200 });
});

test("a visitor teaches nothing, however a provider repeats what they wrote", async () => {
  const said = "temperature is not supported, use v1/responses, roles must alternate, and reasoning_effort neither";
  const quotes = [said, said.slice(0, 30), `${said.slice(0, 11)}…`, said.slice(40), said.toUpperCase()];
  for (const quote of quotes) {
    mock.respond((_, response) =>
      response.send(400, {}, openAiError(400, `Invalid message: '${quote}'`, null, null).body),
    );
    const fields = { temperature: 0.3, reasoningEffort: "low" as const };
    // What was written in several lines may be repeated in one.
    for (const written of [`So: ${said}!`, said, ` ${said.replaceAll(" ", " \n ")}`]) {
      const messages = [{ role: "user" as const, parts: textParts(written) }];
      const before = mock.requests.length;
      expect(await kindOf(ask(open(), "m", { ...fields, messages }))).toBe("refused_request");
      expect([quote, mock.requests.length - before]).toEqual([quote, 1]);
    }
  }
});

test("refusals without param or code are read from the message, in the words that providers use", async () => {
  const refusals: [string, string][] = [
    ["temperature", "`temperature` is deprecated for this model."],
    ["stop", "Unsupported parameter: 'stop' is not supported with this model."],
    ["stop", "Argument not supported on this model: stop"],
    ["stop", "Model grok-4.6 does not support parameter stop."],
    ["reasoning_effort", "Model grok-4 does not support parameter reasoningEffort."],
    ["stop", "Unrecognized request argument supplied: stop"],
    ["stop", "stop: Extra inputs are not permitted"],
    ["reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"],
    ["reasoning_effort", '"gemma3:4b" does not support thinking'],
    ["reasoning_effort", 'think value "low" is not supported for this model'],
    ["reasoning_effort", "Thinking level is not supported for this model."],
    ["stream_options", "stream_options: Extra inputs are not permitted"],
  ];
  for (const [name, message] of refusals) {
    mock.respond(async ({ body }, response) => {
      if (name in body) return response.send(422, {}, JSON.stringify({ error: { message } }));
      await response.write(wholeStream(["ok"]).join(""));
      response.end();
    });
    const messages = [{ role: "user" as const, parts: textParts("Is the temperature of a full stop high?") }];
    const fields = { temperature: 0.3, stop: ["END"], reasoningEffort: "low" as const, messages };
    expect(await ask(open(), "m", fields)).toMatchObject({ text: "ok" });
    expect(mock.requests.at(-1)?.body).not.toHaveProperty(name);
  }
});

test("an accident of the server's that merely mentions what can be left out teaches nothing", async () => {
  const accidents = [
    "Deep thinking is not finished: the worker was lost",
    "Too many replicas that support thinking are busy",
    "Worker of model: stop requested",
  ];
  for (const message of accidents) {
    mock.requests.length = 0;
    mock.respond(async (_, response) => {
      if (mock.requests.length === 1) return response.send(500, {}, openAiError(500, message, null, null).body);
      await response.write(wholeStream(["ok"]).join(""));
      response.end();
    });
    const fields = { stop: ["END"], reasoningEffort: "low" as const };
    expect(await ask(open(), "m", fields)).toMatchObject({ text: "ok" });
    expect([message, sent("reasoning_effort"), sent("stop")]).toEqual([message, ["low", "low"], [["END"], ["END"]]]);
  }
});

test("an effort that Ollama does not know becomes the next higher one of its list", async () => {
  mock.respond(async ({ body }, response) => {
    const message = `invalid reasoning value: '${body.reasoning_effort}' (must be "high", "medium", "low", "max", or "none")`;
    if (["minimal", "xhigh"].includes(String(body.reasoning_effort)))
      return response.send(400, {}, openAiError(400, message, null, null).body);
    await response.write(wholeStream(["ok"]).join(""));
    response.end();
  });
  const provider = open();
  for (const reasoningEffort of ["minimal", "minimal", "xhigh"] as const) {
    expect(await ask(provider, "m", { reasoningEffort })).toMatchObject({ text: "ok" });
  }
  expect(sent("reasoning_effort")).toEqual(["minimal", "low", "low", "max"]);
});

describe("room to think", () => {
  const lengthWithoutWord = [
    chunk({ delta: { reasoning_content: "Hm" } }),
    chunk({ finishReason: "length" }),
    usageChunk(10, 200),
  ];

  test("a bound that thoughts used up is asked for once more with room, which the model gets from then on", async () => {
    mock.respond(async ({ body }, response) => {
      const parts = Number(body.max_tokens) > 200 ? wholeStream(["ok"]) : lengthWithoutWord;
      await response.write(parts.join(""));
      response.end();
    });
    const told: NextCall[] = [];
    const gate = { permit: async (next: NextCall) => told.push(next) > 0 };
    const provider = open();
    expect(await ask(provider, "m", { gate })).toMatchObject({ text: "ok", complete: true, sentOutputTokens: 1200 });
    await ask(provider, "m");
    expect(sent("max_tokens")).toEqual([200, 1200, 1200]);
    expect(told).toMatchObject([{ maxOutputTokens: 1200, before: { usage: { outputTokens: 200 } } }]);
  });

  test("a first message is answered although the name of its bound is refused, too", async () => {
    const { text } = await ask(open(), "can-be-quick", { temperature: 0.7, maxOutputTokens: 40 });
    expect(text).not.toBe("");
    expect(mock.requests.map(({ body }) => body.max_tokens ?? body.max_completion_tokens)).toEqual([40, 40, 1040]);
  });

  test("thoughts that came to nothing are charged where no count came, of every call", async () => {
    mock.respond(async (_, response) => {
      await response.write(
        chunk({ delta: { reasoning_content: "x".repeat(400) } }) + chunk({ finishReason: "length" }),
      );
      response.end();
    });
    const told: NextCall[] = [];
    const gate = { permit: async (next: NextCall) => told.push(next) > 0 };
    const failed = await ask(open(), "m", { gate }).catch((error: Error) => error.cause);
    const charged = (sentOutputTokens: number) => ({ usage: null, reasoningBytes: 400, sentOutputTokens });
    expect(failed).toMatchObject({ kind: "no_room", charged: charged(1200) });
    expect(told).toMatchObject([{ before: charged(200) }]);
  });

  test("where a model takes no bound with room, it is asked without, then and later unless its context was too small", async () => {
    const refusals = [
      [
        "max_tokens is too large: 1200. This model supports at most 1000 completion tokens.",
        "max_tokens",
        [1200, 200, 200],
      ],
      [
        "'max_tokens' or 'max_completion_tokens' is too large: 1200. This model's maximum context length is 1100 tokens.",
        null,
        [1200, 200, 1200, 200],
      ],
    ] as const;
    for (const [message, param, bounds] of refusals) {
      mock.requests.length = 0;
      mock.respond(async ({ body }, response) => {
        if (Number(body.max_tokens) > 1000)
          return response.send(400, {}, JSON.stringify({ error: { message, param } }));
        await response.write(wholeStream(["ok"]).join(""));
        response.end();
      });
      const provider = open();
      for (const _ of "12") expect(await ask(provider, "m", { reasoningEffort: "low" })).toMatchObject({ text: "ok" });
      expect(sent("max_tokens")).toEqual([...bounds]);
    }
  });

  test("there is no further call where the setting is 0, or where budgets leave nothing for it", async () => {
    mock.respond(async (_, response) => {
      await response.write(lengthWithoutWord.join(""));
      response.end();
    });
    const failed = await ask(open({ reasoningTokens: 0 }), "m").catch((error: Error) => error.cause);
    expect(failed).toMatchObject({ kind: "no_room", charged: { usage: { inputTokens: 10, outputTokens: 200 } } });
    const refused = await ask(open(), "m", { gate: { permit: async () => false } }).catch(
      (error: Error) => error.cause,
    );
    // The gate has been told of it.
    expect(refused).toMatchObject({ kind: "no_room", charged: null });
    expect(mock.requests).toHaveLength(2);
    const revoked = new Error("revoked");
    expect(ask(open(), "m", { gate: { permit: () => Promise.reject(revoked) } })).rejects.toBe(revoked);
  });
});

test("a refused message and a reply that the filter kept back are filtered, and teach nothing", async () => {
  const failed = await ask(open(), "can-be-quick", {
    messages: [{ role: "user", parts: textParts("[[filtered]] temperature") }],
    temperature: 1,
  }).catch((error: Error) => error.cause);
  expect(failed).toMatchObject({ kind: "filtered", status: 400 });
  mock.respond(async (_, response) => {
    await response.write(chunk({ finishReason: "content_filter" }) + usageChunk(5, 1));
    response.end();
  });
  const empty = await ask(open(), "m").catch((error: Error) => error.cause);
  expect(empty).toBeInstanceOf(ReplyFailure);
  expect(empty).toMatchObject({ kind: "filtered", charged: { usage: { inputTokens: 5, outputTokens: 1 } } });
  expect(mock.requests).toHaveLength(2);
});
