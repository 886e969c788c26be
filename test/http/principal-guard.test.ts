import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { routes } from "../../src/app/routes.ts";
import { scopes } from "../../src/domain/account.ts";
import { apiKeyEnds, makeApiKey } from "../../src/domain/credentials.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { type ApiResponse, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** In OpenAI's shape where its clients call. */
function expectRefusal(response: ApiResponse, path: string, status: number, code: ErrorCode): void {
  if (!path.startsWith("/v1/")) return void expectProblem(response, status, code);
  const theirs = code === "unauthorized" ? "invalid_api_key" : code;
  expect({ status: response.status, error: response.json["error"] }).toMatchObject({ status, error: { code: theirs } });
}

const list = (key: string | null, headers = {}) =>
  apiClient(server.url, key).call("GET", "/api/companions", undefined, headers);

describe("a management call is 401 with WWW-Authenticate", () => {
  const unknownKey = `cmp_live_${"x".repeat(32)}`;
  const headers: [string, string | null][] = [
    ["without a key", null],
    ["with an empty header", ""],
    ["with a key of another shape", "Bearer sk-something"],
    ["with an unknown key", `Bearer ${unknownKey}`],
    ["with the key alone", unknownKey],
    ["with another scheme", `Basic ${btoa(`user:${unknownKey}`)}`],
    ["with two keys", `Bearer ${unknownKey} ${unknownKey}`],
  ];
  test.each(headers)("%s", async (_name, authorization) => {
    const response = await list(null, authorization === null ? {} : { authorization });
    expectProblem(response, 401, "unauthorized");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("ratelimit")).toBeNull();
  });

  test("from the next call on once the key is revoked", async () => {
    const account = await server.createAccount();
    const { id, key } = await server.createKey(account);
    expect((await list(key)).status).toBe(200);
    await server.services.store.apiKeys.revoke(account.id, id, testContext(), systemIds.uuid);
    expectProblem(await list(key), 401, "unauthorized");
  });

  test("once the key has expired", async () => {
    const account = await server.createAccount();
    const key = makeApiKey(systemIds.secret);
    const fields = { name: "short", ...apiKeyEnds(key), createdByKeyId: null, hash: sha256(key), scopes };
    const expired = { ...fields, id: systemIds.uuid(), expiresAt: Date.now() - 1 };
    await server.services.store.apiKeys.create(account.id, expired, testContext());
    expectProblem(await list(key), 401, "unauthorized");
  });

  test("while its account is suspended", async () => {
    const account = await server.createAccount();
    const { key } = await server.createKey(account);
    await server.services.store.accounts.update(account.id, { suspendedAt: Date.now() }, testContext());
    expectProblem(await list(key), 401, "unauthorized");
    await server.services.store.accounts.update(account.id, { suspendedAt: null }, testContext());
    expect((await list(key)).status).toBe(200);
  });
});

test("takes the scheme in any case", async () => {
  const { key } = await server.createKey(await server.createAccount());
  expect((await list(null, { authorization: `bearer ${key}` })).status).toBe(200);
});

const guarded = routes
  .filter(({ access }) => scopes.some((scope) => scope === access))
  .map(({ method, path, access }) => [method, path.replace(/\{\w+\}/g, "none"), access] as const);

test("finds the routes that need a scope", () => {
  expect(new Set(guarded.map(([, , scope]) => scope)).size).toBeGreaterThan(4);
});

test.each(guarded)(
  "%s %s is 403 without the scope %s, before path and body are looked at",
  async (method, path, scope) => {
    const account = await server.createAccount();
    const others = scopes.filter((one) => one !== scope);
    const { key } = await server.createKey(account, others);
    const body = method === "POST" || method === "PATCH" ? "no json" : undefined;
    const response = await apiClient(server.url, key).call(method, `${path}?unknown=1`, body);
    expectRefusal(response, path, 403, "insufficient_scope");
    expect(response.text).toContain(scope);
  },
);

test.each(guarded)("%s %s is 401 without a key", async (method, path) => {
  expectRefusal(await apiClient(server.url, null).call(method, path), path, 401, "unauthorized");
});

test("an address that has no such method is 405 with Allow", async () => {
  const { key } = await server.createKey(await server.createAccount());
  const response = await apiClient(server.url, key).call("PUT", "/api/companions", {});
  expectProblem(response, 405, "method_not_allowed");
  expect(response.headers.get("allow")).toBe("GET, POST");
});

test("errors and successes alike carry CORS headers and a request id, and are never cached", async () => {
  const { key } = await server.createKey(await server.createAccount());
  for (const response of [
    await list(key, { origin: "https://shop.example" }),
    await list(null, { origin: "https://shop.example" }),
  ]) {
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("x-request-id")).toBeString();
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("counts a key's calls and its last use without a write each", async () => {
  const account = await server.createAccount();
  const { id, key } = await server.createKey(account);
  const before = Date.now();
  for (let call = 0; call < 5; call++) await list(key);
  await apiClient(server.url, key).call("GET", "/api/companions/none");
  await server.services.uses.flush();
  const [kept] = await server.services.store.apiKeys.list(account.id);
  expect(kept).toMatchObject({ id, requests: 6 });
  expect(kept?.lastUsedAt).toBeGreaterThanOrEqual(before);
});

test("limits requests by key, with headers, and by nothing else", async () => {
  const limited = await startTestServer({ environment: { COMPANIOND_RATE_PER_KEY: "3" } });
  try {
    const account = await limited.createAccount();
    const { id, key } = await limited.createKey(account);
    const call = (secret: string) => apiClient(limited.url, secret).call("GET", "/api/companions");
    const responses = [await call(key), await call(key), await call(key)];
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200]);
    expect(responses[0]?.headers.get("ratelimit-policy")).toBe('"key";q=3;w=60');
    expect(responses[0]?.headers.get("ratelimit")).toMatch(/^"key";r=2;t=(59|60)$/);
    const refused = expectProblem(await call(key), 429, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(refused.headers.get("ratelimit")).toMatch(/^"key";r=0;t=\d+$/);
    const other = await limited.createKey(account);
    expect((await call(other.key)).status).toBe(200);
    await limited.services.uses.flush();
    const keys = await limited.services.store.apiKeys.list(account.id);
    expect(keys.find((one) => one.id === id)?.requests).toBe(3);
  } finally {
    await limited.close();
  }
});

test("limits requests by session as by key, with headers, whatever they are for", async () => {
  const limited = await startTestServer({ environment: { COMPANIOND_RATE_PER_KEY: "4" } });
  try {
    const browser = await openDashboard(limited, { role: "operator" });
    const paths = ["/api/companions", "/api/session", "/api/accounts", "/api/keys"];
    const responses = [];
    for (const path of paths) responses.push(await browser.call("GET", path));
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200, 200]);
    expect(responses.map((response) => response.headers.get("ratelimit-policy"))).toEqual(
      Array(4).fill('"session";q=4;w=60'),
    );
    expect(responses.at(-1)?.headers.get("ratelimit")).toMatch(/^"session";r=0;t=\d+$/);
    const refused = expectProblem(await browser.call("POST", "/api/companions", { name: "Ada" }), 429, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    const elsewhere = await openDashboard(limited, {}, browser.account);
    expect((await elsewhere.call("GET", "/api/companions")).json.data).toEqual([]);
  } finally {
    await limited.close();
  }
});
