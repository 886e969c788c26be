import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let account: Account;
let api: ApiClient;
let keyId: string;
let companionId: string;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_DAILY_FREE: "4", COMPANIOND_RATE_PER_IP: "1", COMPANIOND_RATE_PER_TOKEN: "1" },
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const key = await server.createKey(account);
  keyId = key.id;
  api = apiClient(server.url, key.key);
  const made = await api.call("POST", "/api/companions", { name: "Ada", system_prompt: "Be kind.", enabled: false });
  companionId = made.json.id;
});

const chat = (body: unknown, headers = {}) =>
  api.call("POST", `/api/companions/${companionId}/test-chat`, body, headers);

async function readUsage() {
  const today = toUtcDay(Date.now());
  return await server.services.store.usage.query(account.id, {
    fromDay: today,
    toDay: today,
    groupBy: ["companion", "key"],
    companionId,
    metadata: [],
  });
}

test("streams the reply as the public chat does, of a disabled companion too", async () => {
  const response = await chat({ message: "[[say:Hello there]]" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.text).toEndWith("\n\ndata: [DONE]\n\n");
  const texts = response.text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).text);
  expect(texts.join("")).toBe("Hello there");
});

test("sends prompt, earlier turns and message to the model, beginning with a user's turn", async () => {
  await chat({
    message: "And on Sunday?",
    session_id: null,
    visitor_id: crypto.randomUUID(),
    history: [
      { role: "assistant", text: "left out, since it begins nothing" },
      { role: "user", text: "Open on Saturday?" },
      { role: "assistant", text: "Until 2 pm." },
    ],
  });
  expect(server.mockLlm.requests.at(-1)?.body).toMatchObject({
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Open on Saturday?" },
      { role: "assistant", content: "Until 2 pm." },
      { role: "user", content: "And on Sunday?" },
    ],
  });
});

test("counts in usage under the companion and the key that made it, and is kept nowhere else", async () => {
  const { key } = await server.createKey(account);
  await chat({ message: "hello" });
  await apiClient(server.url, key).call("POST", `/api/companions/${companionId}/test-chat`, { message: "hello" });
  expect(await readUsage()).toMatchObject([{ companionId, keyId, messages: 2, inputTokens: 22, outputTokens: 14 }]);
  const query = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };
  const { items } = await server.services.store.conversations.list(account.id, query, { limit: 10, afterId: null });
  expect(items).toEqual([]);
});

const countDay = () => server.services.store.turns.countDay(companionId, toUtcDay(Date.now()));

describe("the day's quota", () => {
  test("admits as many as the plan has, without the embed limits, and then says until when", async () => {
    for (let message = 0; message < 4; message++) expect((await chat({ message: "hello" })).status).toBe(200);
    const asked = server.mockLlm.requests.length;
    const refused = expectProblem(await chat({ message: "hello" }), 429, "quota_exceeded");
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 86_401);
    expect(server.mockLlm.requests.length).toBe(asked);
    expect(await countDay()).toBe(4);
    expect(await readUsage()).toMatchObject([{ messages: 4 }]);
  });

  test("is not passed by many at once", async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => chat({ message: "hello" })));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(26);
    expect(await countDay()).toBe(4);
  });

  test("is the one that visitors use up", async () => {
    await api.call("PATCH", `/api/companions/${companionId}`, { enabled: true });
    const { json } = await api.call("GET", `/api/companions/${companionId}`);
    for (let message = 0; message < 4; message++) await chat({ message: "hello" });
    const visitor = await fetch(`${server.url}/api/embed/${json.embed_token}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "hello" }),
    });
    expect(visitor.status).toBe(429);
    expect(await visitor.json()).toMatchObject({ code: "quota_exceeded" });
  });

  test("has its messages back that the provider refused, and those that a wrong body was about", async () => {
    for (let message = 0; message < 6; message++) {
      expectProblem(await chat({ message: "[[fail:401]]" }), 502, "upstream_error");
      expectInvalid(await chat({ message: "" }), ["message"]);
    }
    for (let message = 0; message < 4; message++) expect((await chat({ message: "hello" })).status).toBe(200);
    expectProblem(await chat({ message: "hello" }), 429, "quota_exceeded");
  });
});

test("takes an Idempotency-Key, but streams anew", async () => {
  const first = await chat({ message: "hello" }, { "idempotency-key": "k" });
  const second = await chat({ message: "other" }, { "idempotency-key": "k" });
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get("idempotent-replayed")).toBeNull();
  expectInvalid(await chat({ message: "hello" }, { "idempotency-key": "x".repeat(256) }), ["Idempotency-Key"]);
});

describe("where the provider fails", () => {
  test("before its first text the response is 502, and only the failure is counted", async () => {
    const response = expectProblem(await chat({ message: "[[fail:401]]" }), 502, "upstream_error");
    expect(response.text).not.toContain("sk-");
    await server.services.openTurns.whenEnded();
    expect(await readUsage()).toMatchObject([{ messages: 0, inputTokens: 0, errors: 1 }]);
  });

  test("midway the stream ends without [DONE], and the message counts", async () => {
    const response = await chat({ message: "[[words:20]] [[cut:3]]" });
    expect(response.status).toBe(200);
    expect(response.text).not.toContain("[DONE]");
    expect(response.text).toEndWith(": error upstream_error\n\n");
    expect(await readUsage()).toMatchObject([{ messages: 1, errors: 1 }]);
  });
});

test("leaving aborts the provider's request, and what arrived is counted", async () => {
  const leave = new AbortController();
  const aborted = server.mockLlm.abortedRequests;
  const response = await fetch(`${server.url}/api/companions/${companionId}/test-chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${(await server.createKey(account)).key}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "[[words:500]] [[delay:20]]" }),
    signal: leave.signal,
  });
  await response.body?.getReader().read();
  leave.abort();
  await server.mockLlm.until(() => server.mockLlm.abortedRequests > aborted);
  await server.services.openTurns.whenEnded();
  expect(await readUsage()).toMatchObject([{ messages: 1, errors: 0 }]);
});

