/** How accounts manage the tools of their companions, and read what was called. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account, Scope } from "../../src/domain/account.ts";
import { maxTools, sealedAs } from "../../src/domain/tool.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";
import { newCall } from "../support/stored-tool.ts";

let server: TestServer;
let account: Account;
let companion: { id: string };
let api: ApiClient;
let path: string;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_PRIVATE_TARGETS: "tools.internal" } });
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  companion = await server.createCompanion({}, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  path = `/api/companions/${companion.id}/tools`;
});

const url = "https://shop.example/orders";
const name = "find_order";
const parameters = { type: "object", properties: { z: { type: "string" }, a: { type: "number" } }, required: ["z"] };
const create = (fields: object = {}) => api.call("POST", path, { name, url, ...fields });
const clientWith = async (...scopes: Scope[]) => apiClient(server.url, (await server.createKey(account, scopes)).key);

/** Of one tool: the path, and the tool without its secret. */
async function made(fields: object = {}) {
  const created = await create(fields);
  expect(created.status).toBe(201);
  const { secret, ...tool } = created.json;
  return { at: `${path}/${tool.id}`, tool, secret: String(secret), etag: created.headers.get("etag") ?? "" };
}

test("adds a tool, shows its secret this once, and stores it sealed with its headers", async () => {
  const sent = {
    ...{ name, title: "Find an order", description: "Finds it.", parameters, url },
    ...{ headers: { Authorization: "Bearer hidden-value", "X-Shop": "7" } },
    ...{ timeout_ms: 5000, confirm: true, requires_visitor: true },
  };
  const once = { "idempotency-key": "one" };
  const first = await api.call("POST", path, sent, once);
  expect(first.status).toBe(201);
  const { headers: _, ...shown } = sent;
  expect(first.json).toEqual<unknown>({
    ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), companion_id: companion.id, ...shown },
    ...{ mcp_url: null, tools: null, header_names: ["Authorization", "X-Shop"] },
    ...{ created_at: expect.stringMatching(/Z$/), updated_at: first.json["created_at"] },
    secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/),
  });
  expect(Object.keys((first.json["parameters"] as typeof parameters).properties)).toEqual(["z", "a"]);
  const { secret, ...tool } = first.json;
  const read = await api.call("GET", `${path}/${tool.id}`);
  expect(read.json).toEqual(tool);
  expect(read.headers.get("etag")).toBe(first.headers.get("etag"));
  expect((await api.call("GET", path)).json).toEqual<unknown>({ data: [tool], next_cursor: null });
  const replay = await api.call("POST", path, sent, once);
  expect({ status: replay.status, json: replay.json }).toEqual<unknown>({ status: 201, json: tool });
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  const stored = await readStoredBytes(server.dataDir);
  expect(stored.includes(String(secret).slice(6))).toBe(false);
  expect(stored.includes("hidden-value")).toBe(false);

  const found = await server.services.store.tools.find(account.id, companion.id, tool.id);
  const { sealing } = server.services;
  expect(await sealing.open(sealedAs.secret(tool.id), found?.sealedSecret ?? "")).toBe(String(secret));
  const sealed = await sealing.open(sealedAs.headers(tool.id), found?.sealedHeaders ?? "");
  expect(JSON.parse(sealed)).toEqual(sent.headers);
});

test("gives a tool what is not set, and an MCP server nothing that it says itself", async () => {
  const { tool } = await made();
  expect(tool).toMatchObject({
    ...{ title: name, description: "", parameters: { type: "object", properties: {} }, header_names: [] },
    ...{ timeout_ms: 10_000, confirm: false, requires_visitor: false },
  });
  const mcp = await create({ name: "shop", url: null, mcp_url: "https://mcp.example/", tools: ["search", "Book.it"] });
  expect(mcp.json).toMatchObject({
    ...{ title: "shop", description: null, parameters: null, url: null, mcp_url: "https://mcp.example/" },
    ...{ tools: ["search", "Book.it"], confirm: false, requires_visitor: false },
  });
});

