/** Money for what a provider counted: of replies that came to nothing, of calls before the last, and of thoughts. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { CallGate, LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "../../src/contracts/llm/provider.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { AppError } from "../../src/domain/errors.ts";
import { type FailureKind, ReplyFailure } from "../../src/domain/reply-failure.ts";
import type { CountedTokens } from "../../src/domain/usage.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { isOnPostgres } from "../support/engine.ts";
import { chunk, doneMark, usageChunk } from "../support/mock-llm-replies.ts";

/** A token of thoughts or text costs five micro-dollars; one of the prompt nothing, unless it is written into a cache. */
const prices = {
  thinker: { input: 0, cache_write: 1, output: 5 },
  "other/second": { input: 0, output: 10 },
};
const boundTokens = 2000;
const costMicros = 5 * boundTokens;
/** Of "Hello": its bytes and the framing of one message, should all of it be written into the cache. */
const inputMicros = 5 + 64;

const first = { provider: "default", model: "thinker" } as const;
const second = { provider: "other", model: "second" } as const;

let server: TestServer;
let account: Account;
let companion: Companion & { embedToken: string };
let api: ApiClient;
let calls: ReplyRequest[];
/** The engine of the server itself. */
let ownLlm: LlmProvider;

beforeAll(async () => {
  server = await startTestServer({
    environment: {
      COMPANIOND_MODEL: "thinker",
      COMPANIOND_MAX_OUTPUT_TOKENS: String(boundTokens),
      COMPANIOND_PRICES: JSON.stringify({ thinker: prices.thinker, second: prices["other/second"] }),
    },
    isShared: isOnPostgres,
  });
  ownLlm = server.services.llm;
});
afterAll(() => server.close());
beforeEach(async () => {
  calls = [];
  account = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  companion = await server.createCompanion({ reasoningEffort: "high" }, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
});

const thoughts = (tokens = boundTokens): CountedTokens => {
  const ofInput = { inputTokens: 11, cachedTokens: 0, cacheWriteTokens: 0 };
  return { ...ofInput, outputTokens: tokens, reasoningTokens: tokens };
};

type Script = (request: ReplyRequest, sink: ReplySink) => Promise<ReplyOutcome>;

/** How a provider fails is the engines' part; here one does what the test says. */
function answerWith(script: Script): void {
  const llm: LlmProvider = {
    name: first.provider,
    streamReply(request, sink) {
      calls.push(request);
      return script(request, sink);
    },
    listAnswerers: () => [first],
    listBounds: ({ maxOutputTokens }) => [{ answerer: first, maxOutputTokens }],
    close() {},
  };
  Object.assign(server.services, { llm });
}

const failAs = (kind: FailureKind, charged: ReplyFailure["charged"]): Script => {
  return async () => {
    const sentence = "The language model could not answer. Try again in a moment.";
    throw new AppError("upstream_error", sentence, { cause: new ReplyFailure("private words", kind, charged) });
  };
};
const thinkItAway = failAs("no_room", { answeredBy: first, usage: thoughts() });

const reply = (usage: CountedTokens | null, fields: Partial<ReplyOutcome> = {}): ReplyOutcome => {
  return { complete: true, usage, answeredBy: first, finishReason: "stop", failure: null, ...fields };
};

function gateOf({ gate }: ReplyRequest): CallGate {
  if (gate === undefined) throw new Error("a turn is asked before each further call");
  return gate;
}

/** Counts a first call that thought everything away, and asks the second provider if it may. */
const askTwice: Script = async (request, sink) => {
  const before = { answeredBy: first, usage: thoughts() };
  const next = { answerer: second, maxOutputTokens: boundTokens, before };
  if (!(await gateOf(request).permit(next))) return failAs("no_room", null)(request, sink);
  await sink.emit({ type: "text", deltas: ["Here"] });
  return reply({ ...thoughts(0), outputTokens: 100 }, { answeredBy: second });
};

const say = (body: object = {}) => chat(server.url, companion.embedToken, { message: "Hello", ...body });
const limitTo = async (limit_micros: number): Promise<string> => {
  const made = await api.call("POST", "/api/budgets", { account: true, limit_micros, period: "day", action: "stop" });
  return made.json.id;
};
const readBudget = async (id: string) => (await api.call("GET", `/api/budgets/${id}`)).json;
const readQuota = async () => (await api.call("GET", `/api/companions/${companion.id}/quota`)).json;
const today = () => toUtcDay(server.services.clock.nowMs());
const readUsage = async (groups = "companion") =>
  (await api.call("GET", `/api/usage?from=${today()}&to=${today()}&group_by=${groups}&companion_id=${companion.id}`))
    .json.data;

test("replies that reasoning ate are billed, are messages of the day, and end at the budget before any further call", async () => {
  answerWith(thinkItAway);
  const id = await limitTo(25_000);
  const named = { message_id: systemIds.randomUuid(), session_id: systemIds.randomUuid() };
  const statuses: number[] = [];
  // The second is the first once more: it was not kept, so it runs anew.
  for (const body of [named, named, {}, {}, {}, {}]) statuses.push((await say(body)).status);
  expect(statuses).toEqual([502, 502, 429, 429, 429, 429]);
  expect(calls).toHaveLength(2);
  expect(calls[0]).toMatchObject({ reasoningEffort: "high", maxOutputTokens: boundTokens });
  expect(await readBudget(id)).toMatchObject({ spent_micros: 2 * costMicros, reserved_micros: 0 });
  expect(await readQuota()).toMatchObject({ used: 2 });
  const counted = { input_tokens: 22, output_tokens: 2 * boundTokens, reasoning_tokens: 2 * boundTokens };
  expect(await readUsage("model,provider")).toMatchObject([
    { ...first, messages: 2, errors: 2, ...counted, cached_tokens: 0, cache_write_tokens: 0, cost_micros: 20_000 },
  ]);
  const failures = await api.call("GET", `/api/usage/failures?companion_id=${companion.id}`);
  expect(failures.json.data).toMatchObject([{ kind: "no_room", replies: 2 }]);
  expect((await api.call("GET", `/api/conversations?companion_id=${companion.id}`)).json.data).toEqual([]);

  const csv = await api.call("GET", `/api/usage?group_by=companion&companion_id=${companion.id}`, undefined, {
    accept: "text/csv",
  });
  const [head, row] = csv.text.split("\r\n");
  expect(head).toEndWith(",cached_tokens,cost_micros,reasoning_tokens,cache_write_tokens");
  expect(row).toEndWith(",0,20000,4000,0");
  const lines = await api.call("GET", "/api/usage/events?include=today");
  expect(JSON.parse(lines.text)).toMatchObject({ reasoning_tokens: 4000, cache_write_tokens: 0, cost_micros: 20_000 });
});

test("the same holds for a provider's own stream, with the room to think, and for an extra call that the budget forbids", async () => {
  Object.assign(server.services, { llm: ownLlm });
  server.mockLlm.respond(async ({ body }, response) => {
    const bound = Number(body["max_tokens"] ?? body["max_completion_tokens"]);
    await response.write(chunk({ role: "assistant", content: "" }) + chunk({ finishReason: "length" }));
    await response.write(usageChunk(11, bound, bound) + doneMark);
    response.end();
  });
  const id = await limitTo(60_000);
  const bounds = () => server.mockLlm.requests.map(({ body }) => body["max_tokens"] ?? body["max_completion_tokens"]);
  companion = await server.createCompanion({}, account);
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  expect(expectProblem(trial, 502, "upstream_error").json).toMatchObject({ kind: "no_room" });
  // The extra call, with room to think, would have cost more than was left.
  expect(bounds()).toEqual([boundTokens]);
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 0 });
  await api.call("PATCH", `/api/budgets/${id}`, { limit_micros: 120_000 });
  // From now on it is known to think: what is reserved has the room in it.
  expect([(await say()).status, (await say()).status, (await say()).status]).toEqual([502, 502, 429]);
  const withRoom = boundTokens + 8192;
  expect(bounds()).toEqual([boundTokens, withRoom, withRoom]);
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros + 2 * 5 * withRoom, reserved_micros: 0 });
  expect(await readUsage()).toMatchObject([{ messages: 3, errors: 3, reasoning_tokens: boundTokens + 2 * withRoom }]);
  expect(await readQuota()).toMatchObject({ used: 3 });
});

