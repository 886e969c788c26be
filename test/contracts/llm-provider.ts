/** What every language-model engine owes its callers, whatever answers behind it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { LlmProvider, ReplyOutcome, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { textParts } from "../../src/domain/conversation.ts";
import type { OfferedTool, ToolRound } from "../../src/domain/tool.ts";
import { collectReply } from "../support/collected-reply.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

export interface ProviderUnderTest {
  /**
   * Must answer any message with several words, but for one with `askingForWeather` where tools are offered: with a call, and
   * with words that hold what the tool has answered.
   */
  provider: LlmProvider;
  close(): Promise<void>;
}

export function replyRequest(text: string, fields: Partial<ReplyRequest> = {}): ReplyRequest {
  return {
    systemPrompt: "You are Ada.",
    messages: [{ role: "user", parts: textParts(text) }],
    model: "test-model",
    temperature: null,
    reasoningEffort: null,
    maxOutputTokens: 256,
    accountId: "account-1",
    requestId: "request-1",
    ...fields,
  };
}

/** Calls `get_weather`: by its words, or by a directive of the mock's. */
export const askingForWeather = 'Weather [[call:get_weather {"city":"Oslo"}]]';

export const weatherTool: OfferedTool = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", default: "Oslo" }, days: { type: "integer" } },
    required: ["city"],
  },
};

/** What `outcome` asked for, with what the tools answered. */
export function toRound({ calls = [], carry = null }: ReplyOutcome, result: string, text = ""): ToolRound {
  return { text, calls: calls.map((call) => ({ ...call, result })), carry };
}

