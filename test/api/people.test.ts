/** What the team does with conversations, by sessions and by API keys. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { type HandoffSettings, handoffDefaults } from "../../src/domain/handoff.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { openMemberDashboard, withCookie } from "../support/dashboard.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { storeSession } from "../support/stored-session.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const handoff: HandoffSettings = {
  ...handoffDefaults,
  ...{ mode: "any", when: "always", hours: null, waitingText: null, personText: null, unavailableText: null },
};
const grace = { id: "7", name: "Grace" };
const bo = { name: "Bo" };
const verifiedId = "sub:customer-42";

let server: TestServer;
let account: Account;
let companion: TestCompanion;
let key: { id: string; key: string };
let api: ApiClient;
let owner: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount();
  companion = await server.createCompanion({ name: "Ada", handoff }, account);
  key = await server.createKey(account);
  api = apiClient(server.url, key.key);
  owner = withCookie(server.url, (await storeSession(server.services.store, account.id)).cookie);
});
afterAll(() => server.close());

let sessionId: string;
let id: string;
beforeEach(async () => {
  sessionId = crypto.randomUUID();
  await say("Hello");
  id = (await api.call("GET", "/api/conversations?limit=1")).json.data[0]?.id ?? "";
});

async function say(message: string, to = companion) {
  const sent = await chat(server.url, to.embedToken, { message, session_id: sessionId });
  expect(sent.status).toBe(200);
  return sent;
}

const post = (what: string, body: object = {}, by = api) => by.call("POST", `/api/conversations/${id}/${what}`, body);
const read = async (by = api) => (await by.call("GET", `/api/conversations/${id}`)).json;
const write = (text: string, more: object = {}, by = api) =>
  post("messages", { text, client_id: crypto.randomUUID(), as: grace, ...more }, by);
const person = { id: expect.stringMatching(/:7$/), name: "Grace" };

describe("taking", () => {
  test("shows who has the conversation, to lists, to its reader and to colleagues, until it is released", async () => {
    expect(await read()).toMatchObject({ state: "companion", person: null, status: null, tags: [], unread: null });
    const taken = await post("take", { as: grace });
    expect(taken.status).toBe(200);
    expect(taken.json).toMatchObject({ state: "person", person, since: expect.any(String), until: expect.any(String) });
    const { data } = (await api.call("GET", "/api/conversations?state=person")).json;
    expect(data.find((row) => row.id === id)).toMatchObject({ state: "person", person });
    expect(await read()).toMatchObject({
      handoff: { state: "person", person, reach: "next_message", seen: 0, until: taken.json.until },
      notes: [],
    });

    expect((await post("take", { as: grace })).json).toEqual(taken.json);
    const refused = expectProblem(await post("take", { as: bo }), 409, "conflict");
    expect(refused.json).toMatchObject({ state: "person", person });
    expectProblem(await post("release", { as: bo }), 409, "conflict");
    expectProblem(await post("take", { as: bo, from: "someone-else" }), 409, "conflict");

    const holder = (taken.json.person as { id: string }).id;
    expect((await post("take", { as: bo, from: holder })).json).toMatchObject({ person: { name: "Bo" } });
    expect((await post("release", { as: bo })).status).toBe(204);
    expect(await read()).toMatchObject({ state: "companion", person: null });
    expect((await say("Again")).text).toBe("You said: Again");
  });

  test("is what a session does as its own member, whose name an account may lack", async () => {
    expect((await post("take", {}, owner)).json).toMatchObject({ person: { id: account.id, name: null } });
    expect((await owner.call("POST", `/api/conversations/${id}/release`)).status).toBe(204);
    expectInvalid(await post("take", { as: grace }, owner), ["as"]);
    expectInvalid(await post("take", {}), ["as"]);
    expectInvalid(await post("take", { as: { name: "" } }), ["as.name"]);
    expectInvalid(await post("take", { as: { name: " \u3000\t" } }), ["as.name"]);
    expectInvalid(await post("take", { as: { name: "x".repeat(61) } }), ["as.name"]);
  });

  test("is listed in the conversation's history, newest first", async () => {
    await post("take", { as: grace });
    await post("release", { as: grace });
    const path = `/api/conversations/${id}/events`;
    const { data } = (await api.call("GET", path)).json;
    expect(data).toMatchObject([
      { type: "released", at: expect.any(String), by: { type: "person", name: "Grace", key_id: key.id }, reason: null },
      { type: "taken", by: { type: "person", name: "Grace", member_id: null } },
    ]);
    const first = (await api.call("GET", `${path}?limit=1`)).json;
    const rest = (await api.call("GET", `${path}?limit=1&cursor=${first.next_cursor}`)).json;
    expect([...first.data, ...rest.data]).toEqual(data);
  });
});

describe("writing", () => {
  test("takes, and the visitor's next message reads it; the transcript names the author", async () => {
    const sent = await write("How can I help?");
    expect(sent.status).toBe(201);
    expect(sent.json).toEqual({ seq: 3 } as never);
    expect(await read()).toMatchObject({ state: "person", person, status: "answered" });
    expect((await say("My parcel")).text).toBe("How can I help?");
    const { messages } = (await read()) as unknown as { messages: Record<string, unknown>[] };
    expect(messages.map(({ text, author = null }) => [text, author])).toEqual([
      ["Hello", null],
      ["You said: Hello", null],
      ["How can I help?", { type: "person", name: "Grace", member_id: null, key_id: key.id }],
      ["My parcel", null],
    ]);
    expect(messages[2]).toMatchObject({ role: "assistant", model: null });
  });

  test("the same client_id is the same message, and with another text refused", async () => {
    const client_id = crypto.randomUUID();
    const first = await write("Once", { client_id });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const again = await write("Once", { client_id: client_id.toUpperCase() });
    expect(again.status).toBe(201);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expectProblem(await write("Twice", { client_id }), 409, "conflict");
    expect(await read()).toMatchObject({ message_count: 3 });
  });

  test("is refused where a colleague wrote beyond what was seen, who is quoted, and where one has it", async () => {
    const { seq } = (await write("First")).json as unknown as { seq: number };
    expect((await write("Second", { after: seq })).status).toBe(201);
    await post("take", { as: bo, from: ((await read()).person as { id: string }).id });
    const late = expectProblem(await write("Late", { as: bo, after: seq }), 409, "conflict");
    expect(late.json).toMatchObject({ messages: [{ text: "Second" }] });
    expectProblem(await write("Mine"), 409, "conflict");
    expect(await read()).toMatchObject({ message_count: 4 });
  });

  test("takes a text of 1 to 4000 characters, and a UUID", async () => {
    expectInvalid(await write(""), ["text"]);
    expectInvalid(await write("x".repeat(4001)), ["text"]);
    expectInvalid(await post("messages", { text: "x", client_id: "one", after: -1, as: grace }), [
      "client_id",
      "after",
    ]);
    expect((await write("🙂".repeat(4000))).status).toBe(201);
    expect((await post("typing", { typing: true, as: grace })).status).toBe(204);
  });
});

test("each person has their own unread messages, only where there is a status", async () => {
  const unreadOf = async (as: string) => (await api.call("GET", `/api/conversations/${id}?as=${as}`)).json["unread"];
  const list = async (query: string) =>
    (await api.call("GET", `/api/conversations?${query}`)).json.data.map((row) => row.id);
  expect(await unreadOf("7")).toBe(0);
  await write("Yes?");
  await say("My parcel");
  expect(await read()).toMatchObject({ status: "open", unread: null });
  expect(await unreadOf("7")).toBe(2);
  expect(await list("unread=true&as=7")).toContain(id);
  expect((await post("read", { seq: 4, as: grace })).status).toBe(204);
  expect((await post("read", { seq: 1, as: grace })).status).toBe(204);
  expect([await unreadOf("7"), await unreadOf("Bo")]).toEqual([0, 2]);
  expect(await list("unread=true&as=7")).not.toContain(id);
  expect((await read(owner)) as unknown).toMatchObject({ unread: 2 });
  expectInvalid(await api.call("GET", "/api/conversations?unread=true"), ["as"]);
  expectInvalid(await owner.call("GET", "/api/conversations?as=7"), ["as"]);
});

test("status, assignee and tags are set, folded, listed, and refused where they are none", async () => {
  const path = `/api/conversations/${id}`;
  const patch = (body: object) => api.call("PATCH", path, { as: grace, ...body });
  const changed = await patch({ status: "open", assignee: account.id, tags: ["Returns", "returns", "VIP"] });
  expect(changed.status).toBe(200);
  const shown = { status: "open", assignee: account.id, tags: ["returns", "vip"] };
  expect(changed.json).toMatchObject({ id, ...shown });
  for (const query of ["status=open", `assignee=${account.id}`, "tag=VIP"]) {
    const { data } = (await api.call("GET", `/api/conversations?${query}`)).json;
    expect(data.map((row) => row.id)).toContain(id);
  }
  for (const query of ["status=closed", `assignee=${crypto.randomUUID()}`, "tag=other", "state=waiting"]) {
    const { data } = (await api.call("GET", `/api/conversations?${query}`)).json;
    expect(data.map((row) => row.id)).not.toContain(id);
  }
  expectInvalid(await patch({ assignee: crypto.randomUUID() }), ["assignee"]);
  expectInvalid(await patch({ status: "lost" }), ["status"]);
  expectInvalid(await patch({ tags: Array.from({ length: 21 }, (_, at) => `t${at}`) }), ["tags"]);
  expectInvalid(await patch({ tags: ["x".repeat(41)] }), ["tags.0"]);
  for (const query of ["status=lost", "state=companion", "assignee=me", "unread=yes", "rating=1", "tag="]) {
    expectInvalid(await api.call("GET", `/api/conversations?${query}`), [query.split("=")[0] ?? ""]);
  }
  expect((await patch({ assignee: null, tags: [] })).json).toMatchObject({ status: "open", assignee: null, tags: [] });
  await post("take", { as: grace });
  expect((await patch({ status: "closed" })).json).toMatchObject({ state: "companion", status: "closed" });
  expect((await say("Still there?")).text).toBe("You said: Still there?");
});

test("notes are for the team alone: added once by an idempotency key, listed, deleted", async () => {
  const path = `/api/conversations/${id}/notes`;
  const once = { "idempotency-key": crypto.randomUUID() };
  const made = await api.call("POST", path, { text: "Wants a refund", as: grace }, once);
  expect(made.status).toBe(201);
  const author = { type: "person", name: "Grace", member_id: null, key_id: key.id };
  expect(made.json).toMatchObject({ text: "Wants a refund", author, created_at: expect.any(String) });
  const again = await api.call("POST", path, { text: "Wants a refund", as: grace }, once);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.json).toEqual(made.json);
  expect((await owner.call("POST", path, { text: "Done" })).json).toMatchObject({ author: { member_id: account.id } });
  expect((await read())["notes"]).toMatchObject([made.json, { text: "Done" }]);
  await say("What is in your notes?");
  expect(JSON.stringify(server.mockLlm.requests.at(-1))).not.toContain("refund");
  expectInvalid(await post("notes", { text: "x".repeat(4001), as: grace }), ["text"]);
  expect((await api.call("DELETE", `${path}/${made.json.id}`)).status).toBe(204);
  expectProblem(await api.call("DELETE", `${path}/${made.json.id}`), 404, "not_found");
  expect((await read())["notes"]).toMatchObject([{ text: "Done" }]);
});

const calls = (conversationId: string): [method: string, path: string, body?: object][] => {
  const path = `/api/conversations/${conversationId}`;
  return [
    ["POST", `${path}/take`, { as: grace }],
    ["POST", `${path}/release`, { as: grace }],
    ["POST", `${path}/messages`, { text: "Hi", client_id: crypto.randomUUID(), as: grace }],
    ["POST", `${path}/typing`, { typing: true, as: grace }],
    ["POST", `${path}/read`, { seq: 1, as: grace }],
    ["POST", `${path}/notes`, { text: "Hi", as: grace }],
    ["DELETE", `${path}/notes/${crypto.randomUUID()}`],
    ["PATCH", path, { status: "open", as: grace }],
    ["GET", `${path}/events`],
  ];
};

describe("is not for", () => {
  test("conversations of a companion without handoff, which show nothing of people", async () => {
    const plain = await server.createCompanion({ name: "Plain" }, account);
    await say("Hello", plain);
    const { data } = (await api.call("GET", `/api/companions/${plain.id}/conversations`)).json;
    const row = data[0] ?? expect.unreachable();
    for (const name of ["state", "person", "status", "assignee", "tags", "unread"])
      expect(row).not.toHaveProperty(name);
    const whole = (await api.call("GET", `/api/conversations/${row.id}`)).json;
    for (const name of ["state", "handoff", "notes"]) expect(whole).not.toHaveProperty(name);
    for (const call of calls(row.id)) {
      expect(expectProblem(await api.call(...call), 409, "conflict").json).toMatchObject({
        state: "companion",
        person: null,
      });
    }
  });

  test("other accounts, conversations that are not there, and keys without the scope", async () => {
    const stranger = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
    const reader = apiClient(server.url, (await server.createKey(account, ["conversations:read"])).key);
    for (const [method, path, body] of calls(id)) {
      expectProblem(await stranger.call(method, path, body), 404, "not_found");
      if (method !== "GET") expectProblem(await reader.call(method, path, body), 403, "insufficient_scope");
    }
    for (const call of calls(crypto.randomUUID())) expectProblem(await api.call(...call), 404, "not_found");
    expectProblem(await reader.call("PUT", "/api/presence", { for_seconds: 60, as: grace }), 403, "insufficient_scope");
  });

  test("members whose companions it is not of; a responder takes and writes in those that are", async () => {
    const other = await server.createCompanion({ name: "Other", handoff }, account);
    const memberOf = async (companionIds: string[]) => {
      const member = await openMemberDashboard(server, { account }, { name: "Mo", companionIds });
      return { id: member.member.id, call: member.call };
    };
    const mo = await memberOf([companion.id]);
    const foreign = await memberOf([other.id]);
    for (const [method, path, body] of calls(id)) {
      const { as: _, ...sent } = (body ?? {}) as { as?: object };
      expectProblem(await foreign.call(method, path, method === "GET" ? undefined : sent), 404, "not_found");
    }
    expect((await post("take", {}, mo)).json).toMatchObject({ person: { id: mo.id, name: "Mo" } });
    expect((await post("messages", { text: "Hi", client_id: crypto.randomUUID() }, mo)).status).toBe(201);
    expect((await post("read", { seq: 3 }, mo)).status).toBe(204);
    expect((await post("notes", { text: "Mine" }, mo)).status).toBe(201);
    expect(await read(mo)).toMatchObject({ state: "person", unread: 0, notes: [{ text: "Mine" }] });
    expect((await mo.call("GET", `/api/conversations/${id}/events`)).json.data).toMatchObject([{ type: "taken" }]);
    expect((await foreign.call("GET", "/api/conversations")).json.data).toEqual([]);
    expect((await mo.call("GET", "/api/conversations?state=person&assignee=&unread=true")).status).toBe(400);
    const patched = await mo.call("PATCH", `/api/conversations/${id}`, { assignee: mo.id, status: "closed" });
    expect(patched.json).toMatchObject({ assignee: mo.id, status: "closed", state: "companion" });
  });
});

test("a session has a switch, and a key's person is there for a time", async () => {
  const put = (body: object, by = api) => by.call("PUT", "/api/presence", body);
  const there = await put({ for_seconds: 60, as: grace });
  expect(there.json).toMatchObject({ available: true, until: expect.any(String) });
  expect((await put({ for_seconds: 0, as: grace })).json).toEqual({ available: false, until: null } as never);
  expect((await put({ available: true }, owner)).json).toEqual({ available: true, until: null } as never);
  expect((await put({ available: false }, owner)).json).toEqual({ available: false, until: null } as never);
  expectInvalid(await put({ for_seconds: 59, as: grace }), ["for_seconds"]);
  expectInvalid(await put({ for_seconds: 3601, as: grace }), ["for_seconds"]);
  expectInvalid(await put({ available: true, as: grace }), ["available", "for_seconds"]);
  expectInvalid(await put({ for_seconds: 60 }), ["as"]);
  expectInvalid(await put({ for_seconds: 60 }, owner), ["available", "for_seconds"]);
});

test("how a message would arrive: live to who listens, not at all to an anonymous visitor who is gone for a day", async () => {
  const reachOf = async (conversationId: string) =>
    ((await api.call("GET", `/api/conversations/${conversationId}`)).json["handoff"] as { reach: string }).reach;
  const dayMs = 24 * 60 * 60_000;
  const nowMs = server.services.clock.nowMs();
  const gone = await keepTurn(server, companion, { atMs: nowMs - dayMs - 1_000 });
  const recent = await keepTurn(server, companion, { atMs: nowMs - dayMs + 3_600_000 });
  const verified = await keepTurn(server, companion, { visitorId: verifiedId, atMs: nowMs - 2 * dayMs });
  expect(await Promise.all([gone, recent, verified].map(reachOf))).toEqual(["none", "next_message", "next_message"]);
  // Whichever page of it is read.
  const back = { sessionId: crypto.randomUUID() };
  await keepTurn(server, companion, { ...back, atMs: nowMs - 2 * dayMs });
  const returned = (await server.services.store.handoffs.findLive({
    ...{ companionId: companion.id, ...back, visitorId: null },
  })) ?? { conversationId: "" };
  await keepTurn(server, companion, { ...back, atMs: nowMs - 60_000 });
  const path = `/api/conversations/${returned.conversationId}?messages_limit=2`;
  const { messages_next_cursor: cursor } = (await api.call("GET", path)).json as unknown as Record<string, string>;
  const older = (await api.call("GET", `${path}&messages_cursor=${cursor}`)).json;
  expect(older["handoff"]).toMatchObject({ reach: "next_message" });
  await post("take", { as: grace });
  const headers = { accept: "application/json" };
  await fetch(`${server.url}/api/embed/${companion.embedToken}/live?session_id=${sessionId}`, { headers });
  expect(await reachOf(id)).toBe("live");
});

test("every change is audited by who made it", async () => {
  await post("take", { as: grace });
  await write("Hi");
  await post("notes", { text: "Secret words", as: grace });
  const { data } = (await api.call("GET", "/api/audit?limit=50")).json;
  const own = data.filter((entry) => entry["target_id"] === id);
  expect(own.length).toBeGreaterThanOrEqual(2);
  for (const entry of own) expect(entry).toMatchObject({ actor: { kind: "key", id: key.id } });
  expect(JSON.stringify(own)).not.toContain("Secret");
});
