/** Budgets and the operator's stop, as platforms and visitors meet them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion, CompanionSettings } from "../../src/domain/companion.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { chat, sendChat } from "../support/chat.ts";
import { openDashboard } from "../support/dashboard.ts";
import { postCallEvent, signDelivery } from "../support/elevenlabs-delivery.ts";
import { isOnPostgres, openStoreBeside } from "../support/engine.ts";
import type { Responder } from "../support/mock-llm.ts";
import { chunk, wholeStream } from "../support/mock-llm-replies.ts";
import { newMessage, readUntil, sayOnCommand } from "../support/resumed-chat.ts";
import { startVoiceServer, type VoiceServer, webhookSecret } from "../support/voice-server.ts";

/** A token costs one micro-dollar, a minute 100 000. */
const prices = {
  "test-model": { input: 1, cached_input: 1, output: 1 },
  "voice/elevenlabs": { minute: 0.1 },
};
const environment = {
  COMPANIOND_MODELS: "test-model,dear-model",
  COMPANIOND_MAX_OUTPUT_TOKENS: "100",
  COMPANIOND_DAILY_FREE: "1000",
  COMPANIOND_PRICES: JSON.stringify(prices),
};
/** Of "Hello": its bytes, the framing of one message, and the longest reply. */
const boundMicros = 5 + 64 + 100;
/** By the mock's count. */
const costMicros = 11 + 7;

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer({ environment, isShared: isOnPostgres });
});
afterAll(() => server.close());

