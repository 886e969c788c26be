import { expect, test } from "bun:test";
import { chooseWire } from "../../src/engines/openai/wire-choice.ts";

test.each<[string | null, "chat" | "responses"]>([
  [null, "responses"],
  ["https://api.openai.com/v1", "responses"],
  ["https://eu.api.openai.com/v1", "responses"],
  ["https://notapi.openai.com.example/v1", "chat"],
  ["https://me.openai.azure.com/openai/v1", "responses"],
  ["https://me.services.ai.azure.com/openai/v1/", "responses"],
  ["https://me.openai.azure.com/openai/deployments/x?api-version=2024-10-21", "chat"],
  ["https://openrouter.ai/api/v1", "chat"],
  ["http://127.0.0.1:11434/v1", "chat"],
])("auto at %p is %s", (baseUrl, name) => {
  expect(chooseWire("auto", baseUrl, {})).toEqual({ name, mayChange: true, because: [] });
  expect(chooseWire("chat", baseUrl, {}).name).toBe("chat");
  expect(chooseWire("responses", baseUrl, { seed: 1 }).name).toBe("responses");
});

test("what only chats know keeps auto at chats, and is named where that is a change", () => {
  const extra = { seed: 1, max_tokens: 5, reasoning_effort: "low", response_format: { type: "text" } };
  const kept = { name: "chat" as const, mayChange: false };
  expect(chooseWire("auto", null, extra)).toEqual({ ...kept, because: ["seed", "response_format"] });
  expect(chooseWire("auto", "http://127.0.0.1:1/v1", extra)).toEqual({ ...kept, because: [] });
});