export function testLlmProvider(name: string, open: () => Promise<ProviderUnderTest>): void {
  describe(`${name} as a provider`, () => {
    let opened: ProviderUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    test("streams a whole reply: complete, with usage or none, without failure", async () => {
      const reply = collectReply();
      const outcome = await opened.provider.streamReply(
        replyRequest("Hello there"),
        reply,
        new AbortController().signal,
      );
      expect(outcome).toMatchObject({ complete: true, failure: null });
      if (outcome.usage !== null) expect(outcome.usage.outputTokens).toBeGreaterThanOrEqual(0);
      expect(reply.text.split(" ").length).toBeGreaterThan(1);
    });

    test("says beforehand who may answer, and is answered by one of them", async () => {
      const answerers = opened.provider.listAnswerers("test-model");
      expect(answerers.length).toBeGreaterThan(0);
      const outcome = await opened.provider.streamReply(
        replyRequest("Hello"),
        collectReply(),
        new AbortController().signal,
      );
      expect(answerers).toContainEqual(outcome.answeredBy);
    });

    test("emits no event without content, and no empty or ill-formed text", async () => {
      const reply = collectReply();
      await opened.provider.streamReply(replyRequest("Grüße 🙂 \ud83d"), reply, new AbortController().signal);
      expect(reply.writes.every((deltas) => deltas.length > 0 && !deltas.includes(""))).toBe(true);
      expect(reply.text.isWellFormed()).toBe(true);
    });

    test("answers several at once without mixing them", async () => {
      const names = ["Ada", "Grace", "Edith", "Mary"];
      const replies = await Promise.all(
        names.map(async (name) => {
          const reply = collectReply();
          await opened.provider.streamReply(replyRequest(`I am called ${name}`), reply, new AbortController().signal);
          return reply.text;
        }),
      );
      for (const [index, name] of names.entries()) {
        expect(names.filter((other) => replies[index]?.includes(other))).toEqual([name]);
      }
    });

    test("emits no more while the reader does not keep up, and loses nothing", async () => {
      const freely = collectReply();
      await opened.provider.streamReply(replyRequest("one two three"), freely, new AbortController().signal);
      let isHeld = false;
      const reply = collectReply(async () => {
        expect(isHeld).toBe(false);
        isHeld = true;
        await turnsOfTheLoop(20);
        isHeld = false;
      });
      const outcome = await opened.provider.streamReply(
        replyRequest("one two three"),
        reply,
        new AbortController().signal,
      );
      expect(outcome.complete).toBe(true);
      expect(reply.text).toBe(freely.text);
    });

    test("emits nothing for a visitor who has left before", async () => {
      const reply = collectReply();
      const outcome = await opened.provider.streamReply(replyRequest("Hello"), reply, AbortSignal.abort());
      expect(outcome).toMatchObject({ complete: false, failure: null });
      expect(reply.writes).toEqual([]);
    });

    test("ends at once when the visitor leaves, and emits no more", async () => {
      const leaving = new AbortController();
      const reply = collectReply(() => {
        leaving.abort();
        return undefined;
      });
      const outcome = await opened.provider.streamReply(replyRequest("Hello"), reply, leaving.signal);
      expect(outcome).toMatchObject({ complete: false, failure: null });
      expect(reply.writes).toHaveLength(1);
    });

    test("ends when the visitor leaves while not keeping up", async () => {
      const leaving = new AbortController();
      const reply = collectReply(() => {
        setImmediate(() => leaving.abort());
        return new Promise<void>(() => {});
      });
      const outcome = await opened.provider.streamReply(replyRequest("Hello"), reply, leaving.signal);
      expect(outcome).toMatchObject({ complete: false, failure: null });
      expect(reply.writes).toHaveLength(1);
    });

    async function ask(fields: Partial<ReplyRequest>, signal = new AbortController().signal) {
      const reply = collectReply();
      const outcome = await opened.provider.streamReply(replyRequest(askingForWeather, fields), reply, signal);
      return { outcome, text: reply.text };
    }

    test("calls a tool that it is offered: complete without a word, by name and id, its arguments a JSON object", async () => {
      const { outcome, text } = await ask({ tools: [weatherTool] });
      expect(outcome).toMatchObject({ complete: true, failure: null, finishReason: "tool_calls" });
      expect(text).toBe("");
      expect(outcome.calls).toEqual([
        { id: expect.stringMatching(/./), name: "get_weather", arguments: expect.any(String) },
      ]);
      expect(JSON.parse(outcome.calls?.[0]?.arguments ?? "")).toEqual({ city: "Oslo" });
    });

    test("goes on from what the tools have answered, also in rounds of an earlier request, which carry nothing", async () => {
      const { outcome: first } = await ask({ tools: [weatherTool] });
      const round = toRound(first, "Snow, -3 degrees");
      for (const carry of [round.carry, null]) {
        for (const tools of [[weatherTool], []]) {
          const { outcome, text } = await ask({ tools, rounds: [{ ...round, carry }] });
          expect(outcome).toMatchObject({ complete: true, failure: null });
          expect(outcome.calls ?? []).toEqual([]);
          expect(text).toContain("Snow, -3 degrees");
        }
      }
    });

    test("calls nothing that it is not offered", async () => {
      const { outcome, text } = await ask({});
      expect(outcome).toMatchObject({ complete: true });
      expect(outcome.calls ?? []).toEqual([]);
      expect(text).not.toBe("");
    });

    test("has no calls for a visitor who has left", async () => {
      const { outcome } = await ask({ tools: [weatherTool] }, AbortSignal.abort());
      expect(outcome).toMatchObject({ complete: false, failure: null });
      expect(outcome.calls ?? []).toEqual([]);
    });

    test("asks whoever has answered the round before, if the request names them", async () => {
      const { outcome } = await ask({ tools: [weatherTool] });
      const answerer = outcome.answeredBy;
      const next = await ask({ tools: [weatherTool], rounds: [toRound(outcome, "Snow")], answerer });
      expect(next.outcome).toMatchObject({ complete: true, answeredBy: answerer });
      expect(opened.provider.listBounds(replyRequest("Hello", { answerer })).map((one) => one.answerer)).toEqual([
        answerer,
      ]);
    });

    test("leaves no listener behind on the visitor's signal", async () => {
      const visitor = new AbortController();
      await opened.provider.streamReply(replyRequest("Hello"), collectReply(), visitor.signal);
      expect(getEventListeners(visitor.signal, "abort")).toEqual([]);
    });
  });
}
