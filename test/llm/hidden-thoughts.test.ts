/** What a model thinks, and what follows a stop text, reaches nobody, however it is cut into deltas. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { ReplyText } from "../../src/engines/openai/reply-text.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark, event } from "../support/mock-llm-replies.ts";

/** The text as one delta, a character at a time, and cut in two at each place. */
function* cuts(text: string): Generator<string[]> {
  yield [text];
  yield [...text];
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)];
}

function show(deltas: readonly string[], stops: readonly string[] = []) {
  const shown = new ReplyText(stops);
  const out: string[] = [];
  for (const delta of deltas) shown.push(delta, out);
  shown.release(out);
  expect(out).not.toContain("");
  return { text: out.join(""), hidden: shown.hiddenBytes, isStopped: shown.isStopped };
}

test.each<[string, string]>([
  ["<think>hm</think>\n\nHello", "Hello"],
  ["\n <thinking>\nhm</think> </thinking> \n Hello <think>not</think>", "Hello <think>not</think>"],
  ["<think></think>Hello", "Hello"],
  ["<think>endless </thin", ""],
  ["<think>hm</think>  ", ""],
  [" \n Hello", " \n Hello"],
  ["Hello <think>x</think>", "Hello <think>x</think>"],
  ["<thin", "<thin"],
  ["<thinker>x</thinker>", "<thinker>x</thinker>"],
  ["< think>x", "< think>x"],
  ["  ", "  "],
])("of %p a visitor reads %p", (text, shown) => {
  for (const deltas of cuts(text)) expect([deltas, show(deltas).text]).toEqual([deltas, shown]);
});

test.each<[string, string[], string, boolean]>([
  ["one END two", ["END"], "one ", true],
  ["one EN", ["END"], "one EN", false],
  ["EENEND", ["END"], "EEN", true],
  ["a b c", ["c", "b"], "a ", true],
  ["<think>END</think> so\n\nso END", ["END", "\n\n"], "so", true],
  ["🙂END", ["🙃", "END"], "🙂", true],
  ["all", ["", "x"], "all", false],
])("%p with the stop texts %p ends as %p", (text, stops, shown, isStopped) => {
  for (const deltas of cuts(text)) {
    const { text: read, isStopped: found } = show(deltas, stops);
    expect([deltas, read, found]).toEqual([deltas, shown, isStopped]);
  }
});

test("thoughts count as bytes, once", () => {
  for (const deltas of cuts("<think>Grüße</think>Hi")) expect(show(deltas).hidden).toBe(22);
});

describe.each(["chat", "responses"] as const)("over %s", (api) => {
  let mock: MockLlm;
  beforeEach(async () => {
    mock = await startMockLlm();
  });
  afterEach(() => mock.close());

  const say = (text: string) =>
    api === "chat"
      ? chunk({ content: text })
      : event({ type: "response.output_text.delta", delta: text, output_index: 0 });
  const think =
    api === "chat"
      ? chunk({ delta: { reasoning_content: "Hm, the secret" } })
      : event({ type: "response.reasoning_summary_text.delta", delta: "Hm, the secret" });
  const end =
    api === "chat"
      ? chunk({ finishReason: "stop" }) + doneMark
      : event({ type: "response.completed", response: { status: "completed", output: [] } });

  async function ask(
    options: Partial<OpenAiOptions> = {},
    stop: readonly string[] = [],
    asking: Partial<ReplyRequest> = {},
  ) {
    const base = { apiKey: "sk-x", baseUrl: `${mock.url}/v1`, extra: {}, log: createCapturedLog(), backoffMs: 1 };
    const provider = createOpenAiProvider({ ...base, api, ...options });
    const reply = collectReply();
    const request = replyRequest("Hi", { stop, ...asking });
    const asked = provider.streamReply(request, reply, new AbortController().signal);
    const outcome = await asked.finally(() => provider.close());
    return { ...outcome, text: reply.text, writes: reply.writes };
  }

  test("thoughts are no text, but are counted for the estimate", async () => {
    mock.respond(async (_, response) => {
      await response.write(think + say("<thi") + say("nk>the secret</think>") + say(" Hello") + end);
      response.end();
    });
    const { text, reasoningBytes, complete } = await ask();
    expect({ text, reasoningBytes, complete }).toEqual({ text: "Hello", reasoningBytes: 14 + 25, complete: true });
  });

  test("a reply that is seen to think has a time of its own", async () => {
    mock.respond(async (_, response) => {
      await response.write(think);
      await response.closed;
    });
    const deadlines = { firstTextMs: 60_000, reasoningMs: 30 };
    const failed = await ask({ deadlines }).catch((error: Error) => error.cause);
    expect(failed).toMatchObject({ kind: "timed_out", message: "no text after 30 ms" });
  });

  test("a stop text that the provider does not know of ends the reply, and aborts the provider's answer", async () => {
    let isFirst = true;
    mock.respond(async ({ body }, response) => {
      if (api === "chat" && "stop" in body && isFirst) {
        isFirst = false;
        const message = "Unsupported parameter: 'stop' is not supported with this model.";
        return response.send(400, {}, JSON.stringify({ error: { message, param: "stop" } }));
      }
      expect(body).not.toHaveProperty("stop");
      await response.write(say("one E") + say("ND two"));
      await response.closed;
    });
    const { text, complete, finishReason } = await ask({}, ["END"]);
    expect({ text, complete, finishReason }).toEqual({ text: "one ", complete: true, finishReason: "stop" });
    await mock.until(() => mock.abortedRequests === 1);
  });

  test("what may begin a stop text is shown after all where the reply ends with it, or breaks off", async () => {
    for (const isBroken of [false, true]) {
      mock.respond(async ({ body }, response) => {
        if ("stop" in body) return response.send(400, {}, '{"error":{"message":"no","param":"stop"}}');
        await response.write(say("one ") + say("EN") + (isBroken ? "" : end));
        response.end();
      });
      expect(await ask({}, ["END"])).toMatchObject({ text: "one EN", complete: !isBroken });
    }
  });

  test("a refusal has neither instructions nor messages, key nor headers", async () => {
    mock.respond((_, response) => {
      const message = "Bad: You are Ada. / Hi / sk-secret-1234567 / team-4711-abc";
      response.send(400, {}, JSON.stringify({ error: { message } }));
    });
    const headers = { "x-team": "team-4711-abc" };
    const failed = await ask({ apiKey: "sk-secret-1234567", headers }).catch((error: Error) => error.cause);
    expect(failed).toMatchObject({
      message: "the provider answered 400 Bad: [private] / [private] / [key] / [header]",
    });
  });

  test("long instructions are removed wherever a provider, or the bound of what is read, cuts them", async () => {
    const systemPrompt = "You are Ada, and this is known to nobody but her. ".repeat(2000).trim();
    const repeated = `No: ${systemPrompt}`;
    const answers = [
      `data: ${JSON.stringify({ error: { message: repeated } })}\n\n`,
      repeated,
      `${repeated.slice(0, 90)}…`,
    ];
    for (const [index, answer] of answers.entries()) {
      mock.respond((_, response) => response.send(index === 0 ? 200 : 400, {}, answer));
      const failed = await ask({}, [], { systemPrompt }).catch((error: Error) => error.cause);
      expect(failed).toMatchObject({ message: expect.stringMatching(/: No: \[private\]…?$| 400 No: \[private\]…?$/) });
    }
  });
});