describe("refuses, field by field,", () => {
  const long = "x".repeat(9000);
  const deep = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`);
  const cases: [object, string[]][] = [
    [{ name: "Find Order" }, ["name"]],
    [{ name: "" }, ["name"]],
    [{ name: "x".repeat(65) }, ["name"]],
    [{ name: "ask_for_a_person" }, ["name"]],
    [
      { name: 7, title: "", description: long, timeout_ms: 99, confirm: "yes" },
      [...["name", "title", "description", "timeout_ms", "confirm"]],
    ],
    [{ timeout_ms: 20_001 }, ["timeout_ms"]],
    [{ url: null }, ["url"]],
    [{ mcp_url: "https://mcp.example/" }, ["url"]],
    [{ url: "http://shop.example/" }, ["url"]],
    [{ url: "https://user:password@shop.example/" }, ["url"]],
    [{ url: "https://127.0.0.1/" }, ["url"]],
    [{ url: "ftp://shop.example/" }, ["url"]],
    [{ url: "no url" }, ["url"]],
    [{ url: `https://shop.example/${long}` }, ["url"]],
    [{ tools: ["a"] }, ["tools"]],
    [{ parameters: [] }, ["parameters"]],
    [{ parameters: {} }, ["parameters"]],
    [{ parameters: { type: "string" } }, ["parameters"]],
    [{ parameters: { type: "object", description: long } }, ["parameters"]],
    [{ parameters: { type: "object", ...deep } }, ["parameters"]],
    [{ parameters: { type: "object", description: "a\0b" } }, ["parameters"]],
    [{ parameters: { type: "object", required: "z" } }, ["parameters"]],
    [{ parameters: { type: "object", properties: { a: { $ref: "https://example.com/a" } } } }, ["parameters"]],
    [{ parameters: { type: "object", properties: { a: { pattern: "(?=a)" } } } }, ["parameters"]],
    [
      {
        url: null,
        mcp_url: "https://mcp.example/",
        description: "It",
        parameters,
        requires_visitor: true,
      },
      [...["description", "parameters", "requires_visitor"]],
    ],
    [{ url: null, mcp_url: "https://mcp.example/", tools: [] }, ["tools"]],
    [{ url: null, mcp_url: "https://mcp.example/", tools: ["a", "a"] }, ["tools"]],
    [{ headers: { "X-A": "b\r\nX-C: d" } }, ["headers.X-A"]],
    [{ headers: { "X-A": 7 } }, ["headers.X-A"]],
    [{ headers: { "X-A": "żółty" } }, ["headers.X-A"]],
    [{ headers: { "X A": "b" } }, ["headers"]],
    [
      { headers: { Host: "a", "Content-Length": "1", "webhook-ID": "2", "Mcp-Name": "c", Accept: "d" } },
      [...["headers.Host", "headers.Content-Length", "headers.webhook-ID", "headers.Mcp-Name", "headers.Accept"]],
    ],
    [{ headers: { "x-a": "1", "X-A": "2" } }, ["headers.X-A"]],
    [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, ""])) }, ["headers"]],
    [{ headers: { "x-a": "a".repeat(5000), "x-b": "b".repeat(5000) } }, ["headers"]],
    [{ secret: "whsec_mine" }, ["secret"]],
    [{ unknown: 1, url: "ftp://x", name: "Upper", headers: { Host: "a" } }, ["name", "unknown", "url", "headers.Host"]],
  ];
  const named = cases.map(([fields, params], at) => [at + 1, params.join(", "), fields, params] as const);
  test.each(named)("%i: %s", async (_, __, fields, params) => {
    const refused = await create(fields);
    expectInvalid(refused, params);
    expect((await api.call("GET", path)).json.data).toEqual([]);
  });

  test("what is deeper than anything that calls itself for each level could go", async () => {
    const deep = `${"[".repeat(150_000)}${"]".repeat(150_000)}`;
    const bodyWith = (fields: string) => `{"name":"${name}","url":"${url}",${fields}}`;
    expectInvalid(await api.call("POST", path, bodyWith(`"headers":{"a":${deep}}`)), ["headers.a"]);
    const inParameters = bodyWith(`"parameters":{"type":"object","a":${deep}}`);
    expectInvalid(await api.call("POST", path, inParameters), ["parameters"]);
    expectInvalid(await api.call("POST", path, bodyWith(`"tools":${deep}`)), ["tools.0"]);
    expectInvalid(await api.call("POST", path, bodyWith(`"more":${deep}`)), ["more"]);
  });

  test("what is no object, and a value in the place of a header's name, which is not repeated", async () => {
    for (const body of ["[]", "null", "7", '"x"']) {
      expectProblem(await api.call("POST", path, body), 400, "invalid_request");
    }
    const refused = await create({ headers: { "Bearer secret value": "Authorization", "X-B": "secret\nvalue" } });
    expectInvalid(refused, ["headers", "headers.X-B"]);
    expect(refused.text).not.toContain("secret");
  });
});

