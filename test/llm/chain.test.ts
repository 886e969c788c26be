/** Which provider of a chain is asked, for how long, and who is asked next. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AttemptingProvider, ReplyAttempt } from "../../src/contracts/llm/attempt.ts";
import type { LlmProvider, NextCall, ReplyOutcome, ReplySink } from "../../src/contracts/llm/provider.ts";
import { ProviderFailure, type ProviderFailureOptions } from "../../src/contracts/llm/provider-failure.ts";
import { type ChainEntry, createChains } from "../../src/core/llm/chain.ts";
import { Circuit } from "../../src/core/llm/circuit.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Answerer } from "../../src/domain/usage.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { replyRequest, testLlmProvider } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { repeatWords } from "../support/mock-llm-speech.ts";
import { createVirtualTime, type VirtualTime } from "../support/virtual-time.ts";

const alive = () => new AbortController().signal;

function chainOf(entries: readonly ChainEntry[], clock = createManualClock()) {
  const told: string[] = [];
  const note = (what: string) => (answerer: Answerer) => void told.push(`${answerer.provider} ${what}`);
  const log = createCapturedLog();
  const close = () => {
    for (const { engine } of entries) engine.close();
  };
  const llm = createChains({
    ...{ name: "first", findEntries: () => entries, close, clock, log },
    calls: { ended: note("ended"), failed: note("failed") },
  });
  return { llm, clock, log, told };
}

for (const providers of [1, 2]) {
  testLlmProvider(`a chain of ${providers}`, async () => {
    const mock = await startMockLlm();
    mock.respond(repeatWords);
    const refusing = await startMockLlm();
    refusing.respond((_, response) => response.send(401, {}, "{}"));
    const urls = [refusing.url, mock.url].slice(-providers);
    const entries = urls.map((url, index) => {
      const name = `provider-${index}`;
      const engine = createOpenAiProvider({
        ...{ name, apiKey: null, baseUrl: `${url}/v1`, extra: {}, log: createCapturedLog() },
      });
      // The circuit would leave out the first one after five tests.
      return { answerer: { provider: name, model: "own-model" }, engine, circuit: neverOpen() };
    });
    const { llm } = chainOf(entries);
    return {
      provider: llm,
      async close() {
        llm.close();
        await Promise.all([mock.close(), refusing.close()]);
      },
    };
  });
}

function neverOpen(): Circuit {
  const circuit = new Circuit();
  circuit.isPassedOver = () => false;
  return circuit;
}

type Script = (
  sink: ReplySink,
  attempt: ReplyAttempt,
  signal: { aborted: boolean },
) => ReplyOutcome | Promise<ReplyOutcome>;

/** An engine that does what the test says, and notes what it was given. */
function scripted(provider: string, script: Script) {
  const attempts: ReplyAttempt[] = [];
  const models: string[] = [];
  const engine: AttemptingProvider = {
    name: provider,
    async streamReply(request, sink, signal, attempt) {
      if (attempt === undefined) throw new Error("a chain gives each engine its part of the time");
      attempts.push(attempt);
      models.push(request.model);
      return await script(sink, attempt, signal);
    },
    foresee: ({ maxOutputTokens }) => ({ wire: "chat", effort: null, maxOutputTokens }),
    listAnswerers: () => [],
    listBounds: () => [],
    close() {},
  };
  const answerer = { provider, model: `model-of-${provider}` };
  return { answerer, engine, circuit: new Circuit(), attempts, models };
}

const refuse =
  (options: ProviderFailureOptions): Script =>
  () => {
    throw new AppError("upstream_error", "It could not answer.", { cause: new ProviderFailure("private", options) });
  };

const whole = (provider: string): ReplyOutcome => ({
  complete: true,
  usage: null,
  answeredBy: { provider, model: `model-of-${provider}` },
  finishReason: "stop",
  failure: null,
});

const answer =
  (provider: string): Script =>
  (sink) => {
    void sink.emit({ type: "text", deltas: [provider] });
    return whole(provider);
  };