let account: Account;
let companion: Companion & { embedToken: string };
let api: ApiClient;
beforeEach(async () => {
  server.mockLlm.respond(null);
  account = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  companion = await server.createCompanion({ metadata: { tenant: "acme" } }, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
});

const makeCompanion = (settings: Partial<CompanionSettings>) => server.createCompanion(settings, account);
const say = (token = companion.embedToken, url = server.url) => chat(url, token, { message: "Hello" });

async function makeBudget(fields: object = {}): Promise<string> {
  const body = { account: true, limit_micros: 1_000, period: "month", action: "stop", ...fields };
  const { status, json } = await api.call("POST", "/api/budgets", body);
  expect(status).toBe(201);
  return json.id;
}

const readBudget = async (id: string) => (await api.call("GET", `/api/budgets/${id}`)).json;
const countUsed = async () => (await api.call("GET", `/api/companions/${companion.id}/quota`)).json.used;

test("a budget is made once for an Idempotency-Key, read, listed, changed and deleted, by the scopes for it", async () => {
  const body = { metadata: { tenant: "acme" }, limit_micros: 5, period: "day", action: "notify" };
  const made = await api.call("POST", "/api/budgets", body, { "idempotency-key": "one" });
  const again = await api.call("POST", "/api/budgets", body, { "idempotency-key": "one" });
  expect(again.json).toEqual(made.json);
  const { json } = made;
  const [subject, rules] = [
    { account: null, key_id: null, companion_id: null, metadata: { tenant: "acme" } },
    { limit_micros: 5, period: "day", action: "notify" },
  ];
  const today = toUtcDay(server.services.clock.nowMs());
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString();
  expect(json).toMatchObject({ ...subject, ...rules, spent_micros: 0, reserved_micros: 0, reached_at: null });
  expect(json.resets_at).toBe(tomorrow);
  const second = await makeBudget({ account: null, companion_id: companion.id });
  const list = await api.call("GET", "/api/budgets?limit=1");
  expect(list.json.data.map(({ id }) => id)).toEqual([second]);
  const next = await api.call("GET", `/api/budgets?limit=1&cursor=${list.json.next_cursor}`);
  expect(next.json).toMatchObject({ data: [{ id: json.id }], next_cursor: null });
  const oldest = await api.call("GET", "/api/budgets?limit=1&order=asc");
  expect(oldest.json.data.map(({ id }) => id)).toEqual([json.id]);
  const patched = await api.call("PATCH", `/api/budgets/${json.id}`, { limit_micros: 7, period: "month" });
  expect(patched.json).toMatchObject({ ...subject, limit_micros: 7, period: "month", action: "notify" });
  const reader = apiClient(server.url, (await server.createKey(account, ["usage:read"])).key);
  expect((await reader.call("GET", `/api/budgets/${json.id}`)).status).toBe(200);
  expectProblem(await reader.call("DELETE", `/api/budgets/${json.id}`), 403, "insufficient_scope");
  const other = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  expectProblem(await other.call("PATCH", `/api/budgets/${json.id}`, { limit_micros: 1 }), 404, "not_found");
  expect((await api.call("DELETE", `/api/budgets/${json.id}`)).status).toBe(204);
  expectProblem(await api.call("GET", `/api/budgets/${json.id}`), 404, "not_found");
});

test("a budget has exactly one subject, which is the account's own, and every field at fault is named", async () => {
  const rules = { limit_micros: 1, period: "day", action: "stop" };
  const faults = async (body: object) => {
    const { json } = expectProblem(await api.call("POST", "/api/budgets", body), 400, "invalid_request");
    return json.errors.map(({ param }) => param);
  };
  const foreign = await server.createCompanion();
  expect(await faults(rules)).toEqual(["account"]);
  expect(await faults({ ...rules, account: true, companion_id: companion.id })).toEqual(["account", "companion_id"]);
  expect(await faults({ ...rules, companion_id: foreign.id })).toEqual(["companion_id"]);
  expect(await faults({ ...rules, key_id: systemIds.uuid() })).toEqual(["key_id"]);
  expect(await faults({ ...rules, account: false })).toEqual(["account"]);
  expect(await faults({ ...rules, metadata: {} })).toEqual(["metadata"]);
  expect(await faults({ ...rules, metadata: { a: { b: 1 } } })).toEqual(["metadata.a"]);
  expect(await faults({ account: true, limit_micros: -1, period: "week", action: "stop" })).toEqual([
    "limit_micros",
    "period",
  ]);
});

test("200 calls at once never spend more than the budget, and those refused ask no provider and take no quota", async () => {
  const admitted = 7;
  const id = await makeBudget({ limit_micros: admitted * boundMicros + boundMicros - 1 });
  const go = Promise.withResolvers<void>();
  const answerLater: Responder = async (_, response) => {
    await go.promise;
    await response.write(wholeStream(["Hi"]).join(""));
    response.end();
  };
  server.mockLlm.respond(answerLater);
  const elsewhere = isOnPostgres
    ? await startTestServer({ environment, dataDir: server.dataDir, isShared: true })
    : null;
  elsewhere?.mockLlm.respond(answerLater);
  const asked = () => server.mockLlm.openRequests + (elsewhere?.mockLlm.openRequests ?? 0);
  const urls = [server.url, elsewhere?.url ?? server.url];
  let refusedCount = 0;
  const allRefused = Promise.withResolvers<void>();
  const calls = Array.from({ length: 200 }, async (_, at) => {
    const response = await sendChat(urls[at % 2] ?? "", companion.embedToken, { message: "Hello" });
    if (response.status === 429 && ++refusedCount === 200 - admitted) allRefused.resolve();
    return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() };
  });
  await allRefused.promise;
  expect(await readBudget(id)).toMatchObject({ spent_micros: 0, reserved_micros: admitted * boundMicros });
  expect(asked()).toBeLessThanOrEqual(admitted);
  const completion = { model: companion.id, messages: [{ role: "user", content: "Hello" }] };
  const byClient = await api.call("POST", "/v1/chat/completions", completion);
  expect([byClient.status, byClient.json["error"]]).toMatchObject([429, { code: "rate_limit_exceeded" }]);
  expect(byClient.headers.get("x-should-retry")).toBeNull();
  go.resolve();
  const answers = await Promise.all(calls);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(admitted);
  // What the others hold stands in the way, and nothing of it is spent: soon there will be room.
  for (const { retryAfter, text } of answers.filter(({ status }) => status === 429)) {
    expect(JSON.parse(text)).toMatchObject({ code: "rate_limited", detail: expect.stringContaining("many replies") });
    expect(["1", "2", "3", "4", "5"]).toContain(retryAfter ?? "");
  }
  expect(await readBudget(id)).toMatchObject({ reserved_micros: 0, reached_at: null });
  expect(await countUsed()).toBe(admitted);
  // From here on it is spent that leaves too little.
  await api.call("PATCH", `/api/budgets/${id}`, { limit_micros: admitted * costMicros + boundMicros - 1 });
  const refused = await sendChat(server.url, companion.embedToken, { message: "Hello" });
  expect(await refused.json()).toMatchObject({ code: "budget_exceeded" });
  const [now, budget] = [server.services.clock.nowMs(), await readBudget(id)];
  const leftSeconds = (Date.parse(String(budget.resets_at)) - now) / 1000;
  expect(Math.abs(Number(refused.headers.get("retry-after")) - leftSeconds)).toBeLessThan(120);
  expect(budget.reached_at).not.toBeNull();
  await elsewhere?.close();
});

