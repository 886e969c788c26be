/** What operators do with the voice agents of accounts, and that nobody else does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type Dashboard, openDashboard } from "../support/dashboard.ts";

let server: TestServer;
let operator: Dashboard;
let owner: Dashboard;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  operator = await openDashboard(server, { role: "operator" });
  owner = await openDashboard(server, { email: "owner@shop.example" });
  path = `/api/accounts/${owner.account.id}/voice-agents`;
});
afterAll(() => server.close());

test("grants, lists and revokes, and the account's own audit trail shows it", async () => {
  const made = await operator.call("POST", path, { agent_id: "agent_1/a?b" });
  expect(made.status).toBe(201);
  expect(made.json).toEqual({ agent_id: "agent_1/a?b", companions: 0, created_at: expect.any(String) } as never);
  const body = { name: "Ada", voice_agent_id: "agent_1/a?b" };
  expect((await owner.call("POST", "/api/companions", body)).status).toBe(201);
  const listed = await operator.call("GET", path);
  expect(listed.json).toEqual({ data: [{ ...made.json, companions: 1 }], next_cursor: null } as never);

  const grant = `${path}/${encodeURIComponent("agent_1/a?b")}`;
  expect((await operator.call("DELETE", grant)).status).toBe(204);
  expectProblem(await operator.call("DELETE", grant), 404, "not_found");
  expect((await operator.call("GET", path)).json.data).toEqual([]);
  const trail = (await owner.call("GET", "/api/audit")).json.data;
  expect(trail.filter(({ action }) => String(action).startsWith("voice_agent"))).toMatchObject([
    { action: "voice_agent.revoke", target_id: "agent_1/a?b", details: { companions: 1 } },
    { action: "voice_agent.grant", target_id: "agent_1/a?b" },
  ]);
});

test("grants no name that leads elsewhere in a path, where taking it back would delete the account", async () => {
  for (const agent_id of [".", ".."]) expectInvalid(await operator.call("POST", path, { agent_id }), ["agent_id"]);
  expect((await operator.call("POST", path, { agent_id: "..." })).status).toBe(201);
  expect((await operator.call("DELETE", `${path}/...`)).status).toBe(204);
});

test("refuses what is no agent, one that is granted already, and what is no account", async () => {
  for (const agent_id of ["", " ", "two words", "x".repeat(201), 5, null, undefined]) {
    expectInvalid(await operator.call("POST", path, { agent_id }), ["agent_id"]);
  }
  expectInvalid(await operator.call("POST", path, { agent_id: "agent_2", name: "x" }), ["name"]);
  expect((await operator.call("POST", path, { agent_id: "agent_2" })).status).toBe(201);
  expectInvalid(await operator.call("POST", path, { agent_id: "agent_2" }), ["agent_id"]);
  for (const id of ["x", crypto.randomUUID()]) {
    const missing = `/api/accounts/${id}/voice-agents`;
    expectProblem(await operator.call("GET", missing), 404, "not_found");
    expectProblem(await operator.call("POST", missing, { agent_id: "agent_2" }), 404, "not_found");
    expectProblem(await operator.call("DELETE", `${missing}/agent_2`), 404, "not_found");
  }
  expectInvalid(await operator.call("GET", `${path}?limit=5`), ["limit"]);
});

test("a grant that is sent again is answered again, and made once", async () => {
  const send = () => operator.call("POST", path, { agent_id: "agent_3" }, { "idempotency-key": "once" });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.json).toEqual(first.json);
});

test("is an operator's alone, in the dashboard", async () => {
  const { key } = await server.createKey(operator.account);
  for (const client of [owner, apiClient(server.url, key)]) {
    expectProblem(await client.call("GET", path), 403, "insufficient_scope");
    expectProblem(await client.call("POST", path, { agent_id: "agent_4" }), 403, "insufficient_scope");
    expectProblem(await client.call("DELETE", `${path}/agent_2`), 403, "insufficient_scope");
  }
  expectProblem(await apiClient(server.url, null).call("GET", path), 401, "unauthorized");
});
