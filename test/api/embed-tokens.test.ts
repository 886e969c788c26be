import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let api: ApiClient;
let path: string;
let companionId: string;
let firstToken: string;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  api = apiClient(server.url, (await server.createKey(account)).key);
  const made = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  companionId = made.id;
  firstToken = made.embed_token;
  path = `/api/companions/${made.id}/embed-tokens`;
});

const open = (token: string) => apiClient(server.url, null).call("GET", `/api/embed/${token}`);
const shownToken = async () => (await api.call("GET", `/api/companions/${companionId}`)).json.embed_token;

test("a POST without a body and content type makes one", async () => {
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers: await headers() });
  expect(response.status).toBe(201);
  expect(await response.json()).toEqual({
    id: expect.any(String),
    token: expect.stringMatching(/^emb_[0-9A-Za-z]{32}$/),
    name: null,
    created_at: expect.any(String),
    last_used_at: null,
  });
});

test("a token may have a name; each opens the companion; they are listed newest first", async () => {
  const made = await api.call("POST", path, { name: "Landing page" });
  expect(made.json).toMatchObject({ name: "Landing page" });
  const third = await api.call("POST", path, { name: null, id: "ignored", token: "ignored" });
  const listed = await api.call("GET", path);
  expect(listed.json.next_cursor).toBeNull();
  expect(listed.json.data.map((one) => one.token)).toEqual([third.json.token, made.json.token, firstToken]);
  for (const token of [made.json.token, third.json.token, firstToken]) expect((await open(token)).status).toBe(200);
  const first = (await api.call("GET", `${path}?limit=2`)).json;
  expect(first.data).toHaveLength(2);
  const rest = (await api.call("GET", `${path}?limit=2&cursor=${first.next_cursor}`)).json;
  expect(rest.data.map((one) => one.token)).toEqual([firstToken]);
  expect(rest.next_cursor).toBeNull();
});

test("a revoked one is 404 at the next request; the oldest that is left is shown as the companion's", async () => {
  const second = (await api.call("POST", path)).json;
  const [, first] = (await api.call("GET", path)).json.data;
  expect(await shownToken()).toBe(firstToken);
  expect((await api.call("DELETE", `${path}/${first?.id}`)).status).toBe(204);
  expectProblem(await open(firstToken), 404, "not_found");
  expect((await open(second.token)).status).toBe(200);
  expect(await shownToken()).toBe(second.token);
  expectProblem(await api.call("DELETE", `${path}/${first?.id}`), 404, "not_found");
  expect((await api.call("DELETE", `${path}/${second.id}`)).status).toBe(204);
  expect(await shownToken()).toBeNull();
  expect((await api.call("GET", path)).json.data).toEqual([]);
});

test("a token is revoked only under its own companion", async () => {
  const other = (await api.call("POST", "/api/companions", { name: "Bob" })).json;
  const [token] = (await api.call("GET", path)).json.data;
  expectProblem(await api.call("DELETE", `/api/companions/${other.id}/embed-tokens/${token?.id}`), 404, "not_found");
  expect((await open(firstToken)).status).toBe(200);
});

test("shows when a token was last used", async () => {
  const before = Date.now();
  await open(firstToken);
  await server.services.uses.flush();
  const [token] = (await api.call("GET", path)).json.data;
  expect(Date.parse(String(token?.last_used_at))).toBeGreaterThanOrEqual(before);
});

test("refuses bad names, unknown fields and other types", async () => {
  for (const name of ["", "  ", "x".repeat(101)]) expectInvalid(await api.call("POST", path, { name }), ["name"]);
  expectInvalid(await api.call("POST", path, { name: 1, label: "x" }), ["label", "name"]);
  expectProblem(await api.call("POST", path, "[]"), 400, "invalid_request");
  expectProblem(await api.call("POST", path, "x", { "content-type": "text/plain" }), 415, "unsupported_media_type");
  expectProblem(await api.call("POST", path, "null"), 400, "invalid_request");
  expectProblem(await api.call("POST", path.replace(/[0-9a-f]{12}(?=\/)/, "000000000000"), "x"), 404, "not_found");
  expect((await api.call("GET", path)).json.data).toHaveLength(1);
});

async function headers(): Promise<Record<string, string>> {
  const companion = await server.services.store.companions.findByEmbedToken(firstToken);
  const account = await server.services.store.accounts.findById(companion?.companion.accountId ?? "");
  if (account === null) throw new Error("the companion has no account");
  return { authorization: `Bearer ${(await server.createKey(account)).key}` };
}