test("what a budget would count, and what a reply needs of it, is told before it is made, and holds", async () => {
  const preview = (body: object) => api.call("POST", "/api/budgets/preview", { period: "day", ...body });
  await say();
  const { id } = await makeCompanion({ systemPrompt: "Be kind.", maxOutputTokens: 90, metadata: { tenant: "other" } });
  // The framing of a message or two, the shortest one, and the longest reply.
  const [least, prompted] = [64 + 1 + 100, 2 * 64 + 8 + 1 + 90];
  const told: [object, object][] = [
    // Of several, the shortest prompt and the shortest reply.
    [{ account: true }, { spent_micros: costMicros, reply_micros: least - 10 }],
    [{ companion_id: id }, { spent_micros: 0, reply_micros: prompted }],
    [{ metadata: { tenant: "acme" } }, { spent_micros: costMicros, reply_micros: least }],
    [{ metadata: { tenant: "nobody" } }, { spent_micros: 0, reply_micros: null }],
  ];
  for (const [subject, expected] of told) {
    const { status, json } = await preview(subject);
    expect([status, json as object]).toEqual([200, expected]);
  }
  const shortest = () => chat(server.url, companion.embedToken, { message: "." });
  const budget = await makeBudget({ period: "day", limit_micros: costMicros + least - 1 });
  expect((await shortest()).status).toBe(429);
  await api.call("PATCH", `/api/budgets/${budget}`, { limit_micros: costMicros + least });
  expect((await shortest()).status).toBe(200);

  expectInvalid(await preview({}), ["account"]);
  expectInvalid(await preview({ account: true, limit_micros: 1 }), ["limit_micros"]);
  expectInvalid(await preview({ companion_id: systemIds.uuid() }), ["companion_id"]);
  expect((await readBudget(budget)).limit_micros).toBe(costMicros + least);
});

test("what a reply cost is settled with it, a provider's failure gives all back, and budgets made later have seen it", async () => {
  const id = await makeBudget();
  expect((await say()).isDone).toBe(true);
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 0 });
  expect((await chat(server.url, companion.embedToken, { message: "[[fail:400]]" })).status).toBe(502);
  expect(await readBudget(id)).toMatchObject({ spent_micros: costMicros, reserved_micros: 0 });
  const later = await makeBudget({ account: null, metadata: { tenant: "acme" }, period: "day", action: "notify" });
  expect(await readBudget(later)).toMatchObject({ spent_micros: costMicros });
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  expect(trial.status).toBe(200);
  expect(await readBudget(later)).toMatchObject({ spent_micros: 2 * costMicros });
});

test("a call that is left, breaks or is refused in its stream costs what its input can at most, and each attempt does", async () => {
  const id = await makeBudget({ limit_micros: 100_000, period: "day" });
  let spent = 0;
  const costs = async (message: string, output: number, calls: number) => {
    spent += calls * (message.length + 64) + output;
    await server.services.openTurns.whenEnded();
    expect([message, await readBudget(id)]).toMatchObject([message, { spent_micros: spent, reserved_micros: 0 }]);
  };
  const leave = async (message: string, text: string) => {
    const lost = new AbortController();
    const asked = sendChat(server.url, companion.embedToken, { message }, { signal: lost.signal });
    if (text === "") await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    else await readUntil(await asked, (read) => read.text === text);
    lost.abort();
    await asked.catch(() => {});
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
  };
  await leave("[[hang]] until somebody is here", "");
  await costs("[[hang]] until somebody is here", 0, 1);
  await leave("[[silence:3]] one two three", "You said: one ");
  await costs("[[silence:3]] one two three", "You said: one ".length, 1);
  for (const [message, calls, output] of [
    ["[[reset:0]]", 3, 0],
    ["[[error:0]]", 1, 0],
    ["[[fail:500]]", 0, 0],
    ["[[fail:400]]", 0, 0],
    ["[[cut:2]] one two", 1, "You said: ".length],
  ] as const) {
    await chat(server.url, companion.embedToken, { message });
    await costs(message, output, calls);
  }
  // Failures are none of the day's messages, and what is spent is what usage says.
  expect(await countUsed()).toBe(3);
  expect(await readBudget(await makeBudget({ period: "day", limit_micros: 1_000_000 }))).toMatchObject({
    spent_micros: spent,
  });
});

test("a reply that the provider did not count never costs more than was held for it", async () => {
  const message = "[[nousage]][[words:500]]";
  const id = await makeBudget({ limit_micros: message.length + 64 + 100 });
  expect((await chat(server.url, companion.embedToken, { message })).isDone).toBe(true);
  expect(await readBudget(id)).toMatchObject({ spent_micros: message.length / 4 + 100, reserved_micros: 0 });
});

