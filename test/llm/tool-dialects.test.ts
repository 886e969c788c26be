/** Calls of tools as vendors stream them, from their bytes. */
import { describe, expect, test } from "bun:test";
import { createChatReader } from "../../src/engines/openai/chat-reader.ts";
import { ReplyStream } from "../../src/engines/openai/reply-stream.ts";
import { createResponsesReader } from "../../src/engines/openai/responses-reader.ts";
import { readFixture } from "../support/llm-dialects.ts";
import { chatToolDialects, responsesToolDialects } from "../support/llm-tool-dialects.ts";
import { chunk, doneMark, event } from "../support/mock-llm-replies.ts";

const wires = [
  { api: "chat", createReader: createChatReader, dialects: chatToolDialects },
  { api: "responses", createReader: createResponsesReader, dialects: responsesToolDialects },
] as const;

function read(createReader: typeof createChatReader, reads: readonly string[], round?: number) {
  const stream = new ReplyStream(createReader(round));
  const deltas = reads.flatMap((part) => stream.feed(part));
  deltas.push(...stream.end());
  return { stream, text: deltas.join(""), asked: stream.reader.asked };
}

function cut(bytes: string, size: number): string[] {
  return bytes.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
}

for (const { api, createReader, dialects } of wires) {
  describe(`over ${api}`, () => {
    for (const { file, text, calls, carry } of dialects) {
      test(`${file} yields its calls, wherever its bytes are cut`, () => {
        const bytes = readFixture(file).toString("latin1");
        for (const size of [bytes.length, 4096, 61, 7, 1]) {
          const { stream, asked, text: shown } = read(createReader, cut(bytes, size), 1);
          expect(stream.failure).toBeNull();
          expect(stream.finishReason).not.toBeNull();
          expect(shown).toBe(text);
          expect(asked?.bytes).toBeGreaterThan(0);
          expect(asked?.finish(false)).toEqual({ calls, carry: carry as never });
        }
      });

      test(`${file} yields no call in answer to a request without tools`, () => {
        const { stream, asked, text: shown } = read(createReader, [readFixture(file).toString("latin1")]);
        expect(asked).toBeUndefined();
        expect(shown).toBe(text);
        expect(stream.failure).toBeNull();
      });
    }
  });
}

const part = (fields: object, index: unknown = 0) => ({ index, type: "function", ...fields });
const parts = (...calls: object[]) => chunk({ delta: { tool_calls: calls } });
const finished = chunk({ finishReason: "tool_calls" }) + doneMark;

function readChat(reads: readonly string[], { isCut = false, round = 1 } = {}) {
  const { stream, asked } = read(createChatReader, [...reads.map((one) => Buffer.from(one).toString("latin1"))], round);
  return { failure: stream.failure, calls: asked?.finish(isCut).calls ?? [] };
}

describe("parts of calls in a chat", () => {
  test("ids that are missing, empty or given twice are made up, unique in the turn", () => {
    const { calls } = readChat(
      [
        parts(part({ id: null, function: { name: "a", arguments: "{}" } }, 0)),
        parts(part({ id: "", function: { name: "b", arguments: "{}" } }, 1)),
        parts(part({ id: "same", function: { name: "c", arguments: "{}" } }, 2)),
        parts(part({ id: "same", function: { name: "d", arguments: "{}" } }, 3)),
        parts(part({ id: "call03005", function: { name: "e", arguments: "{}" } }, 4)),
        finished,
      ],
      { round: 3 },
    );
    expect(calls.map(({ id }) => id)).toEqual(["call03001", "call03002", "same", "call03004", "call03005"]);
  });

  test("a name, and the id, may come with each part", () => {
    const { calls } = readChat([
      parts(part({ id: "x", function: { name: "look_up", arguments: '{"a":' } })),
      parts(part({ id: "x", function: { name: "look_up", arguments: "1}" } })),
      finished,
    ]);
    expect(calls).toEqual([{ id: "x", name: "look_up", arguments: '{"a":1}' }]);
  });

  test("calls without numbers and ids are told apart by their names", () => {
    const { calls } = readChat([
      parts({ function: { name: "a", arguments: '{"n":' } }),
      parts({ function: { arguments: "1}" } }),
      parts({ function: { name: "b", arguments: '{"n":2}' } }),
      parts({ function: { name: "b", arguments: '{"n":3}' } }),
      finished,
    ]);
    expect(calls.map(({ name, arguments: args }) => name + args)).toEqual(['a{"n":1}', 'b{"n":2}', 'b{"n":3}']);
  });

  test("a call in both the older form and today's is one", () => {
    const fields = { name: "a", arguments: "{}" };
    const both = { function_call: fields, tool_calls: [part({ id: "x", function: fields })] };
    expect(readChat([chunk({ delta: both }), finished]).calls).toHaveLength(1);
  });

  test("arguments that are no JSON are passed on as they are, without what no store keeps", () => {
    const call = part({ id: "x", function: { name: "a", arguments: '{"city": Oslo\0 \ud83d' } });
    expect(readChat([parts(call), finished]).calls).toMatchObject([{ arguments: '{"city": Oslo \ufffd' }]);
  });

  test("half a character at the end of a part is joined with the other half", () => {
    const { calls } = readChat([
      event({
        choices: [{ delta: { tool_calls: [part({ id: "x", function: { name: "a", arguments: '{"a":"\ud83d' } })] } }],
      }),
      event({ choices: [{ delta: { tool_calls: [part({ function: { arguments: '\ude42"}' } })] } }] }),
      finished,
    ]);
    expect(calls).toMatchObject([{ arguments: '{"a":"🙂"}' }]);
  });

  test("of an answer that was cut off, only what is whole is called", () => {
    const reads = [
      parts(part({ id: "x", function: { name: "a", arguments: '{"a":{}}' } })),
      parts(part({ id: "y", function: { name: "b", arguments: '{"a":{}' } }, 1)),
      parts(part({ id: "z", function: { name: "c", arguments: "" } }, 2)),
    ];
    expect(readChat(reads, { isCut: true }).calls.map(({ id }) => id)).toEqual(["x"]);
    expect(readChat(reads).calls.map(({ id }) => id)).toEqual(["x", "y", "z"]);
  });

  test("a call without a name is none", () => {
    expect(readChat([parts(part({ id: "x", function: { arguments: "{}" } })), finished]).calls).toEqual([]);
  });

  test("more than 32 calls, or 64 KiB of one, make the reply malformed", () => {
    const many = Array.from({ length: 33 }, (_, index) => part({ id: `c${index}`, function: { name: "a" } }, index));
    expect(readChat([parts(...many.slice(1)), finished]).failure).toBeNull();
    expect(readChat([parts(...many), finished]).failure).toMatchObject({
      kind: "malformed",
      message: expect.stringContaining("too many calls"),
    });
    const long = (bytes: number) => [
      parts(part({ id: "x", function: { name: "a", arguments: "" } })),
      ...Array.from({ length: 2 }, () => parts(part({ function: { arguments: "ö".repeat(bytes / 4) } }))),
      finished,
    ];
    expect(readChat(long(65_000)).failure).toBeNull();
    expect(readChat(long(66_000)).failure).toMatchObject({
      kind: "malformed",
      message: expect.stringContaining("too long"),
    });
  });
});