test("takes http where the operator lists the host", async () => {
  expect((await create({ url: "http://tools.internal:8080/find" })).status).toBe(201);
});

test("takes one of each name, and thirty-two in all", async () => {
  await made();
  expectProblem(await create(), 409, "conflict");
  for (let at = 1; at < maxTools; at++) await made({ name: `tool_${at}` });
  expectProblem(await create({ name: "one_more" }), 409, "conflict");
  const [last] = (await api.call("GET", `${path}?limit=1`)).json.data;
  expectProblem(await api.call("PATCH", `${path}/${last?.id}`, { name }), 409, "conflict");
  const { data, next_cursor: cursor } = (await api.call("GET", `${path}?limit=20&order=asc`)).json;
  const rest = await api.call("GET", `${path}?order=asc&limit=20&cursor=${cursor}`);
  expect([...data, ...rest.json.data].map((tool) => tool["name"])).toEqual([
    name,
    ...Array.from({ length: maxTools - 1 }, (_, at) => `tool_${at + 1}`),
  ]);
  expect(rest.json.next_cursor).toBeNull();
});

describe("changes", () => {
  test("what is sent, and nothing where nothing is new", async () => {
    const { at, tool, etag } = await made({ description: "Old", parameters, headers: { "X-A": "1" } });
    const unchanged = await api.call("PATCH", at, tool);
    expect(unchanged.json).toEqual(tool);
    expect(unchanged.headers.get("etag")).toBe(etag);
    const change = { title: "New", url: "https://new.example/", timeout_ms: 100, confirm: true };
    const changed = await api.call("PATCH", at, change);
    expect(changed.json).toEqual<unknown>({ ...tool, ...change, updated_at: expect.any(String) });
    expect(changed.json["updated_at"]).not.toBe(tool["updated_at"]);
    expect(changed.headers.get("etag")).not.toBe(etag);
    expect((await api.call("GET", at)).json).toEqual(changed.json);
  });

  test("back to what a new tool has, by null", async () => {
    const fields = { title: "T", description: "D", parameters, headers: { a: "1" }, timeout_ms: 500, confirm: true };
    const { at, tool } = await made({ ...fields, requires_visitor: true });
    const nulls = Object.fromEntries([...Object.keys(fields), "requires_visitor"].map((field) => [field, null]));
    expect((await api.call("PATCH", at, nulls)).json).toEqual<unknown>({
      ...{ ...tool, title: name, description: "", parameters: { type: "object", properties: {} }, header_names: [] },
      ...{ timeout_ms: 10_000, confirm: false, requires_visitor: false, updated_at: expect.any(String) },
    });
    const found = await server.services.store.tools.find(account.id, companion.id, tool.id);
    expect(found?.sealedHeaders).toBeNull();
  });

  test("headers as a whole", async () => {
    const { at, tool } = await made({ headers: { "X-A": "1", "X-B": "2" } });
    const changed = await api.call("PATCH", at, { headers: { "X-C": "3" } });
    expect(changed.json["header_names"]).toEqual(["X-C"]);
    const found = await server.services.store.tools.find(account.id, companion.id, tool.id);
    const sealed = await server.services.sealing.open(sealedAs.headers(tool.id), found?.sealedHeaders ?? "");
    expect(JSON.parse(sealed)).toEqual({ "X-C": "3" });
  });

  test("what an MCP server offers, and never into a URL or back", async () => {
    const { at } = await made({ name: "shop", url: null, mcp_url: "https://mcp.example/" });
    const changed = await api.call("PATCH", at, { mcp_url: "https://mcp.example/2", tools: ["a"] });
    expect(changed.json).toMatchObject({ mcp_url: "https://mcp.example/2", tools: ["a"] });
    expect((await api.call("PATCH", at, { tools: null })).json["tools"]).toBeNull();
    expectInvalid(await api.call("PATCH", at, { mcp_url: null, url }), ["url"]);
    expectInvalid(await api.call("PATCH", at, { mcp_url: null }), ["mcp_url"]);
    expectInvalid(await api.call("PATCH", at, { description: "It", requires_visitor: true }), [
      "description",
      "requires_visitor",
    ]);
    const http = await made();
    expectInvalid(await api.call("PATCH", http.at, { mcp_url: "https://mcp.example/" }), ["mcp_url"]);
    expectInvalid(await api.call("PATCH", http.at, { url: null }), ["url"]);
    expectInvalid(await api.call("PATCH", http.at, { tools: ["a"], name: null }), ["name", "tools"]);
  });

  test("and deletions, as they were read alone", async () => {
    const { at, etag } = await made();
    const changed = await api.call("PATCH", at, { title: "First" }, { "if-match": etag });
    expect(changed.status).toBe(200);
    expectProblem(await api.call("PATCH", at, { title: "Late" }, { "if-match": etag }), 412, "precondition_failed");
    expectProblem(await api.call("DELETE", at, undefined, { "if-match": etag }), 412, "precondition_failed");
    const version = changed.headers.get("etag") ?? "";
    expect((await api.call("DELETE", at, undefined, { "if-match": version })).status).toBe(204);
    expectProblem(await api.call("GET", at), 404, "not_found");
    expectProblem(await api.call("DELETE", at), 404, "not_found");
  });

  test("of two fields at the same time both count", async () => {
    const { at } = await made();
    const fields = [{ url: "https://new.example/" }, { description: "New" }, { parameters }];
    await Promise.all(fields.map((change) => api.call("PATCH", at, change)));
    expect((await api.call("GET", at)).json).toMatchObject(Object.assign({}, ...fields));
  });
});

