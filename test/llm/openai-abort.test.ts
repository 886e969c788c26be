import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { LlmProvider } from "../../src/contracts/llm/provider.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, wholeStream } from "../support/mock-llm-replies.ts";
import { rested } from "../support/rested.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

let mock: MockLlm;
let provider: LlmProvider;
let log: ReturnType<typeof createCapturedLog>;
beforeEach(async () => {
  log = createCapturedLog();
  mock = await startMockLlm();
  provider = createOpenAiProvider({ apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 60_000 });
});
afterEach(async () => {
  provider.close();
  await mock.close();
});

const left = { complete: false, usage: null, failure: null };

describe("a visitor who leaves closes the provider's connection", () => {
  test("while it is being made", async () => {
    // The first reply would otherwise wait for the file.
    await import("../../src/engines/openai/client.ts");
    const leaving = new AbortController();
    const streaming = provider.streamReply(replyRequest("Hi"), collectReply(), leaving.signal);
    // Within one turn of the loop the engine gets as far as asking for the connection, and no further.
    for (let step = 0; step < 500; step++) await Promise.resolve();
    leaving.abort();
    expect(await streaming).toMatchObject(left);
    await mock.until(() => mock.connections === 1 && mock.openConnections === 0);
    expect(mock.requests).toEqual([]);
  });

  test("while the provider has not answered", async () => {
    const leaving = new AbortController();
    const streaming = provider.streamReply(replyRequest("[[hang]]"), collectReply(), leaving.signal);
    await mock.until(() => mock.openRequests === 1);
    leaving.abort();
    expect(await streaming).toMatchObject(left);
    await mock.until(() => mock.abortedRequests === 1 && mock.openConnections === 0);
  });

  test("between the head and the first text", async () => {
    const leaving = new AbortController();
    mock.respond(async (_, response) => {
      await response.write(": wait\n\n");
      await turnsOfTheLoop(20);
      leaving.abort();
      await response.closed;
    });
    expect(await provider.streamReply(replyRequest("Hi"), collectReply(), leaving.signal)).toMatchObject(left);
    await mock.until(() => mock.abortedRequests === 1 && mock.openConnections === 0);
  });

  test("between two attempts", async () => {
    const leaving = new AbortController();
    const streaming = provider.streamReply(replyRequest("[[fail:500]]"), collectReply(), leaving.signal);
    await mock.until(() => mock.requests.length === 1 && mock.openRequests === 0);
    leaving.abort();
    expect(await streaming).toMatchObject(left);
    expect(mock.requests).toHaveLength(1);
  });

  test("while an error's body trickles in", async () => {
    const leaving = new AbortController();
    mock.respond(async (_, response) => {
      response.begin(500);
      await response.write("{");
      await turnsOfTheLoop(20);
      leaving.abort();
      await response.closed;
    });
    expect(await provider.streamReply(replyRequest("Hi"), collectReply(), leaving.signal)).toMatchObject(left);
    await mock.until(() => mock.abortedRequests === 1);
  });

  test("in the middle of a reply", async () => {
    const leaving = new AbortController();
    const reply = collectReply();
    const streaming = provider.streamReply(replyRequest("one [[silence:2]]"), reply, leaving.signal);
    await reply.firstWrite;
    leaving.abort();
    expect(await streaming).toMatchObject(left);
    await mock.until(() => mock.abortedRequests === 1 && mock.openConnections === 0);
  });

  test("before anything else is done for whoever leaves in the same moment", async () => {
    const visitors = Array.from({ length: 3 }, () => ({ leaving: new AbortController(), reply: collectReply() }));
    const streaming = visitors.map(({ leaving, reply }) =>
      provider.streamReply(replyRequest("one [[silence:2]]"), reply, leaving.signal),
    );
    await Promise.all(visitors.map(({ reply }) => reply.firstWrite));
    for (const { leaving } of visitors) {
      leaving.abort();
      // What the server does between two of them, who come as events of one turn of the loop.
      for (let step = 0; step < 500; step++) await Promise.resolve();
      expect(streaming.map((reply) => Bun.peek.status(reply))).toEqual(["pending", "pending", "pending"]);
    }
    expect(await Promise.all(streaming)).toMatchObject([left, left, left]);
    await mock.until(() => mock.abortedRequests === 3 && mock.openConnections === 0);
  });

  test("while the visitor's own connection is full", async () => {
    const leaving = new AbortController();
    const reply = collectReply(() => new Promise(() => {}));
    mock.respond(async (_, response) => {
      while (!response.isClosed) await response.write(chunk({ content: "x".repeat(10_000) }));
    });
    const streaming = provider.streamReply(replyRequest("Hi"), reply, leaving.signal);
    await reply.firstWrite;
    leaving.abort();
    expect(await streaming).toMatchObject(left);
    await mock.until(() => mock.openConnections === 0);
    // What had been read by then: a read is 512 KiB at most.
    expect(reply.writes.flat().join("").length).toBeLessThanOrEqual(512 * 1024);
  });
});