describe("items of a response", () => {
  const item = (fields: object) => event({ type: "response.output_item.done", item: fields });
  const call = (id: string, fields: object = {}) => ({
    type: "function_call",
    call_id: id,
    name: "a",
    arguments: "{}",
    ...fields,
  });
  const thought = (id: string, fields: object = {}) => ({ type: "reasoning", id, summary: [], ...fields });
  const completed = event({ type: "response.completed", response: { status: "completed", output: [] } });

  function readItems(reads: readonly string[], isCut = false) {
    const { stream, asked } = read(createResponsesReader, reads, 1);
    return { failure: stream.failure, ...asked?.finish(isCut) };
  }

  test("an item that is long is read where it has a call or thoughts", () => {
    const sealed = thought("rs_1", { encrypted_content: "g".repeat(40_000) });
    const long = call("x", { arguments: JSON.stringify({ text: "a".repeat(30_000) }) });
    const text = event({ type: "response.output_text.delta", delta: "Hm." });
    const { calls, carry } = readItems([text, item(sealed), item(long), completed]);
    expect(calls).toHaveLength(1);
    expect(carry).toEqual({ items: [sealed, long] });
  });

  test("thoughts that nobody could read again are left out, and so are the ids behind them", () => {
    const { carry } = readItems([
      item(thought("rs_1")),
      item({ ...call("x"), id: "fc_1" }),
      item(thought("rs_2", { encrypted_content: "gA" })),
      item({ ...call("y"), id: "fc_2" }),
      completed,
    ]);
    expect(carry).toEqual({
      items: [call("x"), { type: "reasoning", summary: [], encrypted_content: "gA" }, call("y")],
    });
  });

  test("a call that was cut off takes the thoughts before it along", () => {
    const sealed = (id: string) => thought(id, { encrypted_content: "gA" });
    const reads = [item(sealed("rs_1")), item(call("x")), item(sealed("rs_2")), item(call("y", { arguments: '{"a' }))];
    expect(readItems([...reads, completed], true)).toMatchObject({ carry: { items: [sealed("rs_1"), call("x")] } });
    expect(readItems(reads.slice(2), true)).toMatchObject({ calls: [], carry: null });
  });

  test("two calls of one id are told apart, in what goes back as well", () => {
    const { calls, carry } = readItems([item(call("x")), item(call("x")), completed]);
    expect(calls?.map(({ id }) => id)).toEqual(["x", "call01002"]);
    expect(carry).toEqual({ items: [call("x"), call("call01002")] });
  });

  test("more than 32 calls, 64 KiB of one, or 4 MiB of all, make the reply malformed", () => {
    const failureOf = (reads: readonly string[]) => readItems([...reads, completed]).failure;
    const many = Array.from({ length: 33 }, (_, index) => item(call(`c${index}`)));
    expect(failureOf(many.slice(1))).toBeNull();
    expect(failureOf(many)).toMatchObject({ kind: "malformed" });
    expect(failureOf([item(call("x", { arguments: "a".repeat(65_000) }))])).toBeNull();
    expect(failureOf([item(call("x", { arguments: "a".repeat(66_000) }))])).toMatchObject({ kind: "malformed" });
    const large = [1, 2, 3].map((n) => item(thought(`rs_${n}`, { encrypted_content: "g".repeat(1_500_000) })));
    expect(failureOf(large.slice(1))).toBeNull();
    expect(failureOf(large)).toMatchObject({ kind: "malformed", message: expect.stringContaining("too much") });
  });
});
