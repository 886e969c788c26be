/** The audit trail: who changed what, when, from where, and never what was said or which secret. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { createManualClock } from "../support/manual-clock.ts";

const clock = createManualClock(Date.parse("2031-03-10T12:00:00Z"));
let server: TestServer;
let client: ApiClient;
let keyId: string;

beforeAll(async () => {
  server = await startTestServer({ clock, environment: { COMPANIOND_TRUST_PROXY: "1" } });
  const made = await server.createKey(await server.createAccount());
  keyId = made.id;
  client = apiClient(server.url, made.key);
});
afterAll(() => server.close());

const from = { "x-forwarded-for": "198.51.100.77" };

test("each change leaves an entry with key, place and request, and no secret", async () => {
  const created = await client.call("POST", "/api/companions", { name: "Ada", system_prompt: "Secret plan" }, from);
  const path = `/api/companions/${created.json.id}`;
  await client.call("PATCH", path, { system_prompt: "Secret prompt", metadata: { a: "Secret value" } }, from);
  const token = await client.call("POST", `${path}/embed-tokens`, { name: "shop" }, from);
  await client.call("DELETE", `${path}/embed-tokens/${token.json.id}`, undefined, from);
  const key = await client.call("POST", "/api/keys", { name: "billing", scopes: ["usage:read"] }, from);
  await client.call("DELETE", `/api/keys/${key.json.id}`, undefined, from);
  const deleted = await client.call("DELETE", path, undefined, from);

  const response = await client.call("GET", "/api/audit?limit=7");
  const actor = { kind: "key", id: keyId, ip: "198.51.100.0/24" };
  expect(response.json.data).toMatchObject([
    {
      action: "companion.delete",
      target_id: created.json.id,
      target_name: "Ada",
      actor: { ...actor, request_id: deleted.headers.get("x-request-id") ?? "" },
    },
    { action: "key.revoke", target_id: key.json.id, target_name: "billing", actor },
    { action: "key.create", target_id: key.json.id, actor },
    { action: "embed_token.revoke", target_id: token.json.id, target_name: "shop", actor },
    { action: "embed_token.create", target_id: token.json.id, actor, details: { companion_id: created.json.id } },
    { action: "companion.update", target_id: created.json.id, details: { changed: ["system_prompt", "metadata"] } },
    { action: "companion.create", target_id: created.json.id, actor },
  ]);
  for (const secret of ["Secret", key.json.key, created.json.embed_token, token.json.token]) {
    expect(response.text).not.toContain(secret);
  }
});

test("a change that failed leaves none", async () => {
  const before = (await client.call("GET", "/api/audit")).json.data.length;
  expectInvalid(await client.call("POST", "/api/companions", { name: "" }), ["name"]);
  expectProblem(await client.call("DELETE", "/api/keys/nonsense"), 404, "not_found");
  expect((await client.call("GET", "/api/audit")).json.data).toHaveLength(before);
});

test("lists by time, both ends included, in pages", async () => {
  clock.advance(86_400_000);
  const { id } = (await client.call("POST", "/api/companions", { name: "Grace" })).json;
  const only = await client.call("GET", "/api/audit?from=2031-03-11&to=2031-03-11");
  expect(only.json).toMatchObject({
    data: [{ target_id: id, created_at: "2031-03-11T12:00:00.000Z" }],
    next_cursor: null,
  });
  const instant = "2031-03-11T12:00:00Z";
  expect((await client.call("GET", `/api/audit?from=${instant}&to=${instant}`)).json.data).toHaveLength(1);
  expect((await client.call("GET", "/api/audit?from=2031-03-01&to=2031-03-09")).json.data).toEqual([]);

  const first = (await client.call("GET", "/api/audit?limit=1")).json;
  const second = (await client.call("GET", `/api/audit?limit=1&cursor=${first.next_cursor}`)).json;
  expect(first.data).toMatchObject([{ target_id: id }]);
  expect(second.data).toMatchObject([{ action: "companion.delete" }]);
});

test("lists actions and callers, and hides the path of a webhook", async () => {
  const webhook = { url: "https://hooks.example/services/secret", events: ["*"], enabled: false };
  await client.call("POST", "/api/webhooks", webhook);
  const list = async (query: string) => (await client.call("GET", `/api/audit?${query}`)).json.data;
  const [made, ...others] = await list("action=webhook");
  expect(others).toEqual([]);
  expect(made).toMatchObject({ action: "webhook.create", target_name: "hooks.example", actor: { id: keyId } });
  const deleted = await list(`action=companion.delete&actor=${keyId}`);
  expect(deleted).toMatchObject([{ action: "companion.delete", target_name: "Ada" }]);
  expect(await list("actor=operator")).toEqual([]);
});

test("shows an account its own entries alone, and needs its scope", async () => {
  const account = await server.createAccount();
  const stranger = apiClient(server.url, (await server.createKey(account)).key);
  expect(JSON.stringify((await stranger.call("GET", "/api/audit")).json)).not.toContain("companion.");
  const { key } = await server.createKey(account, ["keys:read"]);
  expectProblem(await apiClient(server.url, key).call("GET", "/api/audit"), 403, "insufficient_scope");
});

test.each([
  ["?from=x&to=y&colour=red", ["from", "to", "colour"]],
  ["?action=Key", ["action"]],
  ["?actor=someone", ["actor"]],
  ["?cursor=Zm9v", ["cursor"]],
])("refuses %s", async (query, params) => {
  expectInvalid(await client.call("GET", `/api/audit${query}`), params);
});
