import { describe, expect, test } from "bun:test";
import type { ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { toPassagesMessage } from "../../src/core/knowledge/retrieval/passages-message.ts";
import { textParts } from "../../src/domain/conversation.ts";
import { createDemoProvider } from "../../src/engines/demo/demo.ts";
import { findQuotation } from "../../src/engines/demo/passages.ts";
import { replyRequest, testLlmProvider, toRound } from "../contracts/llm-provider.ts";
import { collectReply } from "../support/collected-reply.ts";

const provider = createDemoProvider({ wordDelayMs: 0 });

testLlmProvider("demo", async () => ({ provider, close: async () => provider.close() }));

async function ask(...said: string[]): Promise<string> {
  const reply = collectReply();
  const messages = said.flatMap((text, index) =>
    index === 0
      ? [{ role: "user" as const, parts: textParts(text) }]
      : [
          { role: "assistant" as const, parts: textParts("…") },
          { role: "user" as const, parts: textParts(text) },
        ],
  );
  await provider.streamReply(replyRequest("", { messages }), reply, new AbortController().signal);
  return reply.text;
}

test("says in the first reply that it is a demo, and how to get a real model", async () => {
  for (const said of ["Hello!", "What can you do?", "Why is the sky blue?", "I like trains"]) {
    const reply = await ask(said);
    expect(reply).toContain("built-in demo");
    expect(reply).toContain("OPENAI_API_KEY");
  }
});

test("quotes the paragraph of the passages that fits, with its number", async () => {
  const passage = { page: null, heading: null, sourceId: "s", edition: 1, ordinal: 0, url: null };
  const passages = [
    { ...passage, n: 1, title: "Hours", text: "Open from nine to five." },
    {
      ...passage,
      n: 2,
      title: "Returns",
      text: "Labels are in the parcel.\n\nYou may `return` it within **30** days.",
    },
  ];
  const brought = toPassagesMessage(passages, { answerMode: "free", citations: "footer" }, "x".repeat(20));
  const asked = { role: "user" as const, parts: textParts("How long may I return something?") };
  const reply = collectReply();
  await provider.streamReply(replyRequest("", { messages: [brought, asked] }), reply, new AbortController().signal);
  expect(reply.text).toContain("> You may return it within 30 days.[2]");
  expect(reply.text).toContain("OPENAI_API_KEY");
});

test("quotes what stands below a heading, and a table in one line", () => {
  const bring = (text: string) => [
    toPassagesMessage(
      [{ page: null, heading: null, sourceId: "s", edition: 1, ordinal: 0, url: null, n: 1, title: "T", text }],
      { answerMode: "free", citations: "footer" },
      "x".repeat(20),
    ),
  ];
  const tour = bring("# Tours\n\n## Brenner tour\n\nIt takes four days.");
  expect(findQuotation(tour, "How much is the Brenner tour?")?.text).toBe("It takes four days.");
  const prices = bring("## Rental\n\n| Kind | Week |\n| --- | --- |\n| City bike | 90 € |\n| E-bike | 230 € |");
  expect(findQuotation(prices, "And for a week?")?.text).toBe("Kind, Week; City bike, 90 €; E-bike, 230 €");
});

test("reacts to what was said", async () => {
  const replies = await Promise.all(
    ["Hi", "What can you do?", "Why?", "I like trains", "thanks a lot", "Bye"].map((said) => ask(said)),
  );
  expect(new Set(replies).size).toBe(6);
  expect(replies[3]).toContain("> I like trains");
});

test("does not repeat the set-up in later turns", async () => {
  expect(await ask("Hello", "I like trains")).not.toContain("OPENAI_API_KEY");
});

test("quotes a long message in part, cutting no character", async () => {
  const reply = await ask("🙂".repeat(500));
  expect(reply).toContain(`> ${"🙂".repeat(200)}…`);
  expect(reply.isWellFormed()).toBe(true);
});

test("streams word by word", async () => {
  const reply = collectReply();
  await provider.streamReply(replyRequest("Hello"), reply, new AbortController().signal);
  expect(reply.writes.length).toBeGreaterThan(10);
  expect(reply.writes.every((deltas) => deltas.length === 1 && /^\s*\S+\s*$/.test(deltas[0] ?? ""))).toBe(true);
});

describe("with tools", () => {
  const hours = { name: "opening_hours", description: "When the shop is open.", parameters: { type: "object" } };
  const order = { name: "place_order", description: "Orders parcels.", parameters: { type: "object" } };

  async function askWith(text: string, fields: Partial<ReplyRequest>) {
    const reply = collectReply();
    const outcome = await provider.streamReply(replyRequest(text, fields), reply, new AbortController().signal);
    return { ...outcome, text: reply.text };
  }

  test("calls the tool that shares most words of four letters with the message, each once a turn", async () => {
    const tools = [order, hours];
    const first = await askWith("Is the SHOP Open?", { tools });
    expect(first).toMatchObject({ text: "", calls: [{ name: "opening_hours", arguments: "{}" }] });
    const rounds = [toRound(first, '{"open":"9 to 5"}')];
    const second = await askWith("Is the SHOP Open?", { tools, rounds });
    expect(second.calls).toBeUndefined();
    expect(second.text).toContain('`opening_hours` answered:\n\n> {"open":"9 to 5"}');
    expect(second.text).toContain("OPENAI_API_KEY");
    const both = await askWith("Is the shop open, and may I order parcels?", { tools, rounds });
    expect(both.calls).toMatchObject([{ id: "call_demo2", name: "place_order" }]);
  });

  test("answers as ever where no tool fits", async () => {
    for (const text of ["Hello!", "Is it for me?", "I like trains"]) {
      const plain = await askWith(text, {});
      expect(await askWith(text, { tools: [hours, order] })).toEqual(plain);
    }
  });

  test("fills in what the schema requires from what it suggests, or plainly", async () => {
    const properties = {
      usual: { type: "string", default: "x" },
      example: { type: "string", examples: ["y"] },
      choice: { enum: ["z"] },
      fixed: { const: 7 },
      text: { type: "string" },
      day: { type: "string", format: "date" },
      count: { type: ["integer", "null"], minimum: 3 },
      price: { type: "number" },
      flag: { type: "boolean" },
      list: { type: "array", items: {} },
      nested: { $ref: "#/$defs/nested" },
      either: { anyOf: [{ type: "boolean" }, { type: "string" }] },
      gone: { $ref: "#/$defs/none" },
    };
    const nested = { type: "object", properties: { inner: { type: "number" } }, required: ["inner"] };
    const parameters = {
      ...{ type: "object", properties: { ...properties, unasked: { default: 1 } }, $defs: { nested } },
      required: [...Object.keys(properties), "unknown"],
    };
    const { calls } = await askWith("the hours", { tools: [{ ...hours, parameters }] });
    expect(JSON.parse(calls?.[0]?.arguments ?? "")).toEqual({
      ...{ usual: "x", example: "y", choice: "z", fixed: 7, text: "example", day: "2026-01-31", count: 3, price: 1 },
      ...{ flag: true, list: [], nested: { inner: 1 }, either: true, gone: "example", unknown: "example" },
    });
  });

  test("is done soon with a schema that has itself in it", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
    const parameters = { type: "object", properties, required: names };
    const { calls } = await askWith("the hours", { tools: [{ ...hours, parameters }] });
    expect(calls?.[0]?.arguments.length).toBeLessThan(64 * 1024);
  });
});