test("says where a schema is wrong", async () => {
  const broken = { type: "object", properties: { a: { type: "text" } } };
  const refused = await create({ parameters: broken });
  expect(refused.json).toMatchObject({
    errors: [{ detail: expect.stringContaining("At #/properties/a/type: must be") }],
  });
});

test("gives a tool another secret, and shows it this once", async () => {
  const { at, tool, secret, etag } = await made();
  const rotated = await api.call("POST", `${at}/rotate-secret`);
  expect(rotated.status).toBe(200);
  const { secret: next, ...shown } = rotated.json;
  expect(next).toMatch(/^whsec_/);
  expect(next).not.toBe(secret);
  expect(shown).toEqual<unknown>({ ...tool, updated_at: expect.any(String) });
  expect(rotated.headers.get("etag")).not.toBe(etag);
  expect((await api.call("GET", at)).json).toEqual(shown);
  const found = await server.services.store.tools.find(account.id, companion.id, tool.id);
  expect(await server.services.sealing.open(sealedAs.secret(tool.id), found?.sealedSecret ?? "")).toBe(String(next));
});

test("needs the scope of companions, and for calls that of conversations", async () => {
  const { at } = await made();
  const reader = await clientWith("companions:read");
  expect((await reader.call("GET", path)).status).toBe(200);
  expect((await reader.call("GET", at)).status).toBe(200);
  for (const [method, where] of [
    ["POST", path],
    ["PATCH", at],
    ["DELETE", at],
    ["POST", `${at}/rotate-secret`],
    ["GET", `${at}/calls`],
  ] as const) {
    expectProblem(await reader.call(method, where, method === "GET" ? undefined : {}), 403, "insufficient_scope");
  }
  const listener = await clientWith("conversations:read");
  expect((await listener.call("GET", `${at}/calls`)).status).toBe(200);
  expectProblem(await listener.call("GET", at), 403, "insufficient_scope");
});

