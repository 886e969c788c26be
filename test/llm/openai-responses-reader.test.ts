import { describe, expect, test } from "bun:test";
import { createParser } from "eventsource-parser";
import type { CountedTokens } from "../../src/domain/usage.ts";
import { createResponsesReader } from "../../src/engines/openai/responses-reader.ts";
import type { EventError } from "../../src/engines/openai/wire.ts";
import { readFixture, responsesDialects } from "../support/llm-dialects.ts";

interface Sent {
  name: string;
  data: string;
}

/** The events of a stream, read by another's parser; a document is one without a name. */
function splitEvents(file: string): Sent[] {
  const text = readFixture(file).toString("utf8");
  if (file.endsWith(".json")) return [{ name: "", data: text }];
  const events: Sent[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ name: event ?? "", data }) }).feed(text);
  return events.filter(({ data }) => data !== "[DONE]");
}

function read(events: readonly Sent[], { drops = false } = {}) {
  const reader = createResponsesReader();
  const reply = { text: "", reasoningBytes: 0, finishReason: null as string | null, dropped: 0 };
  let usage: CountedTokens | null = null;
  let error: EventError | null = null;
  let isLast = false;
  for (const { name, data } of events) {
    if (drops && reader.skips?.(name, data.slice(0, 64))) {
      reply.dropped++;
      continue;
    }
    const reading = reader.read(JSON.parse(data), name);
    if (reading === null) throw new Error("not an object");
    reply.text += reading.text;
    reply.reasoningBytes += reading.reasoningBytes;
    reply.finishReason = reading.finishReason ?? reply.finishReason;
    usage = reading.usage ?? usage;
    error = reading.error ?? error;
    isLast ||= reading.isLast;
  }
  return { ...reply, usage, error: error as EventError | null, isLast };
}

/** Events by their data alone, as those of gateways that leave the `event:` lines out. */
function readValues(...values: object[]) {
  return read(values.map((value) => ({ name: "", data: JSON.stringify(value) })));
}

const delta = (text: string, index = 0) => ({ type: "response.output_text.delta", output_index: index, delta: text });
const added = (item: object, index = 0) => ({ type: "response.output_item.added", output_index: index, item });
const completed = (fields: object = {}) => ({
  type: "response.completed",
  response: { status: "completed", ...fields },
});
const errorOf = (event: object) => readValues(event).error;

describe("the recorded dialects of the Responses API", () => {
  for (const { file, text, usage, finishReason, failure, reasoningBytes } of responsesDialects) {
    test(`${file} yields its text, usage and ending, also without names and without what repeats`, () => {
      const events = splitEvents(file);
      const reply = read(events);
      expect(reply).toMatchObject({ text, finishReason, reasoningBytes, isLast: true });
      expect(reply.usage).toEqual(usage === null ? null : expect.objectContaining(usage));
      if (failure === null) expect(reply.error).toBeNull();
      else expect(reply.error?.message).toMatch(failure);

      expect(read(events.map(({ data }) => ({ name: "", data })))).toEqual(reply);
      const { dropped, ...rest } = read(events, { drops: true });
      const known = file.endsWith(".json") || events.length === 1;
      expect(dropped > 0).toBe(!known);
      expect({ ...rest, dropped: 0 }).toEqual(reply);
    });
  }
});

describe("text", () => {
  test("is that of every message in order, with nothing in between, and of refusals", () => {
    const refusal = { type: "response.refusal.delta", output_index: 1, delta: "No." };
    expect(readValues(delta("One."), delta("Two.", 1), refusal, completed()).text).toBe("One.Two.No.");
  });

  test("of a message that comments is thought, not read, however it comes", () => {
    const comment = { type: "message", phase: "commentary", content: [{ type: "output_text", text: "Hm." }] };
    const answer = { type: "message", phase: "final_answer", content: [{ type: "output_text", text: "Yes." }] };
    const streamed = [added(comment), delta("Hm."), added(answer, 1), delta("Yes.", 1), completed()];
    expect(readValues(...streamed)).toMatchObject({ text: "Yes.", reasoningBytes: 3 });
    expect(readValues(completed({ output: [comment, answer] }))).toMatchObject({ text: "Yes.", reasoningBytes: 3 });
    // Indexes are missing where a server has one message at a time.
    const { output_index: _, ...bare } = delta("Hm.");
    expect(readValues({ ...added(comment), output_index: undefined }, bare).text).toBe("");
  });

  test("comes once, from the first kind of event that has any", () => {
    const part = { type: "output_text", text: "Whole." };
    const item = { type: "message", content: [part] };
    const later = [
      { type: "response.output_text.done", output_index: 0, text: "Whole." },
      { type: "response.content_part.done", output_index: 0, part },
      { type: "response.output_item.done", output_index: 0, item },
      completed({ output: [item] }),
    ];
    for (const start of later.keys()) {
      expect(readValues(added({ type: "message", content: [] }), ...later.slice(start)).text).toBe("Whole.");
    }
    expect(readValues(delta(""), delta("Whole."), ...later).text).toBe("Whole.");
  });

  test("is nobody's where it is a thought, a call, padding or unknown", () => {
    const reply = readValues(
      { type: "response.reasoning_summary_text.delta", delta: "é" },
      { type: "response.reasoning_text.delta", delta: "no" },
      { type: "response.reasoning_text.done", text: "no" },
      { type: "response.content_part.done", part: { type: "reasoning_text", text: "no" } },
      { type: "response.function_call_arguments.delta", delta: "{}" },
      { type: "response.output_item.done", item: { type: "function_call", name: "f", arguments: "{}" } },
      { type: "keepalive", sequence_number: 3 },
      { type: "response.steer.pending", delta: "no", text: "no" },
      { type: "response.created", response: { output: [{ type: "message", content: "no" }], error: null } },
      {},
      { ...delta("yes"), obfuscation: "no" },
    );
    expect(reply).toMatchObject({ text: "yes", reasoningBytes: 4, finishReason: null, error: null, isLast: false });
  });

  test("is not read from JSON that is no object, nor from fields of another type", () => {
    const reader = createResponsesReader();
    expect([5, null, [], "x"].map((value) => reader.read(value, ""))).toEqual([null, null, null, null]);
    const odd = [
      delta(null as never),
      added(null as never),
      { type: "response.completed" },
      completed({ output: [null] }),
    ];
    expect(readValues(...odd)).toMatchObject({ text: "", error: null, finishReason: "stop" });
  });
});