test("a budget that notifies refuses nothing, and tells once that its limit is reached", async () => {
  const { reachedBudgets } = server.services.measurements;
  const before = reachedBudgets.notify;
  const id = await makeBudget({ action: "notify", limit_micros: costMicros });
  await say();
  await say();
  expect((await readBudget(id)).reached_at).not.toBeNull();
  expect(reachedBudgets.notify - before).toBe(1);
  // One that is made behind its limit, and one whose limit falls behind what is spent.
  await makeBudget({ action: "notify", limit_micros: costMicros });
  expect(reachedBudgets.notify - before).toBe(2);
  const wide = await makeBudget({ action: "notify" });
  await api.call("PATCH", `/api/budgets/${wide}`, { limit_micros: costMicros });
  await api.call("PATCH", `/api/budgets/${wide}`, { limit_micros: costMicros - 1 });
  expect(reachedBudgets.notify - before).toBe(3);
});

test("the day's quota is asked before the budget", async () => {
  await api.call("PATCH", `/api/companions/${companion.id}`, { daily_messages: 1 });
  await makeBudget({ limit_micros: boundMicros });
  expect((await say()).status).toBe(200);
  expect(JSON.parse((await say()).raw)).toMatchObject({ code: "quota_exceeded" });
});

test("under a budget that stops a call without a price is refused, and what would bring that about is refused before", async () => {
  const dear = await makeCompanion({ model: "dear-model" });
  const stop = { companion_id: dear.id, limit_micros: 1_000, period: "day", action: "stop" };
  const refused = expectProblem(await api.call("POST", "/api/budgets", stop), 400, "invalid_request");
  expect(refused.json.errors).toMatchObject([{ param: "action", detail: expect.stringContaining("dear-model") }]);
  const notifying = await makeBudget({ account: null, companion_id: dear.id, action: "notify" });
  expect((await say(dear.embedToken)).status).toBe(200);
  expectProblem(await api.call("PATCH", `/api/budgets/${notifying}`, { action: "stop" }), 400, "invalid_request");

  await makeBudget({ account: null, metadata: { tenant: "acme" } });
  const faultOf = async (method: string, path: string, body: object) => {
    const { json } = expectProblem(await api.call(method, path, body), 400, "invalid_request");
    return json.errors.map(({ param }) => param);
  };
  expect(await faultOf("PATCH", `/api/companions/${companion.id}`, { model: "dear-model" })).toEqual(["model"]);
  expect(await faultOf("PATCH", `/api/companions/${dear.id}`, { metadata: { tenant: "acme" } })).toEqual(["metadata"]);
  const made = { name: "Ada", model: "dear-model", metadata: { tenant: "acme" } };
  expect(await faultOf("POST", "/api/companions", made)).toEqual(["model"]);
  // Another key, which calls this one's companions.
  const caller = await server.createKey(account, ["chat:write"]);
  const ofCaller = await makeBudget({ account: null, key_id: caller.id, action: "notify" });
  await server.updateCompanion(dear, { model: "test-model" });
  expect((await api.call("PATCH", `/api/budgets/${ofCaller}`, { action: "stop" })).status).toBe(200);
  expect(await faultOf("PATCH", `/api/companions/${dear.id}`, { model: "dear-model" })).toEqual(["model"]);
  // As if the operator had taken the price away since.
  await server.updateCompanion(companion, { model: "dear-model" });
  const response = await say();
  expect([response.status, JSON.parse(response.raw).code]).toEqual([429, "budget_exceeded"]);
  expect(await countUsed()).toBe(0);
});

test("from a stop on no call begins: 503 for visitors, owners and voice, nothing counted; a reply under way goes on", async () => {
  const { spending } = server.services.store;
  await server.grantAgent(account.id, "agent-1");
  await server.updateCompanion(companion, { voiceAgentId: "agent-1" });
  const reply = sayOnCommand(server, ["Hi ", "there"]);
  reply.say(1);
  const running = await sendChat(server.url, companion.embedToken, { message: "Hello" });
  const asked = server.mockLlm.requests.length;
  await spending.stop(account.id, testContext());
  expect([(await say()).status, JSON.parse((await say()).raw).code]).toEqual([503, "unavailable"]);
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  expectProblem(trial, 503, "unavailable");
  expect((await server.askVoiceToken(companion.embedToken)).status).toBe(503);
  expect(server.mockLlm.requests).toHaveLength(asked);
  reply.say();
  expect(await running.text()).toContain("[DONE]");
  expect(await countUsed()).toBe(1);
  await spending.start(account.id, testContext());
  server.mockLlm.respond(null);
  expect((await say()).status).toBe(200);
});