test("is not found by another account, under another companion, or by an id that is none", async () => {
  const { tool, at } = await made();
  const stranger = apiClient(
    server.url,
    (await server.createKey(await server.createAccount({ email: `${crypto.randomUUID()}@example.com` }))).key,
  );
  const neighbour = await server.createCompanion({}, account);
  const cases: [ApiClient, string][] = [
    [stranger, path],
    [api, `/api/companions/${neighbour.id}/tools`],
    [api, `/api/companions/${crypto.randomUUID()}/tools`],
    [api, "/api/companions/nothing/tools"],
  ];
  for (const [client, under] of cases) {
    const of = `${under}/${tool.id}`;
    expectProblem(await client.call("GET", of), 404, "not_found");
    expectProblem(await client.call("PATCH", of, { title: "Stolen" }), 404, "not_found");
    expectProblem(await client.call("DELETE", of), 404, "not_found");
    expectProblem(await client.call("POST", `${of}/rotate-secret`), 404, "not_found");
    expectProblem(await client.call("GET", `${of}/calls`), 404, "not_found");
  }
  expectProblem(await stranger.call("GET", path), 404, "not_found");
  expectProblem(await stranger.call("POST", path, { name, url }), 404, "not_found");
  expectProblem(await api.call("GET", `${path}/nothing`), 404, "not_found");
  expect((await api.call("GET", at)).json).toEqual(tool);
});

test("is in the audit log, without secrets", async () => {
  const { at, tool } = await made({ headers: { "X-A": "hidden-value" } });
  await api.call("PATCH", at, { headers: { "X-A": "other-value" }, title: "New" });
  await api.call("POST", `${at}/rotate-secret`);
  await api.call("DELETE", at);
  const log = await api.call("GET", "/api/audit?limit=4");
  expect(log.json.data).toMatchObject([
    { action: "tool.delete", target_id: tool.id },
    { action: "tool.update", details: { changed: ["secret"] } },
    { action: "tool.update", details: { changed: ["title", "headers"] } },
    { action: "tool.create", details: { name } },
  ]);
  expect(log.text).not.toMatch(/-value|whsec_|v1\./);
});

