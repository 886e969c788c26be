/** What operators do with accounts, and that nobody else does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type Dashboard, openDashboard } from "../support/dashboard.ts";

let server: TestServer;
let operator: Dashboard;

beforeAll(async () => {
  server = await startTestServer();
  operator = await openDashboard(server, { role: "operator" });
});
afterAll(() => server.close());

test("adds an account, reads it, and finds it in the list", async () => {
  const made = await operator.call("POST", "/api/accounts", { email: "New@Shop.example", plan: "paid" });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ email: "new@shop.example", plan: "paid", role: "owner", suspended_at: null });
  expect((await operator.call("GET", `/api/accounts/${made.json.id}`)).json).toEqual(made.json);
  expect((await operator.call("GET", "/api/accounts?q=SHOP.ex")).json).toMatchObject({
    data: [made.json],
    next_cursor: null,
  });
});

test("refuses what is no account, with every field at fault", async () => {
  const send = (body: unknown) => operator.call("POST", "/api/accounts", body);
  expectInvalid(await send({ email: "none", plan: "gold", role: 1, password: "x" }), [
    "email",
    "plan",
    "role",
    "password",
  ]);
  expectInvalid(await send({}), ["email"]);
  const taken = await server.createAccount();
  expectInvalid(await send({ email: taken.email.toUpperCase() }), ["email"]);
  expectInvalid(await operator.call("GET", "/api/accounts?limit=0&colour=red"), ["limit", "colour"]);
});

test("looks at a change only where there is an account to apply it to", async () => {
  for (const id of ["x", "%ff", crypto.randomUUID()]) {
    for (const body of [undefined, {}, { plan: "gold" }]) {
      expectProblem(await operator.call("PATCH", `/api/accounts/${id}`, body), 404, "not_found");
    }
  }
});

test("lists all in pages, newest first", async () => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const page = (await operator.call("GET", `/api/accounts?limit=2${cursor}`)).json;
    expect(page.data.length).toBeLessThanOrEqual(2);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  const all = (await server.services.store.accounts.list()).map(({ id }) => id);
  expect(seen).toEqual(all.toSorted().toReversed());
});

test("a plan holds from the next request on", async () => {
  const account = await server.createAccount();
  const response = await operator.call("PATCH", `/api/accounts/${account.id}`, { plan: "paid" });
  expect(response.json).toMatchObject({ id: account.id, plan: "paid", role: "owner" });
});

test("suspends and resumes: keys and embed tokens are refused meanwhile", async () => {
  const companion = await server.createCompanion();
  const account = { id: companion.accountId };
  const { key } = await server.createKey({ ...operator.account, ...account });
  const statuses = async () => {
    const byKey = await fetch(`${server.url}/api/companions`, { headers: { authorization: `Bearer ${key}` } });
    const byToken = await fetch(`${server.url}/api/embed/${companion.embedToken}`);
    return [byKey.status, byToken.status];
  };
  const path = `/api/accounts/${account.id}`;
  expect(await statuses()).toEqual([200, 200]);
  const suspended = await operator.call("PATCH", path, { suspended: true });
  expect(suspended.json.suspended_at).toBeString();
  expect(await statuses()).toEqual([401, 404]);
  const again = await operator.call("PATCH", path, { suspended: true });
  expect(again.json.suspended_at).toBe(suspended.json.suspended_at);
  expect((await operator.call("PATCH", path, { suspended: false })).json.suspended_at).toBeNull();
  expect(await statuses()).toEqual([200, 200]);
});

test("a patch is all or nothing, and passes over what is read-only", async () => {
  const account = await server.createAccount();
  const path = `/api/accounts/${account.id}`;
  expectInvalid(await operator.call("PATCH", path, { plan: "paid", role: "king" }), ["role"]);
  const read = (await operator.call("GET", path)).json;
  expect(read.plan).toBe("free");
  expect((await operator.call("PATCH", path, { ...read, email: "other@example.com", role: "operator" })).json).toEqual({
    ...read,
    role: "operator",
  });
});

test("an operator cannot shut itself out", async () => {
  const path = `/api/accounts/${operator.account.id}`;
  expectInvalid(await operator.call("PATCH", path, { suspended: true, role: "owner" }), ["role", "suspended"]);
  expectInvalid(await operator.call("DELETE", path), ["id"]);
  expect((await operator.call("PATCH", path, { suspended: false, role: "operator" })).status).toBe(200);
});

test("deletes an account with all that opens it", async () => {
  const companion = await server.createCompanion();
  const path = `/api/accounts/${companion.accountId}`;
  expect((await operator.call("DELETE", path)).status).toBe(204);
  expectProblem(await operator.call("GET", path), 404, "not_found");
  expectProblem(await operator.call("DELETE", path), 404, "not_found");
  expect((await fetch(`${server.url}/api/embed/${companion.embedToken}`)).status).toBe(404);
});

test("makes a link with which the owner chooses a password", async () => {
  const account = await server.createAccount();
  const link = (await operator.call("POST", `/api/accounts/${account.id}/reset-link`)).json;
  expect(String(link.url)).toStartWith(`${server.url}/app/reset#`);
  const secret = String(link.url).split("#")[1];
  const body = JSON.stringify({ secret, password: "chosen by the owner" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}/api/session/password-reset`, { method: "POST", body, headers });
  expect(response.status).toBe(201);
});

test("a retry with the same Idempotency-Key makes one account", async () => {
  const send = (email: string) =>
    operator.call("POST", "/api/accounts", { email }, { "idempotency-key": "account-retry" });
  const first = await send("retry@example.com");
  const second = await send("retry@example.com");
  expect(second.json).toEqual(first.json);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expectProblem(await send("another@example.com"), 422, "idempotency_mismatch");
});

test.each([
  ["GET", "/api/accounts"],
  ["POST", "/api/accounts"],
  ["GET", "/api/accounts/{id}"],
  ["PATCH", "/api/accounts/{id}"],
  ["DELETE", "/api/accounts/{id}"],
  ["POST", "/api/accounts/{id}/reset-link"],
])("%s %s is an operator's alone, and says so before it looks at anything else", async (method, path) => {
  const owner = await openDashboard(server);
  const target = path.replace("{id}", operator.account.id);
  expectProblem(await owner.call(method, target, method === "GET" ? undefined : "{"), 403, "insufficient_scope");
  const anyone = await fetch(`${server.url}${target}`, { method });
  expect(anyone.status).toBe(401);
});

test.each(["nonsense", "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10", "%00", "a'b"])("%p is nobody's id", async (id) => {
  expectProblem(await operator.call("GET", `/api/accounts/${id}`), 404, "not_found");
  expectProblem(await operator.call("PATCH", `/api/accounts/${id}`, { plan: "paid" }), 404, "not_found");
  expectProblem(await operator.call("DELETE", `/api/accounts/${id}`), 404, "not_found");
  expectProblem(await operator.call("POST", `/api/accounts/${id}/reset-link`), 404, "not_found");
});
