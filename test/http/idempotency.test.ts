import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let server: TestServer;
let api: ApiClient;
const clock = createManualClock();
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());
beforeEach(async () => {
  const { key } = await server.createKey(await server.createAccount({ email: `${crypto.randomUUID()}@example.com` }));
  api = apiClient(server.url, key);
});

const create = (body: unknown, key: string, by = api) =>
  by.call("POST", "/api/companions", body, { "idempotency-key": key });
const countCompanions = async (by = api) => (await by.call("GET", "/api/companions?limit=100")).json.data.length;

test("the same key and body get the same response and create nothing again", async () => {
  const first = await create({ name: "Ada" }, "order-1");
  const second = await create({ name: "Ada" }, "order-1");
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.text).toBe(first.text);
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(await countCompanions()).toBe(1);
});

test("what was created reads as in the response that created it", async () => {
  const operator = await openDashboard(server, { role: "operator", email: `${crypto.randomUUID()}@example.com` });
  const account = (await operator.call("POST", "/api/accounts", { email: `${crypto.randomUUID()}@shop.example` })).json;
  expect((await operator.call("GET", `/api/accounts/${account.id}`)).json).toEqual(account);

  const body = {
    name: "Ada",
    metadata: { plan: "pro" },
    theme_color: "#AABBCC",
    allowed_origins: ["https://a.example/"],
  };
  const companion = (await api.call("POST", "/api/companions", body)).json;
  expect((await api.call("GET", `/api/companions/${companion.id}`)).json).toEqual(companion);
  const tokens = `/api/companions/${companion.id}/embed-tokens`;
  const token = (await api.call("POST", tokens, { name: "home" })).json;
  expect((await api.call("GET", tokens)).json.data).toContainEqual(token);
  const { key: _, ...key } = (await api.call("POST", "/api/keys", { name: "ci", scopes: ["usage:read"] })).json;
  expect((await api.call("GET", "/api/keys")).json.data).toContainEqual(key as never);

  const agents = `/api/accounts/${operator.account.id}/voice-agents`;
  const agent_id = `agent_${crypto.randomUUID()}`;
  // Operators' companions may name an agent before it is granted.
  const user = await operator.call("POST", "/api/companions", { name: "Bob", voice_agent_id: agent_id });
  expect(user.status).toBe(201);
  const grant = (await operator.call("POST", agents, { agent_id })).json;
  expect(grant["companions"]).toBe(1);
  expect((await operator.call("GET", agents)).json.data).toContainEqual(grant);
});

test("another body under the same key is 422", async () => {
  await create({ name: "Ada" }, "order-1");
  expectProblem(await create({ name: "Bob" }, "order-1"), 422, "idempotency_mismatch");
  expect(await countCompanions()).toBe(1);
});

test("two identical requests at once make one; the one that finds it running is 409", async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => create({ name: "Ada" }, "order-1")));
  for (const response of responses) expect([201, 409]).toContain(response.status);
  expect(await countCompanions()).toBe(1);
});

test("while the first still runs, the same key is 409 and any other goes on", async () => {
  const { companions } = server.services.store;
  const { create: original } = companions;
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  Object.assign(companions, {
    create: async (...call: Parameters<typeof original>) => {
      entered.resolve();
      await gate.promise;
      return original.apply(companions, call);
    },
  });
  try {
    const first = create({ name: "Ada" }, "order-1");
    await entered.promise;
    const refused = expectProblem(await create({ name: "Ada" }, "order-1"), 409, "conflict");
    expect(refused.headers.get("retry-after")).toBe("1");
    const other = create({ name: "Ada" }, "order-2");
    gate.resolve();
    expect([(await first).status, (await other).status]).toEqual([201, 201]);
    expect((await create({ name: "Ada" }, "order-1")).headers.get("idempotent-replayed")).toBe("true");
  } finally {
    gate.resolve();
    Object.assign(companions, { create: original });
  }
});

test("a call that failed frees its key", async () => {
  expectInvalid(await create({ name: "" }, "order-1"), ["name"]);
  expect((await create({ name: "Ada" }, "order-1")).status).toBe(201);
});

test("keys are separate by account, path and method's target", async () => {
  const { key } = await server.createKey(await server.createAccount({ email: `${crypto.randomUUID()}@example.com` }));
  const stranger = apiClient(server.url, key);
  const mine = await create({ name: "Ada" }, "order-1");
  const theirs = await create({ name: "Ada" }, "order-1", stranger);
  expect(theirs.headers.get("idempotent-replayed")).toBeNull();
  expect(theirs.json.id).not.toBe(mine.json.id);
  const path = `/api/companions/${mine.json.id}/embed-tokens`;
  const token = await api.call("POST", path, undefined, { "idempotency-key": "order-1" });
  expect(token.status).toBe(201);
  expect(token.headers.get("idempotent-replayed")).toBeNull();
  const again = await api.call("POST", `${path}/`, undefined, { "idempotency-key": "order-1" });
  expect(again.text).toBe(token.text);
  expect((await api.call("GET", path)).json.data).toHaveLength(2);
});

test("the replay of a key creation comes without the key", async () => {
  const body = { name: "ci", scopes: ["companions:read"] };
  const send = () => api.call("POST", "/api/keys", body, { "idempotency-key": "key-1" });
  const first = await send();
  const { key, ...shown } = first.json;
  expect(key).toStartWith("cmp_live_");
  const second = await send();
  expect(second.status).toBe(201);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.json).toEqual<unknown>(shown);
});

test("a replay passes authentication and scope first", async () => {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const writer = apiClient(server.url, (await server.createKey(account)).key);
  const reader = apiClient(server.url, (await server.createKey(account, ["companions:read"])).key);
  expect((await create({ name: "Ada" }, "order-1", writer)).status).toBe(201);
  expectProblem(await create({ name: "Ada" }, "order-1", reader), 403, "insufficient_scope");
  expectProblem(await create({ name: "Ada" }, "order-1", apiClient(server.url, null)), 401, "unauthorized");
});

test("a response is stored for 24 hours", async () => {
  const first = await create({ name: "Ada" }, "order-1");
  clock.step(24 * 3_600_000 - 1000);
  expect((await create({ name: "Ada" }, "order-1")).json.id).toBe(first.json.id);
  clock.step(2000);
  const anew = await create({ name: "Ada" }, "order-1");
  expect(anew.status).toBe(201);
  expect(anew.json.id).not.toBe(first.json.id);
  expect(anew.headers.get("idempotent-replayed")).toBeNull();
  expect((await create({ name: "Ada" }, "order-1")).json.id).toBe(anew.json.id);
});

describe("a malformed key is 400", () => {
  test.each(["x".repeat(256), "tab\there", "caf\u00e9", ""])("%j", async (key) => {
    expectInvalid(await create({ name: "Ada" }, key), ["Idempotency-Key"]);
    expect(await countCompanions()).toBe(0);
  });

  test("while one of 255 characters is taken", async () => {
    expect((await create({ name: "Ada" }, "~".repeat(255))).status).toBe(201);
  });
});

test("responses are replayed after a restart", async () => {
  using dir = temporaryDirectory();
  const before = await startTestServer({ dataDir: dir.path });
  const account = await before.createAccount();
  const { key } = await before.createKey(account);
  const first = await create({ name: "Ada" }, "order-1", apiClient(before.url, key));
  await before.close();
  const after = await startTestServer({ dataDir: dir.path });
  try {
    const client = apiClient(after.url, key);
    const second = await create({ name: "Ada" }, "order-1", client);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await countCompanions(client)).toBe(1);
  } finally {
    await after.close();
  }
});