describe("what was called", () => {
  /** A stored turn whose reply called the tool; returns the conversation's id. */
  async function call(tool: { id: string }, fields: { arguments?: string; result?: string | null } = {}) {
    const { store } = server.services;
    const conversationId = await keepTurn(server, (await store.companions.find(account.id, companion.id)) as never);
    const found = await store.conversations.find(account.id, conversationId);
    const reply = found?.messages.find(({ role }) => role === "assistant");
    const { result = '{"state":"sent"}', ...sent } = fields;
    const begun = newCall({ id: tool.id, name }, reply?.createdAt ?? 0, sent);
    const { companionId, sessionId, visitorId } = found?.conversation ?? expect.unreachable();
    const key = { companionId, sessionId, visitorId };
    await store.toolCalls.begin({ key, replyId: reply?.id ?? "", messageId: null }, [begun]);
    if (result !== null) await store.toolCalls.finish(begun.id, { state: "done", result, durationMs: 12 });
    return { conversationId, callId: begun.id, replyId: reply?.id };
  }

  test("is in the transcript under its reply, arguments as an object, and among the tool's last calls", async () => {
    const { tool, at } = await made();
    const first = await call(tool, { arguments: '{"z":"471100","a":1.50}' });
    const second = await call(tool, { arguments: "no object", result: null });
    const transcript = (await api.call("GET", `/api/conversations/${first.conversationId}`)).json;
    const shown = {
      ...{ call_id: first.callId, tool: name, arguments: { z: "471100", a: 1.5 }, result: '{"state":"sent"}' },
      ...{ state: "done", created_at: expect.stringMatching(/Z$/) },
    };
    const [question, reply] = transcript["messages"] as [object, { id: string }];
    expect(question).not.toHaveProperty("tool_calls");
    expect(reply).toMatchObject({ id: first.replyId, tool_calls: [shown] });
    const { data } = (await api.call("GET", `${at}/calls`)).json;
    expect(data).toEqual<unknown>([
      {
        ...{ call_id: second.callId, tool: name, arguments: null, result: null, state: "running" },
        ...{ duration_ms: null, conversation_id: second.conversationId, created_at: expect.any(String) },
      },
      { ...shown, duration_ms: 12, conversation_id: first.conversationId },
    ]);
    const page = (await api.call("GET", `${at}/calls?limit=1`)).json;
    expect(page.data).toMatchObject([{ call_id: second.callId }]);
    const rest = (await api.call("GET", `${at}/calls?limit=1&cursor=${page.next_cursor}`)).json;
    expect(rest.data).toMatchObject([{ call_id: first.callId }]);

    await api.call("DELETE", at);
    const after = (await api.call("GET", `/api/conversations/${first.conversationId}`)).json;
    expect(after["messages"]).toEqual(transcript["messages"]);
  });

  test("shortens a page where it is much, and all of it is on the pages", async () => {
    const { tool } = await made();
    const sessionId = crypto.randomUUID();
    const key = { companionId: companion.id, sessionId, visitorId: null };
    const { store, clock } = server.services;
    const startMs = clock.nowMs() - 60_000;
    let conversationId = "";
    for (let at = 0; at < 12; at++) {
      const id = await keepTurn(server, companion as never, { sessionId, atMs: startMs + at * 1000 });
      conversationId ||= id;
    }
    const found = await store.conversations.find(account.id, conversationId);
    const replies = found?.messages.filter(({ role }) => role === "assistant") ?? [];
    expect(replies).toHaveLength(12);
    // Of the newest reply more than fits a page, of the others a third of that.
    for (const [at, { id: replyId, createdAt }] of replies.entries()) {
      const size = at === 11 ? 2_200_000 : 700_000;
      const sent = { arguments: JSON.stringify({ at, filler: "x".repeat(size) }) };
      const calls = [newCall({ id: tool.id, name }, createdAt, sent)];
      await store.toolCalls.begin({ key, replyId, messageId: null }, calls);
    }
    const pages: number[] = [];
    const seen: unknown[] = [];
    for (let cursor: unknown = ""; cursor !== null; ) {
      const after = cursor === "" ? "" : `?messages_cursor=${cursor}`;
      const { json } = await api.call("GET", `/api/conversations/${conversationId}${after}`);
      const shown = json["messages"] as { role: string; tool_calls?: { arguments: { at: number } }[] }[];
      pages.unshift(shown.length);
      seen.unshift(...shown.flatMap(({ tool_calls: calls = [] }) => calls.map((one) => one.arguments.at)));
      cursor = json["messages_next_cursor"];
    }
    expect(seen).toEqual(replies.map((_, at) => at));
    expect(pages.reduce((sum, count) => sum + count)).toBe(24);
    expect(Math.max(...pages)).toBeLessThanOrEqual(5);
    const last = await api.call("GET", `${path}/${tool.id}/calls?limit=100`);
    expect(last.text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(last.json.data.length).toBeGreaterThan(5);
    expect(last.json.next_cursor).not.toBeNull();
  });

  test("goes with its conversation", async () => {
    const { tool, at } = await made();
    const { conversationId } = await call(tool);
    await api.call("DELETE", `/api/conversations/${conversationId}`);
    expect((await api.call("GET", `${at}/calls`)).json.data).toEqual([]);
  });

  test("is asked for only where the companion ever had a tool", async () => {
    const { store } = server.services;
    let asked = 0;
    const { listOfReplies } = store.toolCalls;
    store.toolCalls.listOfReplies = (ids) => {
      asked++;
      return listOfReplies(ids);
    };
    try {
      const conversationId = await keepTurn(server, companion as never);
      const transcript = (await api.call("GET", `/api/conversations/${conversationId}`)).json;
      expect((transcript["messages"] as object[])[1]).not.toHaveProperty("tool_calls");
      expect(asked).toBe(0);
      await made();
      await api.call("GET", `/api/conversations/${conversationId}`);
      expect(asked).toBe(1);
    } finally {
      store.toolCalls.listOfReplies = listOfReplies;
    }
  });
});
