/** What is estimated of tools, rounds and calls where a provider does not count, and what is held for them before. */
import { expect, test } from "bun:test";
import type { ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { boundOfInput, costOfCall } from "../../src/core/turns/reply-cost.ts";
import { countReply } from "../../src/core/turns/reply-request.ts";
import { worstCostOfTokens } from "../../src/domain/prices.ts";
import type { ToolRound } from "../../src/domain/tool.ts";
import { noTokens } from "../../src/domain/usage.ts";
import { replyRequest, weatherTool } from "../contracts/llm-provider.ts";

const plain = replyRequest("Hi");
const tools = [weatherTool];
const round = (result: string, carry: unknown = null): ToolRound => ({
  text: "Hm.",
  calls: [{ id: "a", name: "get_weather", arguments: '{"city":"Oslo"}', result }],
  carry,
});

const inputOf = (request: ReplyRequest) => countReply(request, "", { usage: null }).inputTokens;
const schemaBytes = JSON.stringify(weatherTool.parameters).length;

test("tools and rounds are part of the estimate of what was sent", () => {
  const toolBytes = weatherTool.name.length + weatherTool.description.length + schemaBytes;
  expect(inputOf({ ...plain, tools }) - inputOf(plain)).toBeWithin(toolBytes / 4, toolBytes / 4 + 3);
  const result = "x".repeat(4000);
  expect(inputOf({ ...plain, rounds: [round(result)] }) - inputOf(plain)).toBeWithin(1000, 1010);
  expect(inputOf({ ...plain, tools: [], rounds: [] })).toBe(inputOf(plain));
});

test("calls are part of the estimate of what came, within the bound that was sent", () => {
  const count = (callBytes: number) => countReply(plain, "four", { usage: null, reasoningBytes: 40, callBytes });
  expect(count(400)).toMatchObject({ outputTokens: 1 + 10 + 100, reasoningTokens: 10, estimated: true });
  expect(count(100_000).outputTokens).toBe(plain.maxOutputTokens);
  const counted = { ...noTokens, inputTokens: 5, outputTokens: 6 };
  expect(countReply(plain, "", { usage: counted, callBytes: 400 })).toMatchObject({ inputTokens: 5, outputTokens: 6 });
});

test("what is held before a call covers tools, results, and what goes back to the provider", () => {
  const bound = boundOfInput(plain);
  expect(boundOfInput({ ...plain, tools })).toBeGreaterThanOrEqual(bound + schemaBytes);
  const result = "ö".repeat(500);
  const held = boundOfInput({ ...plain, rounds: [round(result)] });
  expect(held).toBeGreaterThanOrEqual(bound + 1000);
  const carry = { items: [{ encrypted_content: "g".repeat(5000) }] };
  expect(boundOfInput({ ...plain, rounds: [round(result, carry)] })).toBeGreaterThanOrEqual(held + 5000);
});

test("an answer that broke within a call costs at most the bytes of the call", () => {
  const price = { input: 0, cachedInput: 0, cacheWrite: 0, output: 1_000_000 };
  const cost = (callBytes: number) =>
    costOfCall(price, plain, { usage: null, callBytes }, { tokens: noTokens, text: "", isWhole: false });
  expect(cost(100)).toEqual(worstCostOfTokens(price, { inputTokens: 0, outputTokens: 100 }));
  expect(cost(100)).not.toEqual(cost(0));
});