describe("the end", () => {
  test("is stop, length, or the filter, also where the event's name does not say so", () => {
    const incomplete = (reason?: string) =>
      readValues({
        type: "response.incomplete",
        response: { incomplete_details: reason === undefined ? null : { reason } },
      }).finishReason;
    expect([incomplete("max_output_tokens"), incomplete("content_filter"), incomplete(), incomplete("other")]).toEqual([
      "length",
      "content_filter",
      "length",
      "other",
    ]);
    const inside = completed({ status: "incomplete", incomplete_details: { reason: "content_filter" } });
    expect(readValues(inside).finishReason).toBe("content_filter");
    expect(readValues(completed({ status: "in_progress" })).finishReason).toBe("stop");
    expect(readValues({ object: "response", status: "in_progress", output: [] }).finishReason).toBeNull();
    expect(readValues(completed({ status: "failed", error: { code: "server_error", message: "No." } })).error).toEqual({
      message: "No.",
      status: 500,
    });
  });

  test("counts what the provider counted, its parts at most as large as the whole", () => {
    const usageOf = (usage: object) => readValues(completed({ usage })).usage;
    expect(
      usageOf({
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 9 },
      }),
    ).toEqual({ inputTokens: 10, outputTokens: 5, cachedTokens: 8, cacheWriteTokens: 2, reasoningTokens: 5 });
    expect(usageOf({ input_tokens: 1, output_tokens: 2 })).toMatchObject({ cachedTokens: 0, reasoningTokens: 0 });
    for (const usage of [{}, { input_tokens: 1 }, { input_tokens: -1, output_tokens: 1.5 }]) {
      expect(usageOf(usage)).toBeNull();
    }
  });

  test.each([
    ["rate_limit_exceeded", 429],
    ["insufficient_quota", 429],
    ["credit_balance_exhausted", 429],
    ["server_error", 500],
    ["invalid_prompt", 400],
    ["toString", 400],
    ["503", 503],
  ])("of a failure by %s is %d, flat, nested and failed", (code, status) => {
    const error = { code, message: "No." };
    const expected = { message: "No.", status };
    expect(errorOf({ type: "error", ...error, param: null })).toEqual(expected);
    expect(errorOf({ type: "error", error: { type: "x", ...error } })).toEqual(expected);
    expect(errorOf({ type: "response.failed", response: { status: "failed", error } })).toEqual(expected);
  });

  test("of a failure is told by its type, its status or its event's name, where there is no code", () => {
    expect(errorOf({ type: "error", error: { type: "server_error", code: null, message: "x" } })?.status).toBe(500);
    expect(errorOf({ type: "error", error: { type: "invalid_request_error", message: "x" } })?.status).toBe(400);
    expect(errorOf({ type: "error", status: 529, error: { type: "overloaded", message: "x" } })?.status).toBe(529);
    expect(errorOf({ type: "error", error: { code: "content_filter", message: "x" } })).toEqual({
      message: "x",
      status: 400,
      kind: "filtered",
    });
    expect(errorOf({ error: { code: 502, message: "gone" } })).toEqual({ message: "gone", status: 502 });
    expect(errorOf({ error: "out of memory" })).toEqual({ message: "out of memory", status: null });
    expect(errorOf({ object: "error", message: "too long", code: 400 })?.status).toBe(400);
    expect(errorOf({ type: "response.failed", response: { error: null } })).toMatchObject({ status: null });
    expect(read([{ name: "error", data: '{"message":"overloaded"}' }]).error?.message).toBe("overloaded");
  });
});