test("what the provider did not count costs nothing, and takes no message of the day", async () => {
  answerWith(failAs("filtered", null));
  const id = await limitTo(25_000);
  for (let time = 0; time < 3; time++) expect((await say()).status).toBe(502);
  expect(await readBudget(id)).toMatchObject({ spent_micros: 0, reserved_micros: 0 });
  expect(await readQuota()).toMatchObject({ used: 0 });
  expect(await readUsage()).toMatchObject([{ messages: 0, errors: 3, output_tokens: 0, cost_micros: 0 }]);
});

test("whoever may manage the companion reads why it failed and what to change; visitors and /v1 read what they did", async () => {
  answerWith(thinkItAway);
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  const { json } = expectProblem(trial, 502, "upstream_error");
  expect(json).toMatchObject({ kind: "no_room" });
  expect(json.detail).toMatch(/max_output_tokens.*reasoning_effort.*model/);
  const relayed = await api.call("POST", `/api/companions/${companion.id}/chat`, { message: "Hello" });
  expect(expectProblem(relayed, 502, "upstream_error").json).toMatchObject({ kind: "no_room", detail: json.detail });
  answerWith(failAs("unreachable", null));
  const named = { message: "Hello", message_id: systemIds.randomUuid(), session_id: systemIds.randomUuid() };
  const other = await api.call("POST", `/api/companions/${companion.id}/chat`, named);
  expect(expectProblem(other, 502, "upstream_error").json).toMatchObject({ kind: "unreachable" });

  answerWith(thinkItAway);
  const visited = JSON.parse((await say()).raw);
  expect(visited.detail).toBe("The language model could not answer. Try again in a moment.");
  expect(visited).not.toHaveProperty("kind");
  const asked = { model: companion.id, messages: [{ role: "user", content: "Hello" }] };
  const openAi = await api.call("POST", "/v1/chat/completions", asked);
  expect([openAi.status, openAi.json["error"]]).toMatchObject([502, { message: visited.detail }]);
  expect(openAi.text).not.toContain("no_room");
  expect(await readQuota()).toMatchObject({ used: 4 });
});

