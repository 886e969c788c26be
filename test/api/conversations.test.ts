/** Conversations: filtered, paged, read, deleted, erased, and only ever the own ones. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, type ApiResponse, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { chunk, doneMark } from "../support/mock-llm-replies.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

let server: TestServer;
let companion: TestCompanion;
let other: TestCompanion;
let client: ApiClient;
let strangerClient: ApiClient;

const visitorId = "0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11";
const ids: Record<"first" | "second" | "third", string> = { first: "", second: "", third: "" };

beforeAll(async () => {
  server = await startTestServer();
  const account = await server.createAccount();
  companion = await server.createCompanion({ name: "Ada" }, account);
  other = await server.createCompanion({ name: "Grace" }, account);
  client = apiClient(server.url, (await server.createKey(account)).key);
  const stranger = await server.createCompanion();
  strangerClient = apiClient(server.url, (await server.createKey({ ...account, id: stranger.accountId })).key);
  const at = (text: string) => Date.parse(text);
  ids.first = await keepTurn(server, companion, {
    visitorId,
    message: "Émile's 50% off_er",
    atMs: at("2026-01-31T23:59:59.999Z"),
  });
  ids.second = await keepTurn(server, companion, { reply: "We open at NINE", atMs: at("2026-02-01T00:00:00Z") });
  ids.third = await keepTurn(server, other, { visitorId, atMs: at("2026-02-02T12:00:00Z") });
  await keepTurn(server, stranger, { visitorId, message: "nine" });
});
afterAll(() => server.close());

async function list(query: string): Promise<string[]> {
  const response = await client.call("GET", `/api/conversations${query}`);
  expect(response.status).toBe(200);
  return response.json.data.map(({ id }) => id);
}

test("a conversation is read with its newest messages, and older ones a page at a time", async () => {
  const long = await server.createCompanion();
  const reader = apiClient(
    server.url,
    (await server.createKey({ ...(await server.createAccount()), id: long.accountId })).key,
  );
  const sessionId = crypto.randomUUID();
  for (let at = 0; at < 60; at++) {
    await keepTurn(server, long, {
      sessionId,
      message: `q${at}`,
      reply: `a${at}`,
      atMs: Date.parse("2026-03-01") + at,
    });
  }
  const { data } = (await reader.call("GET", "/api/conversations")).json;
  const path = `/api/conversations/${data[0]?.id}`;
  const texts = ({ json }: ApiResponse) => (json.messages as { text: string }[]).map(({ text }) => text);
  const all = Array.from({ length: 60 }, (_, at) => [`q${at}`, `a${at}`]).flat();
  const newest = await reader.call("GET", path);
  expect(texts(newest)).toEqual(all.slice(-100));
  const older = await reader.call("GET", `${path}?messages_cursor=${newest.json.messages_next_cursor}`);
  expect(texts(older)).toEqual(all.slice(0, 20));
  expect(older.json.messages_next_cursor).toBeNull();
  expect(texts(await reader.call("GET", `${path}?messages_limit=200`))).toEqual(all);
  expect(texts(await reader.call("GET", `${path}?messages_limit=1`))).toEqual(["a59"]);
  for (const wrong of ["0", "201", "x", "1.5"]) {
    expectInvalid(await reader.call("GET", `${path}?messages_limit=${wrong}`), ["messages_limit"]);
  }
  for (const wrong of ["x", "MS4y", `${newest.json.messages_next_cursor}x`]) {
    expectInvalid(await reader.call("GET", `${path}?messages_cursor=${wrong}`), ["messages_cursor"]);
  }
});

describe("lists", () => {
  test("the account's own, newest first", async () => {
    expect(await list("")).toEqual([ids.third, ids.second, ids.first]);
  });

  test.each([
    ["?companion_id={companion}", ["second", "first"]],
    ["?companion_id={COMPANION}", ["second", "first"]],
    [`?visitor_id=${visitorId.toUpperCase()}`, ["third", "first"]],
    [`?companion_id={companion}&visitor_id=${visitorId}`, ["first"]],
    ["?from=2026-02-01", ["third", "second"]],
    ["?to=2026-01-31", ["first"]],
    ["?from=2026-01-31&to=2026-02-01", ["second", "first"]],
    ["?from=2026-01-31T23:59:59.999Z&to=2026-02-01T00:00:00Z", ["second", "first"]],
    ["?from=2026-02-01T01:00:00%2B01:00&to=2026-02-01", ["second"]],
    ["?from=2026-02-01T01:00:00+01:00&to=2026-02-01", ["second"]],
    ["?q=open%20at%20nine", ["second"]],
    ["?q=50%25%20off_", ["first"]],
    ["?q=%25", ["first"]],
    ["?q=nothing%20of%20the%20kind", []],
    ["?q=", ["third", "second", "first"]],
  ] as const)("by %s", async (query, expected) => {
    const filled = query.replace("{companion}", companion.id).replace("{COMPANION}", companion.id.toUpperCase());
    expect(await list(filled)).toEqual(expected.map((name) => ids[name]));
  });

  test("with their first and last words, where they are asked for, and with what matches a search", async () => {
    const { data } = (
      await client.call("GET", "/api/conversations?include=excerpts&q=nine&verified=false&failed=false")
    ).json;
    expect(data).toMatchObject([
      {
        ...{ id: ids.second, unanswered: false, failed: false, channels: ["text"] },
        last_message: { role: "assistant", text: "We open at NINE" },
        matches: [{ role: "assistant", before: "We open at ", match: "NINE", after: "" }],
      },
    ]);
    expect((await client.call("GET", "/api/conversations")).json.data[0]).not.toHaveProperty("first_message");
    const wrong = "?include=all&unanswered=1&failed=no&verified=&channel=fax";
    const names = ["include", "unanswered", "failed", "verified", "channel"];
    expectInvalid(await client.call("GET", `/api/conversations${wrong}`), names);
  });

  test("to clients that delete each page before the next, in whatever order the first replies ended", async () => {
    const account = await server.createAccount();
    const busy = await server.createCompanion({}, account);
    const { call } = apiClient(server.url, (await server.createKey(account)).key);
    await chat(server.url, busy.embedToken, { message: "oldest" });
    const releases = new Map<string, () => void>();
    server.mockLlm.respond(async (request, response) => {
      await new Promise<void>((resolve) => releases.set(request.userText, resolve));
      await response.write(chunk({ content: "yes", finishReason: "stop" }) + doneMark);
      response.end();
    });
    const responses: Promise<unknown>[] = [];
    for (const message of ["middle", "newest"]) {
      responses.push(chat(server.url, busy.embedToken, { message }));
      await eventually(() => releases.has(message));
    }
    for (const message of ["newest", "middle"]) {
      releases.get(message)?.();
      await responses.pop();
    }
    server.mockLlm.respond(null);
    const seen: string[] = [];
    for (let path = "/api/conversations?limit=1"; ; ) {
      const { data, next_cursor } = (await call("GET", path)).json;
      for (const { id } of data) {
        const { messages } = (await call("GET", `/api/conversations/${id}`)).json as unknown as {
          messages: { text: string }[];
        };
        seen.push(messages[0]?.text ?? "");
        await call("DELETE", `/api/conversations/${id}`);
      }
      if (next_cursor === null) break;
      path = `/api/conversations?limit=1&cursor=${next_cursor}`;
    }
    expect(seen).toEqual(["newest", "middle", "oldest"]);
  });

  test("in pages that hold on while conversations are added", async () => {
    const first = await client.call("GET", "/api/conversations?limit=2");
    expect(first.json.data.map(({ id }) => id)).toEqual([ids.third, ids.second]);
    const added = await keepTurn(server, other);
    const rest = await client.call("GET", `/api/conversations?limit=2&cursor=${first.json.next_cursor}`);
    expect(rest.json).toMatchObject({ data: [{ id: ids.first }], next_cursor: null });
    expect((await client.call("DELETE", `/api/conversations/${added}`)).status).toBe(204);
  });

  test("a companion's, at its own address", async () => {
    const response = await client.call("GET", `/api/companions/${companion.id}/conversations?from=2026-02-01`);
    expect(response.json.data.map(({ id }) => id)).toEqual([ids.second]);
    const path = (id: string) => `/api/companions/${id}/conversations`;
    expectProblem(await strangerClient.call("GET", path(companion.id)), 404, "not_found");
    expectProblem(await client.call("GET", path("nonsense")), 404, "not_found");
    expectInvalid(await client.call("GET", `${path(companion.id)}?companion_id=${other.id}`), ["companion_id"]);
  });

  test.each([
    ["?colour=red&limit=1001&cursor=x", ["colour", "limit", "cursor"]],
    ["?companion_id=1&visitor_id=2", ["companion_id", "visitor_id"]],
    ["?from=yesterday&to=2026-02-30", ["from", "to"]],
    ["?from=2026-1-1", ["from"]],
    ["?to=2026-01-01T25:00:00Z", ["to"]],
    ["?to=2026-01-01T12:00:00", ["to"]],
    ["?from=2026-02-02&to=2026-02-01", ["to"]],
    [`?q=${"x".repeat(201)}`, ["q"]],
    ["?q=%00", ["q"]],
    ["?q=a&q=b", ["q"]],
    ["?metadata.plan=pro", ["metadata.plan"]],
  ])("not by %s", async (query, params) => {
    expectInvalid(await client.call("GET", `/api/conversations${query}`), params);
  });
});

test("reads one with its messages, oldest first", async () => {
  const response = await client.call("GET", `/api/conversations/${ids.second}`);
  expect(response.json).toMatchObject({
    id: ids.second,
    companion_id: companion.id,
    visitor_id: null,
    message_count: 2,
    created_at: "2026-02-01T00:00:00.000Z",
    messages: [
      { role: "user", channel: "text", text: "Hello", complete: true, tokens_estimated: false },
      { role: "assistant", text: "We open at NINE", complete: true, input_tokens: 10, output_tokens: 5 },
    ],
  });
});

test("another account's is as absent as a missing one", async () => {
  const stranger = await strangerClient.call("GET", `/api/conversations/${ids.first}`);
  const absent = await client.call("GET", "/api/conversations/0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10");
  const { request_id: _first, ...strangersBody } = expectProblem(stranger, 404, "not_found").json;
  const { request_id: _second, ...absentBody } = expectProblem(absent, 404, "not_found").json;
  expect(JSON.stringify(strangersBody)).toBe(JSON.stringify(absentBody));
  expectProblem(await strangerClient.call("DELETE", `/api/conversations/${ids.first}`), 404, "not_found");
  expect((await strangerClient.call("GET", `/api/conversations?companion_id=${companion.id}`)).json.data).toEqual([]);
  const erase = await strangerClient.call("DELETE", `/api/companions/${companion.id}/visitors/${visitorId}`);
  expectProblem(erase, 404, "not_found");
  expect((await client.call("GET", `/api/conversations/${ids.first}`)).status).toBe(200);
});

test("deletes one, once, and says so in the audit trail", async () => {
  const id = await keepTurn(server, companion);
  expect((await client.call("DELETE", `/api/conversations/${id.toUpperCase()}`)).status).toBe(204);
  expectProblem(await client.call("GET", `/api/conversations/${id}`), 404, "not_found");
  expectProblem(await client.call("DELETE", `/api/conversations/${id}`), 404, "not_found");
  expect((await client.call("GET", "/api/audit?limit=1")).json).toMatchObject({
    data: [{ action: "conversation.delete", target_id: id, actor: { kind: "key" } }],
  });
});

test("erases a visitor from all that is stored, and leaves others alone", async () => {
  const secret = "The visitor's secret 8f1c2d";
  const visitor = "7d1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10";
  const isStored = async () => (await readStoredBytes(server.dataDir)).includes(secret);
  for (let turn = 0; turn < 3; turn++)
    await keepTurn(server, companion, { visitorId: visitor, message: `${secret} ${turn}` });
  const kept = await keepTurn(server, companion, { message: "somebody else's words" });
  expect(await isStored()).toBe(true);

  const path = `/api/companions/${companion.id}/visitors/${visitor.toUpperCase()}`;
  expect((await client.call("DELETE", path)).status).toBe(204);
  expect(await isStored()).toBe(false);
  expect(await list(`?visitor_id=${visitor}`)).toEqual([]);
  expect((await client.call("GET", `/api/conversations/${kept}`)).status).toBe(200);
  // Of whom nothing is kept there is nothing left to erase, which is what was asked for.
  expect((await client.call("DELETE", path)).status).toBe(204);
  const { call } = client;
  expect((await call("DELETE", `/api/companions/${companion.id}/visitors/nobody`)).status).toBe(204);
  for (const malformed of ["%00", "%ff", "x".repeat(256)]) {
    expectProblem(await call("DELETE", `/api/companions/${companion.id}/visitors/${malformed}`), 404, "not_found");
  }

  const { data } = (await client.call("GET", "/api/audit")).json;
  const entries = data.filter(({ action }) => action === "visitor.erase");
  expect(entries).toHaveLength(3);
  expect(JSON.stringify(entries)).not.toMatch(/7d1f5f0e|nobody/);
});

test.each([
  ["GET", "/api/conversations", "conversations:write"],
  ["GET", "/api/conversations/{id}", "conversations:write"],
  ["GET", "/api/companions/{id}/conversations", "conversations:write"],
  ["DELETE", "/api/conversations/{id}", "conversations:read"],
  ["DELETE", "/api/companions/{id}/visitors/{id}", "conversations:read"],
] as const)("%s %s needs its own scope, before it looks at anything else", async (method, path, scope) => {
  const account = await server.createAccount();
  const { key } = await server.createKey(account, [scope]);
  const target = path.replaceAll("{id}", "nonsense");
  expectProblem(await apiClient(server.url, key).call(method, `${target}?colour=red`), 403, "insufficient_scope");
  expectProblem(await apiClient(server.url, null).call(method, target), 401, "unauthorized");
});
