/** How much a provider may send without a word: before the first text, and between two. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LlmProvider } from "../../src/contracts/llm/provider.ts";
import { chatReader } from "../../src/engines/openai/chat-reader.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { ReplyStream } from "../../src/engines/openai/reply-stream.ts";
import { createResponsesReader } from "../../src/engines/openai/responses-reader.ts";
import { streamLimits } from "../../src/engines/openai/stream-limits.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, event } from "../support/mock-llm-replies.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

const mebibyte = 2 ** 20;
const comment = ": still here\n\n";
/** By all that counts of it, more than the bound. */
const manyComments = comment.repeat((33 * mebibyte) / (comment.length + 2 * 256));
const wires = [
  {
    api: "chat",
    createReader: () => chatReader,
    word: chunk({ content: "One" }),
    last: chunk({ finishReason: "stop" }),
    wordless: {
      "empty deltas": event({ choices: [{ delta: { role: "assistant", content: "" } }] }),
      "deltas of NUL": event({ choices: [{ delta: { content: "\0" } }] }),
      "calls of tools": event({ choices: [{ delta: { tool_calls: [{ function: { arguments: "x" } }] } }] }),
    },
    thought: event({ choices: [{ delta: { reasoning_content: "hm" } }] }),
  },
  {
    api: "responses",
    createReader: createResponsesReader,
    word: event({ type: "response.output_text.delta", delta: "One", output_index: 1 }),
    last: event({ type: "response.completed", response: { status: "completed" } }),
    wordless: {
      "empty deltas": event({ type: "response.output_text.delta", delta: "", output_index: 1 }),
      announcements: event({ type: "response.in_progress", response: { instructions: "x".repeat(20_000) } }),
      "unknown events": event({ type: "response.of.a.newer.kind", delta: "x" }),
    },
    thought: event({ type: "response.reasoning_summary_text.delta", delta: "hm", output_index: 0 }),
  },
] as const;

for (const { api, createReader, word, last, wordless, thought } of wires) {
  describe(`over the wire of ${api}`, () => {
    const pieces = { comments: comment, "empty lines": "\n", "empty data": "data:\n\n", ...wordless };
    const kibibytes = { ...streamLimits, maxWordlessBytes: 32 * 1024, maxThinkingBytes: 256 * 1024 };

    /** How many reads of it, of a quarter of a kibibyte at least, break a stream off. */
    function countReads(piece: string, before: string): number {
      const stream = new ReplyStream(createReader(), [], kibibytes);
      expect(stream.feed(before)).toEqual(before.includes("One") ? ["One"] : []);
      let reads = 0;
      for (; !stream.isDone && reads < 2000; reads++) stream.feed(piece);
      expect(stream.failure).toMatchObject({ kind: "malformed", isTransient: false });
      return reads;
    }

    test.each(Object.entries(pieces))("%s without end break it off, before a word and after", (_, piece) => {
      const most = (32 * 1024) / 256;
      for (const before of [comment, word]) expect(countReads(piece, before)).toBeWithin(1, most);
    });

    test("thoughts may be longer, and are bounded all the same", () => {
      for (const before of [comment, word]) expect(countReads(thought, before)).toBeWithin(200, 400);
    });

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

    async function ask(...sent: string[]) {
      mock.respond(async (_, response) => {
        for (const part of sent) await response.write(part);
        response.end();
      });
      const reply = collectReply();
      const outcome = await provider.streamReply(replyRequest("Hi"), reply, new AbortController().signal);
      return { ...outcome, text: reply.text };
    }

    test("a provider that never comes to a word is not asked again", async () => {
      const asked = mock.requests.length;
      await expect(ask(manyComments)).rejects.toMatchObject({ cause: { kind: "malformed" } });
      expect(mock.requests).toHaveLength(asked + 1);
    });

    test("one that does not go on leaves its reply incomplete, unless that has ended", async () => {
      const failure = { kind: "malformed" };
      expect(await ask(word, manyComments)).toMatchObject({ text: "One", complete: false, failure });
      expect(await ask(word, last, manyComments)).toMatchObject({ text: "One", complete: true });
    });

    test("each word gives room for more", async () => {
      const some = manyComments.slice(0, comment.length * 40_000);
      expect(await ask(some, word, some, word, some, last)).toMatchObject({ text: "OneOne", complete: true });
    });
  });
}

test("bounds are 32 MiB, and 256 MiB of a model that thinks; each read and each line is 256 bytes at least", () => {
  const countReads = (bytes: string, before = ":\n") => {
    const stream = new ReplyStream(chatReader);
    stream.feed(before);
    let reads = 0;
    for (; !stream.isDone && reads < 200_000; reads++) stream.feed(bytes);
    expect(stream.failure?.message).toBe("too much without a word");
    return reads;
  };
  const line = `:${"x".repeat(65_534)}\n`;
  expect(countReads(line)).toBeWithin(500, 513);
  expect(countReads(line, wires[0].thought)).toBeWithin(4000, 4097);
  expect(countReads("\n".repeat(4096))).toBeWithin(30, 33);
  // Of a comment, of white space that may be the beginning of anything, and of a document.
  for (const before of [":", "\n", "{"]) expect(countReads(" ", before)).toBeWithin(100_000, (32 * mebibyte) / 256 + 1);
});
