import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LlmProvider, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import type { JsonObject } from "../../src/domain/companion.ts";
import { textParts } from "../../src/domain/conversation.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest, testLlmProvider } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { dialects, readFixture } from "../support/llm-dialects.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark, errorBody, wholeStream } from "../support/mock-llm-replies.ts";
import { repeatWords } from "../support/mock-llm-speech.ts";

testLlmProvider("openai", async () => {
  const mock = await startMockLlm();
  mock.respond(repeatWords);
  const options = { apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: {}, log: createCapturedLog() };
  const provider = createOpenAiProvider(options);
  return {
    provider,
    async close() {
      provider.close();
      await mock.close();
    },
  };
});

let mock: MockLlm;
let opened: LlmProvider[];
beforeEach(async () => {
  opened = [];
  mock = await startMockLlm();
});
afterEach(async () => {
  for (const provider of opened) provider.close();
  await mock.close();
});

function open(options: Partial<OpenAiOptions> = {}): LlmProvider {
  const log = createCapturedLog();
  const provider = createOpenAiProvider({ apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: {}, log, ...options });
  opened.push(provider);
  return provider;
}

async function ask(provider: LlmProvider, text: string, fields: Partial<ReplyRequest> = {}) {
  const reply = collectReply();
  const outcome = await provider.streamReply(replyRequest(text, fields), reply, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

describe("the request", () => {
  test("sends prompt, history and message, and no parameter that nobody set", async () => {
    const messages = [
      { role: "user" as const, parts: textParts("Hi") },
      { role: "assistant" as const, parts: textParts("Hello") },
      { role: "user" as const, parts: textParts("How are you?") },
    ];
    await ask(open(), "", { messages });
    expect(mock.requests[0]).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(mock.requests[0]?.headers).toMatchObject({
      authorization: "Bearer sk-x",
      "content-type": "application/json",
    });
    expect(mock.requests[0]?.body).toEqual({
      model: "test-model",
      messages: [
        { role: "system", content: "You are Ada." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "How are you?" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 256,
    });
  });

  test("sends the temperature where it is set, zero included, and no empty prompt", async () => {
    await ask(open(), "Hi", { temperature: 0, systemPrompt: null });
    expect(mock.requests[0]?.body).toMatchObject({ temperature: 0, messages: [{ role: "user", content: "Hi" }] });
  });

  test("sends no Authorization without a key", async () => {
    await ask(open({ apiKey: null }), "Hi");
    expect(mock.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test("keeps the path and the query of the base URL", async () => {
    await ask(open({ baseUrl: `${mock.url}/openai/deployments/x?api-version=2024-10-21` }), "Hi");
    expect(mock.requests[0]?.path).toBe("/openai/deployments/x/chat/completions?api-version=2024-10-21");
  });

  test("merges the operator's object over its own", async () => {
    const extra: JsonObject = {
      reasoning_effort: "minimal",
      temperature: 1,
      stream_options: { include_obfuscation: false },
    };
    await ask(open({ extra }), "Hi", { temperature: 0.2 });
    expect(mock.requests[0]?.body).toMatchObject({
      reasoning_effort: "minimal",
      temperature: 1,
      stream_options: { include_usage: true, include_obfuscation: false },
    });
  });

  test("takes the bound's name from the operator's object, and the lower of both bounds", async () => {
    const bounds = async (extra: JsonObject) => {
      await ask(open({ extra }), "Hi", { maxOutputTokens: 100 });
      const { max_tokens, max_completion_tokens } = mock.requests.at(-1)?.body ?? {};
      return { max_tokens, max_completion_tokens };
    };
    expect(await bounds({ max_completion_tokens: 5000 })).toEqual({
      max_tokens: undefined,
      max_completion_tokens: 100,
    });
    expect(await bounds({ max_tokens: 50 })).toEqual({ max_tokens: 50, max_completion_tokens: undefined });
  });

  test("sends text beyond ASCII as UTF-8, and a large history whole", async () => {
    const text = `${"Grüße, 世界 🙂 ".repeat(300_000)}end`;
    mock.respond((_, response) => wholeReply("fine", response));
    await ask(open(), text);
    expect(mock.requests[0]?.userText).toBe(text);
  });

  test("drops stream_options for a model that refuses it, at once and from then on", async () => {
    mock.respond(async ({ body }, response) => {
      if (!("stream_options" in body)) return wholeReply("fine", response);
      response.send(400, {}, '{"error":{"message":"Unrecognized request argument supplied: stream_options"}}');
    });
    const provider = open();
    expect(await ask(provider, "Hi")).toMatchObject({ text: "fine", complete: true });
    await ask(provider, "Hi");
    expect(mock.requests.map(({ body }) => "stream_options" in body)).toEqual([true, false, false]);
  });

  test("renames the bound for a model that refuses max_tokens", async () => {
    mock.respond(async ({ body }, response) => {
      if (!("max_tokens" in body)) return wholeReply("fine", response);
      const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
      response.send(400, {}, JSON.stringify({ error: { message, code: "unsupported_parameter" } }));
    });
    expect(await ask(open(), "Hi")).toMatchObject({ text: "fine" });
    expect(mock.requests[1]?.body).toMatchObject({ max_completion_tokens: 256 });
  });

  test.each([400, 500])(
    "lets one side speak once at a time for a model whose template refuses it with %d",
    async (status) => {
      mock.respond(async ({ body }, response) => {
        const roles = (body.messages as { role: string }[]).map(({ role }) => role);
        if (roles.every((role, index) => role !== roles[index + 1])) return wholeReply("fine", response);
        const message = "Conversation roles must alternate user/assistant/user/assistant/...";
        response.send(status, {}, JSON.stringify({ error: { message } }));
      });
      const provider = open();
      const messages = ["Passages", "Hi"].map((text) => ({ role: "user" as const, parts: textParts(text) }));
      for (let turn = 0; turn < 2; turn++) {
        expect(await ask(provider, "", { messages })).toMatchObject({ text: "fine", complete: true });
      }
      expect(mock.requests.map(({ body }) => (body.messages as object[]).length)).toEqual([3, 2, 2]);
      expect(mock.requests[2]?.userText).toBe("Passages\n\nHi");
    },
  );

  test("gives up on a 400 that goes on", async () => {
    mock.respond((_, response) =>
      response.send(400, {}, '{"error":{"message":"stream_options max_completion_tokens"}}'),
    );
    await expect(ask(open(), "Hi")).rejects.toMatchObject({ code: "upstream_error" });
    expect(mock.requests).toHaveLength(2);
    mock.respond((_, response) => response.send(400, {}, errorBody(400)));
    await expect(ask(open(), "Hi")).rejects.toMatchObject({ code: "upstream_error" });
    expect(mock.requests).toHaveLength(3);
  });
});

async function wholeReply(text: string, response: { write(text: string): Promise<void>; end(): void }): Promise<void> {
  await response.write(wholeStream([text]).join(""));
  response.end();
}

describe("the reply", () => {
  for (const dialect of dialects) {
    test(`${dialect.file} arrives whole, a byte at a time`, async () => {
      const bytes = readFixture(dialect.file);
      mock.respond(async (_, response) => {
        response.begin(200, { "Content-Type": dialect.contentType });
        const size = bytes.length > 1500 ? 7 : 1;
        for (let at = 0; at < bytes.length; at += size) await response.write(bytes.subarray(at, at + size));
        response.end();
      });
      const asked = ask(open({ backoffMs: 1 }), "Hi");
      if (dialect.text === "") {
        const failure = await asked.catch((error: unknown) => error);
        expect(failure).toMatchObject({
          code: "upstream_error",
          cause: { message: expect.stringMatching(dialect.failure ?? /^$/) },
        });
        return;
      }
      const { complete, failure, text, usage } = await asked;
      expect(text).toBe(dialect.text);
      expect(usage).toEqual(dialect.usage === null ? null : expect.objectContaining(dialect.usage));
      expect(complete).toBe(dialect.isComplete);
      if (dialect.failure === null) expect(failure).toBeNull();
      else expect(failure).toMatchObject({ message: expect.stringMatching(dialect.failure) });
    });
  }

  test("hands on what arrived in one read as one write", async () => {
    mock.respond((_, response) => wholeReply("", response));
    const provider = open();
    mock.respond(async (_, response) => {
      await response.write(wholeStream(["a", "b", "c"]).join(""));
      response.end();
    });
    const reply = collectReply();
    await provider.streamReply(replyRequest("Hi"), reply, new AbortController().signal);
    expect(reply.writes).toEqual([["a", "b", "c"]]);
  });

  test("is complete with a finish_reason alone, and with [DONE] alone", async () => {
    const parts = (...all: string[]) =>
      mock.respond(async (_, response) => {
        await response.write(all.join(""));
        response.end();
      });
    parts(chunk({ content: "a" }), chunk({ finishReason: "content_filter" }));
    expect(await ask(open(), "Hi")).toMatchObject({ text: "a", complete: true });
    parts(chunk({ content: "b" }), doneMark);
    expect(await ask(open(), "Hi")).toMatchObject({ text: "b", complete: true });
    parts(chunk({ content: "c" }));
    expect(await ask(open(), "Hi")).toMatchObject({ text: "c", complete: false });
  });

  test("is read from a body without length that the connection's end closes", async () => {
    mock.respond(async (_, response) => {
      response.begin(200, { Connection: "close" });
      await response.write(wholeStream(["all ", "here"]).join(""));
      response.end();
    });
    expect(await ask(open(), "Hi")).toMatchObject({ text: "all here", complete: true });
  });

  test("does not wait for a body that goes on after [DONE], nor for usage that never comes", async () => {
    mock.respond(async (_, response) => {
      await response.write(wholeStream(["done"]).join(""));
      await response.closed;
    });
    expect(await ask(open(), "Hi")).toMatchObject({ text: "done", complete: true });
    mock.respond(async (_, response) => {
      await response.write(chunk({ content: "finished" }) + chunk({ finishReason: "stop" }));
      await response.closed;
    });
    expect(await ask(open({ deadlines: { finishMs: 20 } }), "Hi")).toMatchObject({ text: "finished", complete: true });
  });
});
