import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let owner: ApiClient;
let stranger: ApiClient;
const ids = { companion: "", token: "", key: "" };

beforeAll(async () => {
  server = await startTestServer();
  owner = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  stranger = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  const made = await owner.call("POST", "/api/companions", { name: "Ada", metadata: { plan: "pro" } });
  ids.companion = made.json.id;
  ids.token = (await owner.call("GET", `/api/companions/${ids.companion}/embed-tokens`)).json.data[0]?.id ?? "";
  ids.key = (await owner.call("GET", "/api/keys")).json.data[0]?.id ?? "";
});
afterAll(() => server.close());

const routes: [string, string, unknown][] = [
  ["GET", "/api/companions/:companion", undefined],
  ["PATCH", "/api/companions/:companion", { name: "Mine" }],
  ["DELETE", "/api/companions/:companion", undefined],
  ["GET", "/api/companions/:companion/embed-tokens", undefined],
  ["POST", "/api/companions/:companion/embed-tokens", {}],
  ["DELETE", "/api/companions/:companion/embed-tokens/:token", undefined],
  ["POST", "/api/companions/:companion/test-chat", { message: "hello" }],
  ["DELETE", "/api/keys/:key", undefined],
];

test.each(routes)("%s %s of another account answers as if there were nothing", async (method, route, body) => {
  const path = route.replace(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name]);
  const missing = route.replace(/:\w+/g, "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10");
  const theirs = expectProblem(await stranger.call(method, path, body), 404, "not_found");
  const none = expectProblem(await stranger.call(method, missing, body), 404, "not_found");
  expect({ ...theirs.json, request_id: "" }).toEqual({ ...none.json, request_id: "" });
});

test("lists show only the account's own items, whatever the query", async () => {
  for (const query of ["", "?metadata.plan=pro", "?q=Ada", `?q=${ids.companion}`]) {
    expect((await stranger.call("GET", `/api/companions${query}`)).json.data).toEqual([]);
    expect((await owner.call("GET", `/api/companions${query}`)).json.data).toHaveLength(1);
  }
  const keys = (await stranger.call("GET", "/api/keys")).json.data.map((one) => one.id);
  expect(keys).toHaveLength(1);
  expect(keys).not.toContain(ids.key);
});

test("a cursor of another account's list opens nothing of it", async () => {
  await owner.call("POST", "/api/companions", { name: "Bob" });
  const { next_cursor } = (await owner.call("GET", "/api/companions?limit=1")).json;
  expect((await stranger.call("GET", `/api/companions?cursor=${next_cursor}`)).json.data).toEqual([]);
});

test("nothing of the owner's has changed", async () => {
  const companion = await owner.call("GET", `/api/companions/${ids.companion}`);
  expect(companion.json).toMatchObject({ name: "Ada" });
  expect((await owner.call("GET", `/api/companions/${ids.companion}/embed-tokens`)).json.data).toHaveLength(1);
  expect((await owner.call("GET", "/api/keys")).json.data).toHaveLength(1);
});
