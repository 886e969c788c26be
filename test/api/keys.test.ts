import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Account, scopes } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";

let server: TestServer;
let account: Account;
let api: ApiClient;
let ownId: string;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const own = await server.createKey(account);
  ownId = own.id;
  api = apiClient(server.url, own.key);
});

test("makes a key that works within its scopes, and shows it this once", async () => {
  const made = await api.call("POST", "/api/keys", {
    name: "reader",
    scopes: ["companions:read", "companions:read"],
    expires_at: "2999-12-31T23:59:59.5+01:00",
  });
  expect(made.status).toBe(201);
  expect(made.json).toEqual<unknown>({
    id: expect.any(String),
    name: "reader",
    start: made.json.key.slice(0, 13),
    last_four: made.json.key.slice(-4),
    scopes: ["companions:read"],
    expires_at: "2999-12-31T22:59:59.500Z",
    last_used_at: null,
    requests: 0,
    created_by_key_id: ownId,
    replaced_by_key_id: null,
    replaced_at: null,
    created_at: expect.any(String),
    key: expect.stringMatching(/^cmp_live_[0-9A-Za-z]{32}$/),
  });
  const { key: _key, ...shown } = made.json;
  const listed = await api.call("GET", "/api/keys");
  expect(listed.json.data.find((one) => one.id === made.json.id)).toMatchObject({ ...shown, last_used_at: null });
  expect(listed.text).not.toContain(made.json.key);
  const reader = apiClient(server.url, made.json.key);
  expect((await reader.call("GET", "/api/companions")).status).toBe(200);
  expectProblem(await reader.call("POST", "/api/companions", { name: "x" }), 403, "insufficient_scope");
});

test("the database holds no key, only its hash", async () => {
  const { key } = (await api.call("POST", "/api/keys", { name: "x", scopes: [...scopes] }, { "idempotency-key": "k" }))
    .json;
  const tail = key.slice(13);
  expect((await readStoredBytes(server.dataDir)).includes(tail)).toBe(false);
});

test("lists keys newest first, without the revoked ones, in pages", async () => {
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) {
    ids.push((await api.call("POST", "/api/keys", { name, scopes: ["usage:read"] })).json.id);
  }
  expect((await api.call("DELETE", `/api/keys/${ids[1]}`)).status).toBe(204);
  const first = (await api.call("GET", "/api/keys?limit=2")).json;
  expect(first.data.map((one) => one.name)).toEqual(["c", "a"]);
  const rest = (await api.call("GET", `/api/keys?limit=2&cursor=${first.next_cursor}`)).json;
  expect(rest.data.map((one) => one.id)).toEqual([ownId]);
  expect(rest.next_cursor).toBeNull();
});

test("a revoked key is refused from its next call on, and may revoke itself", async () => {
  const { key, id } = (await api.call("POST", "/api/keys", { name: "x", scopes: ["keys:write"] })).json;
  const other = apiClient(server.url, key);
  expect((await other.call("DELETE", `/api/keys/${id}`)).status).toBe(204);
  expectProblem(await other.call("DELETE", `/api/keys/${id}`), 401, "unauthorized");
  expectProblem(await api.call("DELETE", `/api/keys/${id}`), 404, "not_found");
});

test("a key cannot give scopes that it lacks", async () => {
  const { key } = await server.createKey(account, ["keys:write", "companions:read"]);
  const limited = apiClient(server.url, key);
  const refused = await limited.call("POST", "/api/keys", { name: "x", scopes: ["companions:read", "audit:read"] });
  expectProblem(refused, 403, "insufficient_scope");
  expect(refused.json.detail).toContain("audit:read");
  expect(refused.json.detail).not.toContain("companions:read");
  expect((await limited.call("POST", "/api/keys", { name: "x", scopes: ["companions:read"] })).status).toBe(201);
  expect((await api.call("GET", "/api/keys")).json.data).toHaveLength(3);
});

