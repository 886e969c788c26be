/** `/api/keys` where keys make keys: none outlives its maker, and a rotation is one step. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Account, type Scope, scopes } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { createManualClock } from "../support/manual-clock.ts";

// Ahead of the system's, by which the first key of each account is made.
const clock = createManualClock(Date.now() + 60_000);
let server: TestServer;
let account: Account;
/** By a key that never ends. */
let api: ApiClient;
let ownId: string;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const own = await server.createKey(account);
  ownId = own.id;
  api = apiClient(server.url, own.key);
});

interface Made {
  id: string;
  expires_at: string | null;
  created_by_key_id: string;
  api: ApiClient;
}

const inMs = (durationMs: number) => new Date(clock.nowMs() + durationMs).toISOString();
const body = (fields: object = {}, granted: readonly Scope[] = scopes) => ({ name: "x", scopes: granted, ...fields });

async function make(by: ApiClient, fields: object = {}, granted?: readonly Scope[]): Promise<Made> {
  const response = await by.call("POST", "/api/keys", body(fields, granted));
  expect(response.status).toBe(201);
  return { ...(response.json as unknown as Made), api: apiClient(server.url, response.json.key) };
}
const statusOf = async (key: Made) => (await key.api.call("GET", "/api/keys")).status;
const listIds = async () => (await api.call("GET", "/api/keys?limit=100")).json.data.map(({ id }) => id);

test("a key that ends in three seconds makes none that outlives it", async () => {
  const brief = await make(api, { expires_at: inMs(3000) });
  const refused = expectInvalid(await brief.api.call("POST", "/api/keys", body({ expires_at: inMs(3001) })), [
    "expires_at",
  ]);
  expect(refused.json.errors[0]?.detail).toContain(inMs(3000));
  const all = body({ name: "", scopes: [], expires_at: inMs(3001) });
  expectInvalid(await brief.api.call("POST", "/api/keys", all), ["expires_at", "name", "scopes"]);
  const children = [
    await make(brief.api),
    await make(brief.api, { expires_at: null }),
    await make(brief.api, { expires_at: inMs(3000) }),
  ];
  const sooner = await make(brief.api, { expires_at: inMs(1000) });
  const grandchild = await make(children[0]?.api ?? api);
  for (const key of [...children, grandchild]) expect(key.expires_at).toBe(inMs(3000));
  expect(children.map((key) => key.created_by_key_id)).toEqual([brief.id, brief.id, brief.id]);

  clock.advance(1000);
  expect(await statusOf(sooner)).toBe(401);
  expect(await statusOf(grandchild)).toBe(200);
  clock.advance(2000);
  for (const key of [brief, ...children, grandchild]) expect(await statusOf(key)).toBe(401);
  expect((await make(api)).expires_at).toBeNull();
});

test("revoking a key revokes what came of it at once, with an audit entry for each", async () => {
  const root = await make(api);
  const child = await make(root.api);
  const grandchild = await make(child.api, {}, ["keys:read"]);
  const other = await make(api);
  expect((await api.call("DELETE", `/api/keys/${root.id}`)).status).toBe(204);
  for (const key of [root, child, grandchild]) expect(await statusOf(key)).toBe(401);
  expect(await statusOf(other)).toBe(200);
  expect(await listIds()).toEqual([other.id, ownId]);
  const trail = (await api.call("GET", "/api/audit")).json.data.filter(({ action }) => action === "key.revoke");
  expect(trail.map(({ target_id }) => target_id).sort()).toEqual([root.id, child.id, grandchild.id].sort());
  expectProblem(await api.call("DELETE", `/api/keys/${child.id}`), 404, "not_found");
});

test("a rotation creates the new key and gives the old one its end in one call, and the old one shows it", async () => {
  const old = await make(api, { name: "servers" });
  const child = await make(old.api);
  const next = await make(api, { name: "servers", replaces: old.id.toUpperCase(), grace_seconds: 3600 });
  const listed = (await api.call("GET", "/api/keys")).json.data;
  expect(listed.map(({ id }) => id)).toEqual([next.id, child.id, old.id, ownId]);
  expect(listed[2]).toMatchObject({
    replaced_by_key_id: next.id,
    replaced_at: inMs(0),
    expires_at: inMs(3_600_000),
  });
  expect(listed[1]).toMatchObject({ replaced_at: null, expires_at: inMs(3_600_000) });
  clock.advance(3_599_999);
  expect([await statusOf(old), await statusOf(child), await statusOf(next)]).toEqual([200, 200, 200]);
  clock.advance(1);
  expect([await statusOf(old), await statusOf(child), await statusOf(next)]).toEqual([401, 401, 200]);
});