test("a call before the last is counted under whoever answered it, and what is left is reserved anew for the next", async () => {
  answerWith(async (request, sink) => {
    const outcome = await askTwice(request, sink);
    expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 10 * boundTokens });
    return outcome;
  });
  const id = await limitTo(30_000);
  expect(await say()).toMatchObject({ status: 200, text: "Here" });
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros + 1000, reserved_micros: 0 });
  expect(await readUsage("model,provider")).toMatchObject([
    { ...second, messages: 1, output_tokens: 100, reasoning_tokens: 0, cost_micros: 1000, errors: 0 },
    { ...first, messages: 0, output_tokens: boundTokens, cost_micros: costMicros, errors: 0 },
  ]);
  // One that is no dearer than what is held goes on with that.
  answerWith(async (request, sink) => {
    const next = { answerer: first, maxOutputTokens: 50, before: null };
    expect(await gateOf(request).permit(next)).toBe(true);
    await sink.emit({ type: "text", deltas: ["Hi"] });
    return reply(thoughts(10));
  });
  await api.call("PATCH", `/api/budgets/${id}`, { limit_micros: costMicros + 1000 + costMicros + inputMicros });
  expect((await say()).status).toBe(200);
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros + 1050, reserved_micros: 0 });
});

test("where the budget leaves no further call, the reply ends with what the one before came to, and is a message of the day", async () => {
  answerWith(askTwice);
  const id = await limitTo(costMicros + inputMicros);
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  expect(expectProblem(trial, 502, "upstream_error").json).toMatchObject({ kind: "no_room" });
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 0 });
  expect(await readUsage()).toMatchObject([{ messages: 1, errors: 1, cost_micros: costMicros }]);
  expect(await readQuota()).toMatchObject({ used: 1 });
});