async function ask(llm: LlmProvider, accountId = "account-1") {
  const reply = collectReply();
  const outcome = await llm.streamReply(replyRequest("Hello", { accountId }), reply, alive());
  return { ...outcome, text: reply.text };
}

describe("the next one is asked", () => {
  test.each<[string, ProviderFailureOptions]>([
    ["a connection error", { kind: "unreachable", isTransient: true }],
    ["a connection that breaks before the first text", { kind: "broken_off" }],
    ["401", { status: 401 }],
    ["404", { status: 404 }],
    ["429", { status: 429 }],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["a malformed answer", { kind: "malformed" }],
    ["an empty answer", { kind: "empty" }],
    ["the deadline", { kind: "timed_out" }],
    ["an error object without a status", { kind: "provider_error" }],
  ])("after %s", async (_, options) => {
    const [first, second] = [scripted("first", refuse(options)), scripted("second", answer("second"))];
    const { llm, log, told } = chainOf([first, second]);
    expect(await ask(llm)).toMatchObject({ complete: true, text: "second", answeredBy: second.answerer });
    expect([first.models, second.models]).toEqual([["model-of-first"], ["model-of-second"]]);
    expect(told).toEqual(["first failed", "second ended"]);
    const logged = { requestId: "request-1", provider: "first", next: "second/model-of-second" };
    expect(log.events).toMatchObject([{ level: "warn", fields: logged }]);
  });

  test.each([400, 402, 403, 413, 422])("not after %d: the others would refuse the request too", async (status) => {
    const [first, second] = [scripted("first", refuse({ status })), scripted("second", answer("second"))];
    const { llm } = chainOf([first, second]);
    await expect(ask(llm)).rejects.toMatchObject({ code: "upstream_error", cause: { status } });
    expect(second.attempts).toEqual([]);
  });

  test("not after the first text", async () => {
    const failure = new ProviderFailure("broke off", { kind: "broken_off" });
    const first = scripted("first", (sink) => {
      void sink.emit({ type: "text", deltas: ["half "] });
      return { ...whole("first"), complete: false, failure };
    });
    const second = scripted("second", answer("second"));
    expect(await ask(chainOf([first, second]).llm)).toMatchObject({ complete: false, failure, text: "half " });
    expect(second.attempts).toEqual([]);
  });

  test("not after a failure that is no provider's", async () => {
    const first = scripted("first", () => {
      throw new TypeError("a defect");
    });
    const second = scripted("second", answer("second"));
    await expect(ask(chainOf([first, second]).llm)).rejects.toBeInstanceOf(TypeError);
    expect(second.attempts).toEqual([]);
  });

  test("where all fail, the last failure is the reply's", async () => {
    const entries = [scripted("first", refuse({ status: 401 })), scripted("second", refuse({ status: 503 }))];
    const { llm, log, told } = chainOf(entries);
    await expect(ask(llm)).rejects.toMatchObject({ code: "upstream_error", cause: { status: 503 } });
    expect(told).toEqual(["first failed", "second failed"]);
    expect(log.events.map(({ fields }) => fields.next)).toEqual(["second/model-of-second", null]);
  });
});

test("each gets what is left of the 60 s divided by the entries left, and only the last is retried twice", async () => {
  const taking =
    (ms: number): Script =>
    (...call) => {
      world.clock.advance(ms);
      return refuse({ status: 500 })(...call);
    };
  const entries = [scripted("a", taking(15_000)), scripted("b", taking(1_000)), scripted("c", answer("c"))];
  const world = chainOf(entries);
  await ask(world.llm);
  expect(entries.flatMap(({ attempts }) => attempts)).toEqual([
    { firstTextMs: 20_000, spentMs: 0, maxRetries: 0 },
    { firstTextMs: 22_500, spentMs: 15_000, maxRetries: 0 },
    { firstTextMs: 44_000, spentMs: 16_000, maxRetries: 2 },
  ]);
});

