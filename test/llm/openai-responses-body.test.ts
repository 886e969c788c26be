import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/companion.ts";
import { textParts } from "../../src/domain/conversation.ts";
import { createResponsesWire, listChatOnlyNames } from "../../src/engines/openai/responses-wire.ts";
import type { CallPlan } from "../../src/engines/openai/wire.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { refuseAsResponse } from "../support/mock-responses-rules.ts";

const plan: CallPlan = {
  effort: null,
  temperature: null,
  maxOutputTokens: 256,
  stop: [],
  boundName: "max_completion_tokens",
  sendsStreamOptions: true,
  sendsStore: true,
  systemRole: "system",
  joinsRoles: false,
  tools: [],
  sendsInclude: false,
  rounds: [],
  flattensRounds: false,
  form: null,
  extra: {},
};

function build(fields: Partial<CallPlan> = {}, request = replyRequest("Hi"), leastOutputTokens = 16): JsonObject {
  const body = createResponsesWire(leastOutputTokens).buildBody(request, { ...plan, ...fields });
  // What the API would say of it.
  expect(refuseAsResponse(body)).toBeNull();
  return body;
}

describe("the request of the Responses API", () => {
  test("has prompt, history and message, and no parameter that nobody set", () => {
    const messages = [
      { role: "user" as const, parts: textParts("Hi") },
      { role: "assistant" as const, parts: textParts("Hello") },
      { role: "user" as const, parts: textParts("How are you?") },
    ];
    expect(build({}, replyRequest("", { messages, stop: ["x"] }))).toEqual({
      model: "test-model",
      instructions: "You are Ada.",
      input: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "How are you?" },
      ],
      stream: true,
      store: false,
      stream_options: { include_obfuscation: false },
      max_output_tokens: 256,
    });
    expect(build({}, replyRequest("Hi", { systemPrompt: null }))).not.toHaveProperty("instructions");
  });

  test("has what the plan says, and nothing that it leaves out", () => {
    expect(build({ effort: "none", temperature: 0 })).toMatchObject({ reasoning: { effort: "none" }, temperature: 0 });
    const form = { name: "verdict", schema: { type: "object" } };
    expect(build({ form }).text).toEqual({ format: { type: "json_schema", ...form, strict: true } });
    const bare = build({ sendsStore: false, sendsStreamOptions: false, stop: ["x"] });
    expect(Object.keys(bare)).toEqual(["model", "instructions", "input", "stream", "max_output_tokens"]);
    const messages = ["Passages", "Hi"].map((text) => ({ role: "user" as const, parts: textParts(text) }));
    const joined = build({ joinsRoles: true }, replyRequest("", { messages }));
    expect(joined.input).toEqual([{ role: "user", content: "Passages\n\nHi" }]);
  });

  test("takes the operator's members over its own, objects member by member, under the names of chats too", () => {
    const extra: JsonObject = {
      temperature: 1,
      service_tier: "flex",
      reasoning: { summary: "auto" },
      reasoning_effort: "low",
      verbosity: "low",
      stream_options: { include_usage: true },
      store: true,
    };
    const body = build({ effort: "none", temperature: 0.2, extra });
    expect(body).toMatchObject({ temperature: 1, service_tier: "flex", store: true });
    expect(body.reasoning).toEqual({ effort: "low", summary: "auto" });
    expect(body.text).toEqual({ verbosity: "low" });
    expect(body.stream_options).toEqual({ include_obfuscation: false });
    expect(build({ extra: { text: { format: { type: "text" } }, verbosity: "high" } }).text).toEqual({
      format: { type: "text" },
      verbosity: "high",
    });
  });

  test("takes the lower of the bounds by any of their names, and never less than the API's least", () => {
    const bound = (extra: JsonObject, least?: number) => {
      const { max_tokens, max_completion_tokens, max_output_tokens } = build({ extra }, undefined, least);
      expect([max_tokens, max_completion_tokens]).toEqual([undefined, undefined]);
      return max_output_tokens;
    };
    for (const name of ["max_output_tokens", "max_tokens", "max_completion_tokens"]) {
      expect([bound({ [name]: 5000 }), bound({ [name]: 50 }), bound({ [name]: 5 })]).toEqual([256, 50, 16]);
    }
    expect(bound({ max_tokens: 100, max_output_tokens: 60 })).toBe(60);
    expect(bound({ max_tokens: "many" })).toBe(256);
    expect(build({ maxOutputTokens: 5 }, undefined, 16).max_output_tokens).toBe(16);
    expect(createResponsesWire(1).buildBody(replyRequest("Hi"), { ...plan, maxOutputTokens: 5 })).toMatchObject({
      max_output_tokens: 5,
    });
  });
});

test("members that only chats know are told from those that both know, or know by two names", () => {
  const extra = { seed: 1, top_p: 1, response_format: {}, reasoning_effort: "low", max_tokens: 5, chat_template: 1 };
  expect(listChatOnlyNames(extra)).toEqual(["seed", "response_format"]);
});