test("no further call begins once the operator has stopped spending, or the token is revoked; the one before is counted", async () => {
  const { spending, companions, embedTokens } = server.services.store;
  const id = await limitTo(1_000_000);
  answerWith(async (request, sink) => {
    await spending.stop(account.id, testContext());
    return await askTwice(request, sink);
  });
  const stopped = await say();
  expect([stopped.status, JSON.parse(stopped.raw).code]).toEqual([503, "unavailable"]);
  await spending.start(account.id, testContext());
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 0 });
  expect(await readUsage()).toMatchObject([{ messages: 0, errors: 0, cost_micros: costMicros }]);

  answerWith(async (request, sink) => {
    const tokens = await embedTokens.list(account.id, companion.id);
    await embedTokens.revoke(account.id, companion.id, tokens?.[0]?.id ?? "", testContext());
    return await askTwice(request, sink);
  });
  expect((await say()).status).toBe(404);
  expect(await companions.find(account.id, companion.id)).toMatchObject({ embedToken: null });
  expect(await readBudget(id)).toMatchObject({ spent_micros: 2 * costMicros, reserved_micros: 0 });
  expect(await readQuota()).toMatchObject({ used: 0 });
});

test("thoughts that nobody counted are part of the estimate, which ends at the bound that was sent", async () => {
  const estimates: readonly [reasoningBytes: number, sent: number | undefined, output: number, reasoning: number][] = [
    [4000, 8192, 1001, 1000],
    [100_000, 8192, 8192, 8192],
    [100_000, undefined, boundTokens, boundTokens],
    [0, 8192, 1, 0],
  ];
  for (const [reasoningBytes, sent, output_tokens, reasoning_tokens] of estimates) {
    companion = await server.createCompanion({}, account);
    answerWith(async (_, sink) => {
      await sink.emit({ type: "text", deltas: ["Here"] });
      return reply(null, { reasoningBytes, ...(sent === undefined ? {} : { sentOutputTokens: sent }) });
    });
    expect((await say()).status).toBe(200);
    expect(await readUsage()).toMatchObject([{ output_tokens, reasoning_tokens, cost_micros: 5 * output_tokens }]);
  }
});

test("a count that cannot be true is cut to what can be, so that sums stay exact", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  answerWith(async (_, sink) => {
    await sink.emit({ type: "text", deltas: ["Here"] });
    const all = {
      inputTokens: most,
      outputTokens: most,
      cachedTokens: most,
      cacheWriteTokens: most,
      reasoningTokens: most,
    };
    return reply(all);
  });
  for (let time = 0; time < 3; time++) expect((await say()).status).toBe(200);
  const [row] = await readUsage();
  const output = 3 * (2 * boundTokens + 1024 * 1024);
  expect(row).toMatchObject({ output_tokens: output, reasoning_tokens: output, cost_micros: 5 * output });
  expect(row?.["input_tokens"]).toBe(row?.["cached_tokens"] as number);
  expect(row?.["cache_write_tokens"]).toBe(0);
  expect(row?.["input_tokens"]).toBeLessThan(3 * (1024 * 1024 + 2 * 64 + 1000));
});

test("why a model stopped is in the transcript, in the words that owners can act on", async () => {
  const said = ["stop", "length", "content_filter", "tool_calls", null];
  const session_id = systemIds.randomUuid();
  for (const finishReason of said) {
    answerWith(async (_, sink) => {
      await sink.emit({ type: "text", deltas: ["Here"] });
      return reply(thoughts(1), { finishReason });
    });
    await say({ session_id });
  }
  const { json } = await api.call("GET", `/api/conversations?companion_id=${companion.id}`);
  const whole = await api.call("GET", `/api/conversations/${json.data[0]?.id}`);
  const messages = whole.json["messages"] as { role: string; finish_reason: string | null }[];
  const reasonsOf = (role: string) => messages.filter((one) => one.role === role).map((one) => one.finish_reason);
  expect(reasonsOf("assistant")).toEqual(["stop", "length", "content_filter", null, null]);
  expect(reasonsOf("user")).toEqual([null, null, null, null, null]);
});