test("the longest chain that a file may have gives each at least 5 s, even if all the others hang", async () => {
  const hanging: Script = (sink, attempt, signal) => {
    world.clock.advance(attempt.firstTextMs + 10);
    return refuse({ kind: "timed_out" })(sink, attempt, signal);
  };
  const entries = Array.from({ length: 12 }, (_, index) => scripted(`p${index}`, hanging));
  const world = chainOf(entries);
  await expect(ask(world.llm)).rejects.toMatchObject({ cause: { kind: "timed_out" } });
  const times = entries.map(({ attempts }) => attempts[0]?.firstTextMs ?? 0);
  expect(Math.min(...times)).toBe(5_000);
});

test("one provider alone has all of the time and its retries", async () => {
  const only = scripted("only", answer("only"));
  await ask(chainOf([only]).llm);
  expect(only.attempts).toEqual([{ firstTextMs: 60_000, spentMs: 0, maxRetries: 2 }]);
});

describe("a turn with tools", () => {
  const calls = [{ id: "a", name: "look_up", arguments: "{}" }];
  const calling =
    (provider: string): Script =>
    () => ({ ...whole(provider), finishReason: "tool_calls", calls });
  const askAgain = (llm: LlmProvider, answerer: Answerer) =>
    llm.streamReply(replyRequest("Hello", { answerer }), collectReply(), alive());

  test("has its further rounds answered by who answered the first, alone, with all of the time and its retries", async () => {
    const entries = [scripted("first", calling("first")), scripted("second", calling("second"))] as const;
    const { llm } = chainOf(entries);
    for (const { answerer, attempts } of entries) {
      expect(await askAgain(llm, answerer)).toMatchObject({ complete: true, answeredBy: answerer, calls });
      expect(attempts).toEqual([{ firstTextMs: 60_000, spentMs: 0, maxRetries: 2 }]);
    }
  });

  test("asks none else where that one fails, and asks it though its circuit is open", async () => {
    const [first, second] = [scripted("first", refuse({ status: 503 })), scripted("second", answer("second"))];
    const { llm } = chainOf([first, second]);
    for (let asked = 0; asked < 6; asked++) await ask(llm);
    expect(first.attempts).toHaveLength(5);
    await expect(askAgain(llm, first.answerer)).rejects.toMatchObject({ cause: { status: 503 } });
    expect([first.attempts.length, second.attempts.length]).toEqual([6, 6]);
  });

  test("is refused where that one is in no chain any more", async () => {
    const { llm } = chainOf([scripted("first", answer("first"))]);
    const gone = { provider: "first", model: "another" };
    await expect(askAgain(llm, gone)).rejects.toMatchObject({ code: "upstream_error" });
  });

  test("is not passed on once calls have begun to come, which says nothing of the provider's health", async () => {
    const first = scripted("first", refuse({ kind: "broken_off", hasAsked: true }));
    const second = scripted("second", answer("second"));
    const { llm, told } = chainOf([first, second]);
    for (let asked = 0; asked < 7; asked++) {
      await expect(ask(llm)).rejects.toMatchObject({ cause: { kind: "broken_off" } });
    }
    expect([first.attempts.length, second.attempts.length]).toEqual([7, 0]);
    expect(told[0]).toBe("first failed");
  });

  test("with calls and no word is an answer that closes a circuit", async () => {
    let script = refuse({ status: 500 });
    const first = scripted("first", (...call) => script(...call));
    const { llm, clock } = chainOf([first, scripted("second", answer("second"))]);
    for (let asked = 0; asked < 5; asked++) await ask(llm);
    clock.advance(30_000);
    script = calling("first");
    expect(await ask(llm)).toMatchObject({ text: "", calls });
    script = refuse({ status: 500 });
    // A circuit that had stayed open would let none but one trial pass.
    for (let asked = 0; asked < 3; asked++) await ask(llm);
    expect(first.attempts).toHaveLength(9);
  });
});

