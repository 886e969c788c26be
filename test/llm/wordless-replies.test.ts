/** How much a provider may send without a word: before the first text, and between two. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatReader } from "../../src/llm/chat-reader.ts";
import { createOpenAiProvider } from "../../src/llm/openai.ts";
import type { LlmProvider } from "../../src/llm/provider.ts";
import { ReplyStream } from "../../src/llm/reply-stream.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, event, type Responder } from "../support/mock-llm-replies.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

const comment = ": still here\n\n";
const thought = event({ choices: [{ delta: { reasoning_content: "hm" } }] });
const wires = {
  chat: {
    word: chunk({ content: "One" }),
    last: chunk({ finishReason: "stop" }),
    wordless: {
      "empty deltas": event({ choices: [{ delta: { role: "assistant", content: "" } }] }),
      "deltas of NUL": event({ choices: [{ delta: { content: "\0" } }] }),
      thoughts: thought,
    },
  },
  responses: {
    word: event({ type: "response.output_text.delta", delta: "One", output_index: 1 }),
    last: event({ type: "response.completed", response: { status: "completed" } }),
    wordless: {
      "empty deltas": event({ type: "response.output_text.delta", delta: "", output_index: 1 }),
      announcements: event({ type: "response.in_progress", response: { instructions: "x".repeat(20_000) } }),
      thoughts: event({ type: "response.reasoning_summary_text.delta", delta: "hm", output_index: 0 }),
    },
  },
} as const;

for (const [api, { word, last, wordless }] of [
  ["chat", wires.chat],
  ["responses", wires.responses],
] as const) {
  describe(`over the wire of ${api}`, () => {
    let mock: MockLlm;
    let provider: LlmProvider;
    beforeAll(async () => {
      mock = await startMockLlm();
      const options = { apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log: createCapturedLog(), api };
      // No deadline passes.
      provider = createOpenAiProvider({ ...options, time: createVirtualTime() });
    });
    afterAll(async () => {
      provider.close();
      await mock.close();
    });
    beforeEach(() => {
      mock.requests.length = 0;
    });

    async function ask() {
      const reply = collectReply();
      const outcome = await provider.streamReply(replyRequest("Hi"), reply, new AbortController().signal);
      return { ...outcome, text: reply.text };
    }

    /** More than any bound; what ended there would be empty, or broken off. */
    const goOn =
      (piece: string, first = comment): Responder =>
      async (_, response) => {
        await response.write(first);
        const many = piece.repeat(Math.ceil(100_000 / piece.length));
        const writes = (300 * 2 ** 20) / (many.length + many.split("\n").length * 256);
        for (let written = 0; written < writes && !response.isClosed; written++) await response.write(many);
        response.end();
      };

    const pieces = { comments: comment, "empty lines": "\n", "empty data": "data:\n\n", ...wordless };
    test.each(Object.entries(pieces))("%s without end are no reply, and nothing is retried", async (_, piece) => {
      mock.respond(goOn(piece));
      await expect(ask()).rejects.toMatchObject({ cause: { kind: "malformed", isTransient: false } });
      await mock.until(() => mock.openRequests === 0);
      expect(mock.requests).toHaveLength(1);
    });

    test.each(Object.entries(pieces))("%s without end after a word leave it incomplete", async (_, piece) => {
      mock.respond(goOn(piece, word));
      expect(await ask()).toMatchObject({ text: "One", complete: false, failure: { kind: "malformed" } });
      await mock.until(() => mock.openRequests === 0);
    });

    test("each word gives room for more, and after the end nothing is missing", async () => {
      const most = comment.repeat((20 * 2 ** 20) / (comment.length + 2 * 256));
      mock.respond(async (_, response) => {
        for (const part of [most, word, most, word, most]) await response.write(part);
        await response.write(last);
        response.end();
      });
      expect(await ask()).toMatchObject({ text: "OneOne", complete: true });
    });
  });
}

test("a reply is whole where a counted end was followed by comments without end", () => {
  const stream = new ReplyStream(chatReader);
  expect(stream.feed(chunk({ content: "One" }) + chunk({ finishReason: "stop" }))).toEqual(["One"]);
  for (let reads = 0; reads < 100; reads++) stream.feed(comment.repeat(1000));
  expect(stream.isDone).toBe(true);
  expect(stream).toMatchObject({ hasContent: true, finishReason: "stop" });
});

test("bounds are of bytes, and of reads and lines, which count as 256 bytes at least; thoughts may be longer", () => {
  const countReads = (bytes: string, before = "") => {
    const stream = new ReplyStream(chatReader);
    stream.feed(before);
    let reads = 0;
    for (; !stream.isDone && reads < 200_000; reads++) stream.feed(bytes);
    expect(stream.failure?.message).toMatch(/without a word/);
    return reads;
  };
  const mebibyte = 2 ** 20;
  // White space alone may be the beginning of anything, and of a document each character may be a read.
  expect(countReads(" ")).toBeLessThanOrEqual((32 * mebibyte) / 256 + 1);
  expect(countReads(" ", "{")).toBeLessThanOrEqual((32 * mebibyte) / 256 + 1);
  expect(countReads(":", ":\n")).toBeLessThanOrEqual((32 * mebibyte) / 256 + 1);
  expect(countReads("\n".repeat(4096), ":\n")).toBeLessThanOrEqual(33);
  expect(countReads(`:${"x".repeat(65_534)}\n`)).toBeWithin(500, 513);
  expect(countReads(`:${"x".repeat(65_534)}\n`, thought)).toBeWithin(4000, 4097);
});
