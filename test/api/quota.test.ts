/** `GET /api/companions/{id}/quota`: what is left of a companion's day. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { toUtcDay } from "../../src/lib/clock.ts";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_DAILY_FREE: "3", COMPANIOND_DAILY_PAID: "50" } });
});
afterAll(() => server.close());

async function say(token: string, message: string): Promise<void> {
  const body = JSON.stringify({ message });
  const headers = { "content-type": "application/json" };
  await (await fetch(`${server.url}/api/embed/${token}/chat`, { method: "POST", headers, body })).text();
}

test("counts what visitors said and what the owner tried, and not what the provider refused", async () => {
  const account = await server.createAccount();
  const companion = await server.createCompanion({}, account);
  const { call } = apiClient(server.url, (await server.createKey(account, ["usage:read", "companions:write"])).key);
  const path = `/api/companions/${companion.id}/quota`;
  const day = toUtcDay(Date.now());
  expect((await call("GET", path)).json).toMatchObject({ day, limit: 3, used: 0, left: 3 });

  await call("POST", `/api/companions/${companion.id}/test-chat`, { message: "A trial" });
  await say(companion.embedToken, "Hello");
  await say(companion.embedToken, "[[fail:400]]");
  expect((await call("GET", path)).json).toMatchObject({ day, limit: 3, used: 2, left: 1 });
});

test("follows the plan", async () => {
  const account = await server.createAccount({ plan: "paid" });
  const companion = await server.createCompanion({}, account);
  const { call } = apiClient(server.url, (await server.createKey(account)).key);
  const { json } = await call("GET", `/api/companions/${companion.id}/quota`);
  expect(json).toMatchObject({ limit: 50, voice_sessions: { limit: 2000, used: 0, left: 2000 } });
});

test("is closed to other accounts and to keys without the scope", async () => {
  const account = await server.createAccount();
  const companion = await server.createCompanion({}, account);
  const path = `/api/companions/${companion.id}/quota`;
  const other = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  const narrow = apiClient(server.url, (await server.createKey(account, ["companions:read"])).key);
  expectProblem(await other.call("GET", path), 404, "not_found");
  expectProblem(await other.call("GET", "/api/companions/nothing/quota"), 404, "not_found");
  expectProblem(await narrow.call("GET", path), 403, "insufficient_scope");
});