describe("refuses, and names,", () => {
  const good = { name: "x", scopes: ["companions:read"] };
  const bad: [unknown, string[]][] = [
    [{}, ["name", "scopes"]],
    [{ ...good, name: "" }, ["name"]],
    [{ ...good, name: " \t\u3000" }, ["name"]],
    [{ ...good, name: "a\0b" }, ["name"]],
    [{ ...good, name: null }, ["name"]],
    [{ ...good, name: "x".repeat(101) }, ["name"]],
    [{ ...good, scopes: [] }, ["scopes"]],
    [{ ...good, scopes: null }, ["scopes"]],
    [{ ...good, scopes: "companions:read" }, ["scopes"]],
    [{ ...good, scopes: ["companions:read", "admin", 1] }, ["scopes.1", "scopes.2"]],
    [{ ...good, expires_at: "tomorrow" }, ["expires_at"]],
    [{ ...good, expires_at: "2999-02-31T00:00:00Z" }, ["expires_at"]],
    [{ ...good, expires_at: "2999-01-01" }, ["expires_at"]],
    [{ ...good, expires_at: "2999-01-01T00:00:00" }, ["expires_at"]],
    [{ ...good, expires_at: "2001-01-01T00:00:00Z" }, ["expires_at"]],
    [{ ...good, expires_at: 4_102_444_800 }, ["expires_at"]],
    [{ ...good, replaces: "the old one", grace_seconds: 0 }, ["replaces"]],
    [{ ...good, replaces: crypto.randomUUID(), grace_seconds: 0 }, ["replaces"]],
    [{ ...good, replaces: crypto.randomUUID() }, ["grace_seconds"]],
    [{ ...good, grace_seconds: 60 }, ["grace_seconds"]],
    [{ ...good, replaces: crypto.randomUUID(), grace_seconds: -1 }, ["grace_seconds"]],
    [{ ...good, replaces: crypto.randomUUID(), grace_seconds: 2_592_001 }, ["grace_seconds"]],
    [{ ...good, replaces: crypto.randomUUID(), grace_seconds: 1.5 }, ["grace_seconds"]],
    [{ ...good, scope: "x" }, ["scope"]],
    [{ name: "", scopes: [], expires_at: "2001-01-01T00:00:00Z", typo: 1 }, ["expires_at", "name", "scopes", "typo"]],
  ];
  test.each(bad)("%j", async (body, params) => {
    expectInvalid(await api.call("POST", "/api/keys", body), params);
    expect((await api.call("GET", "/api/keys")).json.data).toHaveLength(1);
  });

  test("a body that is no object", async () => {
    expectProblem(await api.call("POST", "/api/keys", "null"), 400, "invalid_request");
  });
});

test("a key that was read can be sent back; what only the server sets is passed over", async () => {
  const made = await api.call("POST", "/api/keys", {
    name: "x",
    scopes: ["usage:read"],
    expires_at: null,
    id: "mine",
    key: "mine",
    start: "mine",
    requests: 99,
    created_at: "never",
    last_used_at: "never",
    last_four: "mine",
    created_by_key_id: "mine",
    replaced_by_key_id: "mine",
    replaced_at: "never",
    replaces: null,
    grace_seconds: null,
  });
  expect(made.json).toMatchObject({ requests: 0, last_used_at: null });
  expect(made.json.id).not.toBe("mine");
  expect(made.json.key).not.toBe("mine");
});

test("making and revoking keys is in the audit trail, without the key", async () => {
  const made = (await api.call("POST", "/api/keys", { name: "ci", scopes: ["usage:read"] })).json;
  await api.call("DELETE", `/api/keys/${made.id}`);
  const range = { fromMs: 0, toMs: Date.now() + 60_000 };
  const { items } = await server.services.store.audit.list(account.id, range, { limit: 100, afterId: null });
  const ofKey = items.filter((entry) => entry.targetId === made.id);
  expect(ofKey.map((entry) => entry.action)).toEqual(["key.revoke", "key.create"]);
  for (const entry of ofKey) expect(entry.actor).toMatchObject({ kind: "key", id: ownId });
  expect(JSON.stringify(items)).not.toContain(made.key);
});
