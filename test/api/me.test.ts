/** `GET /api/me`: who the caller is, and within which limits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { scopes } from "../../src/domain/account.ts";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_RATE_PER_KEY: "70", COMPANIOND_CHAT_RATE_PER_KEY: "80", COMPANIOND_RATE_PER_IP: "9" },
  });
});
afterAll(() => server.close());

test("tells a key what it is, whatever its scopes", async () => {
  const account = await server.createAccount({ plan: "paid" });
  const { id, key } = await server.createKey(account, ["audit:read"]);
  const { status, json, headers } = await apiClient(server.url, key).call("GET", "/api/me");
  expect(status).toBe(200);
  expect(json as unknown).toEqual({
    key: {
      id,
      name: "test",
      start: expect.stringMatching(/^cmp_live_.{1,8}$/),
      scopes: ["audit:read"],
      expires_at: null,
    },
    scopes: ["audit:read"],
    account: { id: account.id, plan: "paid" },
    plan: "paid",
    limits: {
      requests_per_minute: 70,
      chats_per_minute: 80,
      visitor_messages_per_minute: 9,
      daily_messages: 10_000,
      daily_voice_sessions: 2000,
      max_output_tokens: 4096,
      companions: 1_000_000,
      api_keys: 1000,
      embed_tokens: 100,
      bytes: 100 * 1024 ** 3,
    },
    spending_stopped: false,
  });
  expect(headers.get("cache-control")).toBe("no-store");
  expect(JSON.stringify(json)).not.toContain(key);
});

test("tells the dashboard's session, which has no key", async () => {
  const dashboard = await openDashboard(server);
  const { json } = await dashboard.call("GET", "/api/me");
  expect(json).toMatchObject({
    key: null,
    scopes: [...scopes],
    account: { id: dashboard.account.id },
    limits: { requests_per_minute: 70, chats_per_minute: null },
  });
});

test("tells when the operator has stopped the account's spending, as its chats are told", async () => {
  const account = await server.createAccount();
  const owner = apiClient(server.url, (await server.createKey(account)).key);
  const companion = await server.createCompanion({}, account);
  await server.services.store.spending.stop(account.id, testContext());
  expect((await owner.call("GET", "/api/me")).json).toMatchObject({ spending_stopped: true });
  expectProblem(
    await owner.call("POST", `/api/companions/${companion.id}/chat`, { message: "Hi" }),
    503,
    "unavailable",
  );
  const sent = { model: companion.id, messages: [{ role: "user", content: "Hi" }] };
  expect((await owner.call("POST", "/v1/chat/completions", sent)).status).toBe(503);
  await server.services.store.spending.start(account.id, testContext());
  expect((await owner.call("GET", "/api/me")).json).toMatchObject({ spending_stopped: false });
});

test("is 401 for whoever has no valid key, and refuses parameters", async () => {
  expectProblem(await apiClient(server.url, null).call("GET", "/api/me"), 401, "unauthorized");
  const { key } = await server.createKey(await server.createAccount());
  expectProblem(await apiClient(server.url, key).call("GET", "/api/me?all=1"), 400, "invalid_request");
});