describe("refuses, and names,", () => {
  const turn = { role: "user", text: "x" };
  const bad: [unknown, string[]][] = [
    [{}, ["message"]],
    [{ message: " " }, ["message"]],
    [{ message: "x".repeat(2001) }, ["message"]],
    [{ message: "x", session_id: "nope" }, ["session_id"]],
    [{ message: "x", history: "nope" }, ["history"]],
    [{ message: "x", history: [{ role: "system", text: "x" }] }, ["history.0.role"]],
    [{ message: "x", history: [turn, { role: "user" }] }, ["history.1.text"]],
    [{ message: "x", history: Array.from({ length: 201 }, () => turn) }, ["history"]],
    [{ message: "", history: [5], visitor_id: 1 }, ["history.0", "message", "visitor_id"]],
    [
      { message: "x", draft: true, version: 1, model: "else", tool_results: { a: "\0" } },
      ["model", "tool_results", "version"],
    ],
    [
      { message: "x", draft: 1, version: 0, tool_results: [], visitor: { sub: "." } },
      ["draft", "tool_results", "version", "visitor.sub"],
    ],
  ];
  test.each(bad)("%j", async (body, params) => {
    expectInvalid(await chat(body), params);
  });

  test("other types and bodies over 1 MiB", async () => {
    expectProblem(await chat("message=x", { "content-type": "text/plain" }), 415, "unsupported_media_type");
    expectProblem(await chat(`{"message":"${"x".repeat(1024 * 1024)}"}`), 413, "payload_too_large");
  });
});

test("reports on request what was sent, counted and how long it took, in a comment before the end", async () => {
  const history = [
    { role: "user", text: "Open on Saturday?" },
    { role: "assistant", text: "Until 2 pm." },
  ];
  const response = await chat({ message: "And on\nSunday?", history, trace: true });
  const [, told = "{}"] = /\n: trace (\{.*\})\n\ndata: \[DONE\]\n\n$/.exec(response.text) ?? [];
  const { first_text_ms, total_ms, ...trace } = JSON.parse(told);
  expect(trace).toEqual({
    model: "test-model",
    temperature: null,
    reasoning_effort: null,
    max_output_tokens: 4096,
    messages: [{ role: "system", text: "Be kind." }, ...history, { role: "user", text: "And on\nSunday?" }],
    input_tokens: 11,
    output_tokens: 7,
    reasoning_tokens: 0,
    tokens_estimated: false,
    ...{ tool_calls: [], sources: [], no_answer: false, cost_micros: null, companion_version: 1 },
  });
  expect(total_ms).toBeGreaterThanOrEqual(first_text_ms);
  expect((await chat({ message: "Hi" })).text).not.toContain("trace");
});