describe("one that keeps failing", () => {
  test("is passed over for 30 s after five failures, and said so once", async () => {
    const [first, second] = [scripted("first", refuse({ status: 500 })), scripted("second", answer("second"))];
    const { llm, clock, log } = chainOf([first, second]);
    for (let asked = 0; asked < 8; asked++) await ask(llm);
    expect([first.attempts.length, second.attempts.length]).toEqual([5, 8]);
    // It alone is left, and so it has all of the time.
    expect(second.attempts.at(-1)).toMatchObject({ firstTextMs: 60_000 });
    expect(log.events.filter(({ event }) => event.includes("passed over"))).toHaveLength(1);
    clock.advance(30_000);
    await ask(llm);
    await ask(llm);
    expect(first.attempts).toHaveLength(6);
  });

  test("for one account alone is passed over for none while others get its answers", async () => {
    let script = answer("first");
    const first = scripted("first", (...call) => script(...call));
    const { llm } = chainOf([first, scripted("second", answer("second"))]);
    await ask(llm, "account-2");
    script = refuse({ kind: "empty" });
    for (let asked = 0; asked < 20; asked++) await ask(llm);
    script = answer("first");
    expect(await ask(llm, "account-2")).toMatchObject({ text: "first" });
    expect(await ask(llm)).toMatchObject({ text: "first" });
  });

  test("is asked all the same if all are passed over", async () => {
    const entries = [scripted("first", refuse({ status: 500 })), scripted("second", refuse({ status: 500 }))];
    const { llm } = chainOf(entries);
    for (let asked = 0; asked < 7; asked++) await ask(llm).catch(() => {});
    expect(entries.map(({ attempts }) => attempts.length)).toEqual([7, 7]);
  });

  test("is tried by one of a hundred calls when it may be back; the others do not wait for it", async () => {
    const trial = Promise.withResolvers<void>();
    let isBack = false;
    const first = scripted("first", async (...call) => {
      if (!isBack) return refuse({ status: 500 })(...call);
      await trial.promise;
      return answer("first")(...call);
    });
    const { llm, clock } = chainOf([first, scripted("second", answer("second"))]);
    for (let asked = 0; asked < 5; asked++) await ask(llm);
    clock.advance(30_000);
    isBack = true;
    const asked = Array.from({ length: 100 }, () => ask(llm));
    const others = await Promise.all(asked.slice(1));
    expect(new Set(others.map(({ text }) => text))).toEqual(new Set(["second"]));
    trial.resolve();
    expect(await asked[0]).toMatchObject({ text: "first" });
    expect(first.attempts).toHaveLength(6);
    expect(await ask(llm)).toMatchObject({ text: "first" });
  });

  test("is not asked by a call that was still with another when it failed", async () => {
    const held = Promise.withResolvers<void>();
    let isSlow = true;
    const first = scripted("first", async (...call) => {
      if (isSlow) await held.promise;
      return refuse({ status: 500 })(...call);
    });
    const second = scripted("second", refuse({ status: 500 }));
    const { llm } = chainOf([first, second, scripted("third", answer("third"))]);
    const slow = ask(llm);
    isSlow = false;
    for (let asked = 0; asked < 5; asked++) await ask(llm);
    held.resolve();
    expect(await slow).toMatchObject({ text: "third" });
    expect(second.attempts).toHaveLength(5);
  });

  test("does so for itself, not for a request that it refuses, nor for a visitor who leaves", async () => {
    let script: Script = refuse({ status: 400 });
    const first = scripted("first", (...call) => script(...call));
    const { llm } = chainOf([first, scripted("second", answer("second"))]);
    for (let asked = 0; asked < 6; asked++) await ask(llm).catch(() => {});
    script = () => ({ ...whole("first"), complete: false });
    for (let asked = 0; asked < 6; asked++) await ask(llm);
    expect(first.attempts).toHaveLength(12);
  });
});

test("a reply without a word is asked of the next one, one that a filter kept back is not; a bound is nobody's fault", async () => {
  const kinds = ["no_room", "empty", "filtered"] as const;
  const asked = kinds.map(async (kind) => {
    const first = scripted("first", refuse({ kind }));
    const second = scripted("second", answer("second"));
    const { llm } = chainOf([first, second]);
    for (let turn = 0; turn < 6; turn++) await ask(llm).catch(() => {});
    return [first.attempts.length, second.attempts.length];
  });
  expect(await Promise.all(asked)).toEqual([
    [6, 6],
    [5, 6],
    [6, 0],
  ]);
});