test("a stop beside this server ends the calls of a reply without text: no retry, lesson or room follows, no repetition", async () => {
  const beside = await openStoreBeside(server.dataDir);
  const { spending } = beside;
  const wordless = [chunk({ delta: { reasoning_content: "Hm" } }), chunk({ finishReason: "length" })].join("");
  const refusal = JSON.stringify({ error: { message: "Unsupported parameter", param: "temperature" } });
  await server.updateCompanion(companion, { temperature: 0.5 });
  const answers: [string, Responder][] = [
    ["retry", (_, response) => response.send(500, {}, "no")],
    ["lesson", (_, response) => response.send(400, {}, refusal)],
    ["room", (_, response) => response.write(wordless).then(() => response.end())],
  ];
  for (const [what, answer] of answers) {
    const asked = server.mockLlm.requests.length;
    server.mockLlm.respond(async (request, response) => {
      await spending.stop(account.id, testContext());
      await answer(request, response);
    });
    const { status, raw } = await say();
    expect([what, status, JSON.parse(raw).code]).toEqual([what, 503, "unavailable"]);
    expect([what, server.mockLlm.requests.length - asked]).toEqual([what, 1]);
    await spending.start(account.id, testContext());
  }
  server.mockLlm.respond((_, response) => response.closed);
  const message = newMessage({ resume: false });
  const lost = new AbortController();
  const left = sendChat(server.url, companion.embedToken, message, { signal: lost.signal });
  await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
  lost.abort();
  await expect(left).rejects.toThrow();
  await server.services.openTurns.whenEnded();
  await spending.stop(null, testContext());
  const asked = server.mockLlm.requests.length;
  const { status } = await sendChat(server.url, companion.embedToken, message);
  expect([status, server.mockLlm.requests.length - asked]).toEqual([503, 0]);
  await spending.start(null, testContext());
  await beside.close();
});

test("a voice session holds ten minutes, and is settled by the second when its transcript comes", async () => {
  await server.updateCompanion(companion, { voiceId: "voice-1" });
  const id = await makeBudget({ limit_micros: 1_500_000 });
  const opened = await server.askVoiceToken(companion.embedToken);
  expect(opened.status).toBe(200);
  expect(await readBudget(id)).toMatchObject({ spent_micros: 0, reserved_micros: 1_000_000 });
  const refused = await server.askVoiceToken(companion.embedToken);
  expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([429, "rate_limited"]);
  const quota = (await api.call("GET", `/api/companions/${companion.id}/quota`)).json;
  expect(quota.voice_sessions).toMatchObject({ used: 1 });

  const conversationId = server.voice.sessions.at(-1)?.conversationId ?? "";
  const event = postCallEvent(conversationId, [{ role: "user", message: "Hello" }]);
  const nowSeconds = Math.floor(server.services.clock.nowMs() / 1000);
  const delivered = await fetch(`${server.url}/api/voice/elevenlabs/webhook`, {
    method: "POST",
    headers: { "elevenlabs-signature": signDelivery(webhookSecret, event, nowSeconds) },
    body: event,
  });
  expect(delivered.status).toBe(200);
  // Five seconds of a minute for 100 000: 8 333.33….
  expect(await readBudget(id)).toMatchObject({ spent_micros: 8_333, reserved_micros: 0 });
});

test("operators stop and start everybody or one account, in the dashboard, and nobody else does", async () => {
  expectProblem(await api.call("GET", "/api/spending-stops"), 403, "insufficient_scope");
  const operator = await openDashboard(server, { role: "operator", email: `${systemIds.secret(8)}@example.com` });
  const made = await operator.call("POST", "/api/spending-stops", { account_id: account.id });
  expect(made.status).toBe(201);
  const all = await operator.call("POST", "/api/spending-stops");
  expect(all.json).toMatchObject({ account_id: null });
  expect((await say()).status).toBe(503);
  expect((await operator.call("GET", "/api/spending-stops")).json.data).toEqual([all.json, made.json]);
  expect((await operator.call("DELETE", "/api/spending-stops/all")).status).toBe(204);
  expect((await say()).status).toBe(503);
  expect((await operator.call("DELETE", `/api/spending-stops/${account.id}`)).status).toBe(204);
  expectProblem(await operator.call("DELETE", `/api/spending-stops/${account.id}`), 404, "not_found");
  const nobody = { account_id: systemIds.uuid() };
  expectProblem(await operator.call("POST", "/api/spending-stops", nobody), 404, "not_found");
  expect((await say()).status).toBe(200);
});
