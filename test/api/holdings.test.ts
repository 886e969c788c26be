/** Accounts that hold as much as they may: what API and dashboard are told, and what commands may do all the same. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, type ApiResponse, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    environment: {
      COMPANIOND_MAX_COMPANIONS_FREE: "5",
      COMPANIOND_MAX_COMPANIONS_PAID: "50",
      COMPANIOND_MAX_KEYS_FREE: "3",
      COMPANIOND_MAX_TOKENS_FREE: "2",
      COMPANIOND_MAX_BYTES_FREE: "64KiB",
    },
  });
});
afterAll(() => server.close());

async function openPlatform(): Promise<ApiClient> {
  const { key } = await server.createKey(await server.createAccount());
  return apiClient(server.url, key);
}

const doors: [string, () => Promise<ApiClient>][] = [
  ["an API key", openPlatform],
  ["the dashboard", () => openDashboard(server)],
];

function countStatuses(responses: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each(doors)("%s", (_name, open) => {
  test("makes exactly as many companions as the plan allows, out of 80 calls at once", async () => {
    const api = await open();
    const create = () => api.call("POST", "/api/companions", { name: "Ada" });
    const responses = await Promise.all(Array.from({ length: 80 }, create));
    expect(countStatuses(responses)).toEqual({ 201: 5, 403: 75 });
    const refused = responses.find(({ status }) => status === 403);
    if (refused === undefined) throw new Error("nothing was refused");
    expectProblem(refused, 403, "limit_reached");
    expect(refused.json.detail).toBe(
      "This account may hold 5 companions. Delete one that is not needed, or ask the operator for more.",
    );
    const { data } = (await api.call("GET", "/api/companions?limit=100")).json;
    expect(data).toHaveLength(5);
    expect((await api.call("DELETE", `/api/companions/${data[0]?.id}`)).status).toBe(204);
    expect((await create()).status).toBe(201);
  });

  test("makes no more tokens of a companion than the plan allows", async () => {
    const api = await open();
    const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
    const path = `/api/companions/${id}/embed-tokens`;
    expect((await api.call("POST", path)).status).toBe(201);
    const refused = expectProblem(await api.call("POST", path), 403, "limit_reached");
    expect(refused.json.detail).toStartWith("A companion of this account may have 2 embed tokens.");
    const { data } = (await api.call("GET", path)).json;
    await api.call("DELETE", `${path}/${data[0]?.id}`);
    expect((await api.call("POST", path)).status).toBe(201);
  });

  test("may shorten what is too much, and not lengthen it", async () => {
    const api = await open();
    const prompt = (length: number) => ({ name: "Ada", system_prompt: "x".repeat(length) });
    const { id } = (await api.call("POST", "/api/companions", prompt(30_000))).json;
    expect((await api.call("POST", "/api/companions", prompt(30_000))).status).toBe(201);
    const refused = expectProblem(await api.call("POST", "/api/companions", prompt(6000)), 403, "limit_reached");
    expect(refused.json.detail).toStartWith("This account's companions and their sources may take up 64 KiB.");
    const longer = {
      greeting: "x".repeat(1000),
      starters: Array(6).fill("é".repeat(200)),
      metadata: { a: "x".repeat(9000) },
    };
    expectProblem(await api.call("PATCH", `/api/companions/${id}`, longer), 403, "limit_reached");
    expect((await api.call("GET", `/api/companions/${id}`)).json).toMatchObject({ starters: [], metadata: {} });
    expect((await api.call("PATCH", `/api/companions/${id}`, { name: "Grace" })).status).toBe(200);
    expect((await api.call("PATCH", `/api/companions/${id}`, prompt(20_000))).status).toBe(200);
    expect((await api.call("PATCH", `/api/companions/${id}`, { metadata: { a: "x".repeat(9000) } })).status).toBe(200);
  });
});

test("makes no more keys than the plan allows, and a refused call frees its Idempotency-Key", async () => {
  const browser = await openDashboard(server);
  const body = { name: "server", scopes: ["companions:read"] };
  const create = (headers = {}) => browser.call("POST", "/api/keys", body, headers);
  const made = [await create(), await create(), await create()];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  const retried = { "idempotency-key": "one" };
  const refused = expectProblem(await create(retried), 403, "limit_reached");
  expect(refused.json.detail).toStartWith("This account may hold 3 API keys.");
  expect((await browser.call("DELETE", `/api/keys/${made[0]?.json.id}`)).status).toBe(204);
  expect((await create(retried)).status).toBe(201);
});

test("goes by the plan at the time of the call", async () => {
  const account = await server.createAccount({ plan: "paid" });
  const { key } = await server.createKey(account);
  const responses = await Promise.all(
    Array.from({ length: 60 }, () => apiClient(server.url, key).call("POST", "/api/companions", { name: "Ada" })),
  );
  expect(countStatuses(responses)).toEqual({ 201: 50, 403: 10 });
});

test("does not apply to items created for the account on the server itself", async () => {
  const account = await server.createAccount();
  for (let made = 0; made < 7; made++) await server.createCompanion({}, account);
  const browser = await openDashboard(server, {}, account);
  expectProblem(await browser.call("POST", "/api/companions", { name: "Ada" }), 403, "limit_reached");
  expect((await browser.call("GET", "/api/session")).json).toMatchObject({
    holdings: {
      companions: { used: 7, limit: 5 },
      api_keys: { used: 0, limit: 3 },
      bytes: { used: 7 * "Ada[][]{}".length, limit: 65_536 },
      embed_tokens: 2,
    },
  });
});