test("before the next one the gate is asked, with what the provider charges for the one before", async () => {
  const usage = { inputTokens: 10, outputTokens: 20, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 20 };
  const charged = { answeredBy: { provider: "first", model: "m" }, usage };
  const told: NextCall[] = [];
  const askWith = (isPermitted: boolean) => {
    const entries = [scripted("first", refuse({ kind: "no_room", charged })), scripted("second", answer("second"))];
    const permit = async (next: NextCall) => {
      told.push(next);
      return isPermitted;
    };
    return chainOf(entries).llm.streamReply(replyRequest("Hi", { gate: { permit } }), collectReply(), alive());
  };
  expect(await askWith(true)).toMatchObject({ answeredBy: { provider: "second" } });
  await expect(askWith(false)).rejects.toMatchObject({ cause: { kind: "no_room", charged: null } });
  const next = { answerer: { provider: "second", model: "model-of-second" }, maxOutputTokens: 256, before: charged };
  expect(told).toEqual([next, next]);
});

describe("over the wire", () => {
  let mocks: [MockLlm, MockLlm];
  let world: ReturnType<typeof chainOf>;
  let time: VirtualTime;

  beforeEach(async () => {
    time = createVirtualTime();
    mocks = [await startMockLlm(), await startMockLlm()];
    const entries = mocks.map(({ url }, index) => {
      const provider = ["first", "second"][index] ?? "";
      const options = {
        name: provider,
        apiKey: "sk-secret-of-the-chain",
        baseUrl: `${url}/v1`,
        extra: {},
        backoffMs: 1,
      };
      const engine = createOpenAiProvider({ ...options, time, log: createCapturedLog() });
      return { answerer: { provider, model: "m" }, engine, circuit: new Circuit() };
    });
    world = chainOf(entries, time.clock);
  });
  afterEach(async () => {
    world.llm.close();
    await Promise.all(mocks.map((mock) => mock.close()));
  });

  test("a hanging provider is left after its part of the time, and its connection closed", async () => {
    mocks[0].respond(async (_, response) => await response.closed);
    const asked = ask(world.llm);
    await mocks[0].until(() => mocks[0].openRequests === 1);
    await time.pass(30_000);
    expect(await asked).toMatchObject({ complete: true, answeredBy: { provider: "second" } });
    await mocks[0].until(() => mocks[0].openRequests === 0);
    expect(mocks.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test("only the last one is asked again", async () => {
    for (const mock of mocks) mock.respond((_, response) => response.send(503, {}, "{}"));
    const asked = ask(world.llm).catch((error: unknown) => error);
    await eventually(async () => {
      await time.pass(1);
      return mocks[1].requests.length === 3;
    });
    expect(await asked).toMatchObject({ code: "upstream_error" });
    expect(mocks.map(({ requests }) => requests.length)).toEqual([1, 3]);
  });

  test("a visitor who leaves during the second ends it at once: nobody else is asked", async () => {
    mocks[0].respond((_, response) => response.send(500, {}, "{}"));
    mocks[1].respond(async (_, response) => await response.closed);
    const leaving = new AbortController();
    const asked = world.llm.streamReply(replyRequest("Hello"), collectReply(), leaving.signal);
    await mocks[1].until(() => mocks[1].openRequests === 1);
    leaving.abort();
    expect(await asked).toMatchObject({ complete: false, failure: null, answeredBy: { provider: "second" } });
    await mocks[1].until(() => mocks[1].openRequests === 0);
    expect(mocks.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test("the log has neither key nor words", async () => {
    mocks[0].respond((_, response) =>
      response.send(401, {}, '{"error":{"message":"Bad sk-secret-of-the-chain Hello"}}'),
    );
    await ask(world.llm);
    expect(world.log.events).toHaveLength(1);
    expect(JSON.stringify(world.log.events)).not.toMatch(/sk-secret|Hello/);
  });
});
