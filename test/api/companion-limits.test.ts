/** A companion's own limits: `daily_messages` and `monthly_tokens`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat, readProblem, sendChat } from "../support/chat.ts";

let server: TestServer;
let account: Awaited<ReturnType<TestServer["createAccount"]>>;
let owner: ApiClient;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_DAILY_FREE: "3", COMPANIOND_DAILY_PAID: "10" } });
  account = await server.createAccount();
  owner = apiClient(server.url, (await server.createKey(account)).key);
});
afterAll(() => server.close());

const make = (settings: Parameters<TestServer["createCompanion"]>[0]) => server.createCompanion(settings, account);
const relay = (id: string) => owner.call("POST", `/api/companions/${id}/chat`, { message: "Hi" });
const tryOut = (id: string) => owner.call("POST", `/api/companions/${id}/test-chat`, { message: "Hi" });
const complete = (id: string) =>
  owner.call("POST", "/v1/chat/completions", { model: id, messages: [{ role: "user", content: "Hi" }] });

describe("daily_messages", () => {
  test("holds for all ways to a companion together, with a sentence of its own", async () => {
    const { id, embedToken } = await make({ dailyMessages: 2 });
    expect((await relay(id)).status).toBe(200);
    expect((await complete(id)).status).toBe(200);
    const refused = expectProblem(await relay(id), 429, "quota_exceeded");
    expect(refused.json.detail).toContain("that its owner allows");
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(86_400);
    expectProblem(await tryOut(id), 429, "quota_exceeded");
    expect((await complete(id)).status).toBe(429);
    expect((await sendChat(server.url, embedToken, { message: "Hi" })).status).toBe(429);
    const { json } = await owner.call("GET", `/api/companions/${id}/quota`);
    expect(json).toMatchObject({ limit: 2, used: 2, left: 0, monthly_tokens: null });
  });

  test("does not lift what the plan allows: the smaller of both counts", async () => {
    const { id } = await make({ dailyMessages: 9 });
    for (let index = 0; index < 3; index++) expect((await relay(id)).status).toBe(200);
    const refused = expectProblem(await relay(id), 429, "quota_exceeded");
    expect(refused.json.detail).not.toContain("its owner");
  });

  test("above the plan's is 400 that tells the plan's number, unless it was so before", async () => {
    const refused = expectInvalid(await owner.call("POST", "/api/companions", { name: "A", daily_messages: 4 }), [
      "daily_messages",
    ]);
    expect(refused.json.errors[0]?.detail).toContain("at most 3");
    const made = await owner.call("POST", "/api/companions", { name: "A", daily_messages: 3 });
    const path = `/api/companions/${made.json.id}`;
    expect(made.status).toBe(201);
    expectInvalid(await owner.call("PATCH", path, { daily_messages: 4 }), ["daily_messages"]);
    const larger = await server.createAccount({ plan: "paid" });
    const theirs = apiClient(server.url, (await server.createKey(larger)).key);
    const { json } = await theirs.call("POST", "/api/companions", { name: "A", daily_messages: 10 });
    await server.services.store.accounts.update(larger.id, { plan: "free" }, testContext());
    expect((await theirs.call("PATCH", `/api/companions/${json.id}`, { ...json, name: "B" })).status).toBe(200);
    expectInvalid(await theirs.call("PATCH", `/api/companions/${json.id}`, { daily_messages: 9 }), ["daily_messages"]);
    const quota = await theirs.call("GET", `/api/companions/${json.id}/quota`);
    expect(quota.json).toMatchObject({ limit: 3 });
  });
});

describe("monthly_tokens", () => {
  test("admits messages while the month's tokens are below it, then refuses until the month ends", async () => {
    // A reply of the mock counts 18.
    const { id, embedToken } = await make({ monthlyTokens: 19 });
    expect((await chat(server.url, embedToken, { message: "Hi" })).isDone).toBe(true);
    expect((await complete(id)).status).toBe(200);
    const refused = await sendChat(server.url, embedToken, { message: "Hi" });
    expect(await readProblem(refused)).toMatchObject({
      code: "quota_exceeded",
      title: "Quota exceeded",
      detail: expect.stringContaining("tokens for this month"),
    });
    const now = new Date();
    const leftSeconds = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
    expect(Math.abs(Number(refused.headers.get("retry-after")) - leftSeconds)).toBeLessThan(60);
    expectProblem(await relay(id), 429, "quota_exceeded");
    expectProblem(await tryOut(id), 429, "quota_exceeded");
    // The refused ones took nothing of the day.
    const { json } = await owner.call("GET", `/api/companions/${id}/quota`);
    expect(json).toMatchObject({ used: 2, monthly_tokens: { limit: 19, used: 36, left: 0 } });
    await owner.call("PATCH", `/api/companions/${id}`, { monthly_tokens: 37 });
    expect((await relay(id)).status).toBe(200);
  });

  test("comes after the day of the companion", async () => {
    const { id } = await make({ monthlyTokens: 1, dailyMessages: 1 });
    expect((await relay(id)).status).toBe(200);
    expect((await relay(id)).json.detail).toContain("its owner allows");
  });
});