test("a reader that stalls stops the provider", async () => {
  let sent = 0;
  const leaving = new AbortController();
  const reply = collectReply(() => new Promise(() => {}));
  const stalled = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    while (!response.isClosed) {
      const timer = setTimeout(stalled.resolve, 200);
      await response.write(chunk({ content: "x".repeat(60_000) }));
      clearTimeout(timer);
      sent += 60_000;
    }
  });
  const streaming = provider.streamReply(replyRequest("Hi"), reply, leaving.signal);
  await stalled.promise;
  // What the kernel and the sockets of both sides hold on loopback; without back-pressure it would never stall.
  expect(sent).toBeLessThan(32_000_000);
  leaving.abort();
  await streaming;
});

test("600 replies run at once", async () => {
  const all = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    if (mock.openRequests === 600) all.resolve();
    await all.promise;
    await response.write(wholeStream(["at ", "once"]).join(""));
    response.end();
  });
  const outcomes = await Promise.all(
    Array.from({ length: 600 }, () =>
      provider.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal),
    ),
  );
  expect(outcomes.every(({ complete }) => complete)).toBe(true);
});

test("hundreds of visitors who leave at random moments leave nothing behind", async () => {
  const signals: AbortSignal[] = [];
  const streaming = Array.from({ length: 300 }, (_, index) => {
    const leaving = new AbortController();
    signals.push(leaving.signal);
    const text = index % 3 === 0 ? "[[hang]]" : "[[words:200]][[delay:1]]";
    const reply = collectReply(() => (index % 5 === 0 ? new Promise(() => {}) : undefined));
    setTimeout(() => leaving.abort(), index % 60);
    return provider.streamReply(replyRequest(text), reply, leaving.signal);
  });
  const outcomes = await Promise.all(streaming);
  expect(outcomes.every(({ failure }) => failure === null)).toBe(true);
  await mock.until(() => mock.openRequests === 0);
  for (const signal of signals) expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(log.events).toEqual([]);
});

describe("connections", () => {
  test("carry one reply after another", async () => {
    for (let round = 0; round < 5; round++) {
      await provider.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal);
      await mock.until(() => mock.openRequests === 0);
      await rested();
    }
    expect(mock.connections).toBe(1);
  });

  test("that the provider closes at the moment of use are replaced without a word", async () => {
    await provider.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal);
    await mock.until(() => mock.openRequests === 0);
    await rested();
    mock.respond((_, response) => {
      mock.respond(null);
      response.reset();
    });
    const outcome = await provider.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal);
    expect(outcome).toMatchObject({ complete: true });
    expect({ requests: mock.requests.length, connections: mock.connections }).toEqual({ requests: 3, connections: 2 });
    expect(log.events).toEqual([]);
  });

  test("that are kept do not multiply a request that the provider answers by closing them", async () => {
    const all = Promise.withResolvers<void>();
    mock.respond(async (_, response) => {
      if (mock.openRequests === 5) all.resolve();
      await all.promise;
      await response.write(wholeStream(["at once"]).join(""));
      response.end();
    });
    const hasty = createOpenAiProvider({ apiKey: null, baseUrl: `${mock.url}/v1`, extra: {}, log, backoffMs: 1 });
    const reply = () => hasty.streamReply(replyRequest("Hi"), collectReply(), new AbortController().signal);
    await Promise.all(Array.from({ length: 5 }, reply));
    await mock.until(() => mock.openRequests === 0);
    await rested();
    mock.respond((_, response) => response.reset());
    await expect(reply()).rejects.toThrow("could not answer");
    hasty.close();
    // Three tries, and once more each for a kept connection, which may have been closed before the request came.
    expect(mock.requests.length - 5).toBe(6);
  });

  test("are closed when the provider is, and those in use when they have served", async () => {
    const going = Promise.withResolvers<void>();
    mock.respond(async ({ userText }, response) => {
      if (userText === "long") await going.promise;
      await response.write(wholeStream(["fine"]).join(""));
      response.end();
    });
    const long = provider.streamReply(replyRequest("long"), collectReply(), new AbortController().signal);
    await mock.until(() => mock.openRequests === 1);
    await provider.streamReply(replyRequest("short"), collectReply(), new AbortController().signal);
    await mock.until(() => mock.openConnections === 2);
    provider.close();
    await mock.until(() => mock.openConnections === 1);
    going.resolve();
    expect(await long).toMatchObject({ complete: true });
    await mock.until(() => mock.openConnections === 0);
  });
});