test("a key replaces itself, works on for its grace, and then has ended for good, while the new one goes on", async () => {
  const old = await make(api, { expires_at: inMs(90_000_000) });
  const child = await make(old.api);
  const rotate = (headers = {}) =>
    old.api.call("POST", "/api/keys", body({ replaces: old.id, grace_seconds: 3600 }), headers);
  const [first, second] = [await rotate({ "idempotency-key": "own" }), await rotate({ "idempotency-key": "own" })];
  const next: Made = { ...(first.json as unknown as Made), api: apiClient(server.url, first.json.key) };
  expect([second.status, second.json]).toEqual([201, { ...first.json, key: undefined } as never]);
  // No more time than the old one had.
  expect(next).toMatchObject({ created_by_key_id: old.id, expires_at: inMs(90_000_000) });
  const listed = (await next.api.call("GET", "/api/keys")).json.data;
  expect(listed.find(({ id }) => id === old.id)).toMatchObject({
    replaced_by_key_id: next.id,
    expires_at: inMs(3_600_000),
  });
  expectInvalid(await old.api.call("POST", "/api/keys", body({ expires_at: inMs(3_600_001) })), ["expires_at"]);

  expect([await statusOf(old), await statusOf(child), await statusOf(next)]).toEqual([200, 200, 200]);
  clock.advance(3_600_000);
  expect([await statusOf(old), await statusOf(child), await statusOf(next)]).toEqual([401, 401, 200]);
  const trail = (await api.call("GET", "/api/audit")).json.data.filter(({ target_id }) => target_id === old.id);
  expect(trail[0]).toMatchObject({ action: "key.replace", details: { replaced_by: next.id } });
});

test("a new key ends its predecessor early, and whoever else does so ends both", async () => {
  for (const [isOwn, left] of [
    [true, [401, 200]],
    [false, [401, 401]],
  ] as const) {
    const old = await make(api);
    const next = await make(old.api, { replaces: old.id, grace_seconds: 3600 });
    expect((await (isOwn ? next.api : api).call("DELETE", `/api/keys/${old.id}`)).status).toBe(204);
    expect([await statusOf(old), await statusOf(next)]).toEqual([...left]);
  }
});

test("a rotation without grace revokes the old key", async () => {
  const old = await make(api);
  const next = await make(api, { replaces: old.id, grace_seconds: 0 });
  expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
  expect(await listIds()).toEqual([next.id, ownId]);
});

test("a rotation that is refused changes nothing", async () => {
  const limited = await make(api, {}, ["keys:write", "keys:read"]);
  const old = await make(api);
  const wide = await limited.api.call("POST", "/api/keys", body({ replaces: old.id, grace_seconds: 0 }));
  expectProblem(wide, 403, "insufficient_scope");
  const unable = await make(api, {}, ["keys:read"]);
  const itself = body({ replaces: unable.id, grace_seconds: 60 }, ["keys:read"]);
  expectProblem(await unable.api.call("POST", "/api/keys", itself), 403, "insufficient_scope");
  const longer = body({ replaces: limited.id, grace_seconds: 60 }, ["usage:read"]);
  expectProblem(await limited.api.call("POST", "/api/keys", longer), 403, "insufficient_scope");

  const stranger = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const foreign = apiClient(server.url, (await server.createKey(stranger)).key);
  expectInvalid(await foreign.call("POST", "/api/keys", body({ replaces: old.id, grace_seconds: 0 })), ["replaces"]);

  expect(await listIds()).toEqual([unable.id, old.id, limited.id, ownId]);
  expect(await statusOf(old)).toBe(200);
  const { data } = (await api.call("GET", "/api/keys")).json;
  for (const shown of data) expect(shown).toMatchObject({ expires_at: null, replaced_at: null });
});

test("a repeated rotation request creates nothing again", async () => {
  const old = await make(api);
  const send = () =>
    api.call("POST", "/api/keys", body({ replaces: old.id, grace_seconds: 0 }), { "idempotency-key": "rotate" });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.json).toEqual({ ...first.json, key: undefined } as never);
  expect(second.text).not.toContain(first.json.key);
  expect(await listIds()).toEqual([first.json.id, ownId]);
});
