/** What visitors leave for the team through requests: contacts, ratings, and their word on whether it is resolved. */
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import type { LeadSettings } from "../../src/domain/handoff.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { openMemberDashboard } from "../support/dashboard.ts";
import { handoffSettings } from "../support/people-world.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const leads: LeadSettings = { when: "always", consentText: "You may write to me.", replyTo: null };
const everything = { leads, ratings: true, askResolved: true };

let server: TestServer;
let receiver: WebhookReceiver;
let account: Account;
let companion: TestCompanion;
let api: ApiClient;
let visitors: ApiClient;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  server = await startTestServer({
    environment: {
      ...{ COMPANIOND_LIVE_RATE_PER_IP: "200", COMPANIOND_RATE_PER_IP: "500" },
      COMPANIOND_PRIVATE_TARGETS: "127.0.0.1",
    },
  });
  account = await server.createAccount();
  companion = await server.createCompanion({ name: "Ada", ...everything }, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  visitors = apiClient(server.url, null);
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

let session_id: string;
let messageId: string;
beforeEach(() => {
  session_id = crypto.randomUUID();
  messageId = crypto.randomUUID();
});

const create = (settings: Partial<CompanionSettings>) => server.createCompanion(settings, account);
const say = (message = "Hello", to = companion) =>
  chat(server.url, to.embedToken, { message, session_id, message_id: messageId });
const contact = (body: object = {}, to = companion) =>
  visitors.call("POST", `/api/embed/${to.embedToken}/contact`, {
    ...{ session_id, email: "ada@example.com", consent: true },
    ...body,
  });
const rate = (body: object, to = companion, id = messageId) =>
  visitors.call("PUT", `/api/embed/${to.embedToken}/ratings/${id}`, { session_id, ...body });
const resolve = (resolved: boolean | null, to = companion) =>
  visitors.call("PUT", `/api/embed/${to.embedToken}/resolved`, { session_id, resolved });

/** The conversation as the team reads it. */
async function read(): Promise<{ id: string; messages: { id: string; created_at: string }[]; contact?: unknown }> {
  const { data } = (await api.call("GET", "/api/conversations?limit=100")).json;
  const id = data.find((row) => row.session_id === session_id)?.id;
  const { json } = await api.call("GET", `/api/conversations/${id}`);
  return { ...json, messages: json["messages"] as { id: string; created_at: string }[] };
}

test("webhooks receive what was left, without addresses and comments", async () => {
  await say();
  const created = await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"], include_content: true });
  receiver.forget();
  await contact({ message: "Call me" });
  await rate({ rating: "down", reasons: ["wrong"], comment: "Nonsense" });
  await rate({ rating: null });
  await receiver.have(3);
  await api.call("DELETE", `/api/webhooks/${created.json.id}`);
  const whose = { companion_id: companion.id, conversation_id: (await read()).id, session_id, visitor_id: null };
  expect(receiver.events.map(({ type, data }) => [type, data])).toEqual([
    ["contact.given", { ...whose, consented_at: expect.any(String) }],
    ["rating.given", { ...whose, message_id: messageId, rating: "down", reasons: ["wrong"] }],
    ["rating.given", { ...whose, message_id: messageId, rating: null, reasons: [] }],
  ]);
});

test("an erased visitor's contact, ratings and word are gone, and nothing of them is in the log", async () => {
  const visitor_id = crypto.randomUUID();
  await chat(server.url, companion.embedToken, { message: "Hello", session_id, message_id: messageId, visitor_id });
  await contact({ visitor_id, email: "erased@example.com" });
  await rate({ visitor_id, rating: "down", comment: "Erase this" });
  const { id, messages } = await read();
  const erased = await api.call("DELETE", `/api/companions/${companion.id}/visitors/${visitor_id}`);
  expect(erased.status).toBe(204);
  const { feedback } = server.services.store;
  const replies = messages.map((message) => ({ ...message, createdAt: Date.parse(message.created_at) }));
  expect(await feedback.findContact(account.id, id)).toBeNull();
  expect(await feedback.listRatings(account.id, id, replies)).toEqual(new Map());
  expect((await api.call("GET", "/api/leads?limit=1000")).text).not.toContain("erased@example.com");
  expect(server.log.text()).not.toMatch(/erased@example|Erase this/);
});

test("what a lost key has sealed is shown as lost, and fails nothing else", async () => {
  await say();
  await contact({ message: "Call me" });
  await rate({ rating: "down", reasons: ["wrong"], comment: "Nonsense" });
  const { id } = await read();
  await api.call("POST", `/api/conversations/${id}/notes`, { text: "Rings at nine", as: { name: "Grace" } });
  const opening = spyOn(server.services.sealing, "open").mockRejectedValue(new Error("another key"));
  try {
    const conversation = await read();
    expect(conversation).not.toHaveProperty("contact");
    expect(conversation).toMatchObject({ notes: [{ text: expect.stringContaining("can no longer be read") }] });
    expect(conversation.messages[1]).toMatchObject({ rating: { rating: "down", reasons: ["wrong"], comment: null } });
    const { status, json } = await api.call("GET", "/api/leads?limit=100");
    expect(status).toBe(200);
    const lead = json.data.find(({ conversation_id }) => conversation_id === id);
    expect(lead as object).toMatchObject({ email: null, name: null, message: null, consent_text: leads.consentText });
    const csv = await api.call("GET", "/api/leads", undefined, { accept: "text/csv" });
    expect(csv.text).toContain(`${id},${companion.id},,,,`);
  } finally {
    opening.mockRestore();
  }
});

describe("the configuration", () => {
  test("says what is taken, and nothing where nothing is", async () => {
    const config = await visitors.call("GET", `/api/embed/${companion.embedToken}`);
    expect(config.json).toMatchObject({
      ...{ leads: { when: "always", consent_text: "You may write to me." }, ratings: true, ask_resolved: true },
    });
    const plain = await create({});
    const { json } = await visitors.call("GET", `/api/embed/${plain.embedToken}`);
    for (const name of ["leads", "ratings", "ask_resolved"]) expect(json).not.toHaveProperty(name);
  });
});

describe("a contact", () => {
  test("is listed and read with its consent, opens the conversation, and may come before any message", async () => {
    const sent = await contact({ name: "Ada", message: "Do you repair bicycles?" });
    expect(sent.status).toBe(204);
    const given = {
      ...{ email: "ada@example.com", name: "Ada", message: "Do you repair bicycles?" },
      ...{ consent_text: "You may write to me.", consented_at: expect.any(String) },
    };
    const conversation = await read();
    expect(conversation).toMatchObject({ status: "open", state: "companion", contact: given });
    const { data } = (await api.call("GET", "/api/leads")).json;
    expect(data[0] as object).toEqual({
      ...{ conversation_id: conversation.id, companion_id: companion.id, ...given },
    });
    expect((await say()).text).toBe("You said: Hello");
    expect((await read()).contact).toEqual(given);
  });

  test("replaces the one before", async () => {
    await contact({ name: "Ada" });
    await contact({ email: "grace@example.com" });
    expect((await read()).contact).toMatchObject({ email: "grace@example.com", name: null, message: null });
  });

  test("needs consent and an address", async () => {
    expectInvalid(await contact({ consent: false }), ["consent"]);
    expectInvalid(await contact({ consent: undefined }), ["consent"]);
    expectInvalid(await contact({ session_id: undefined }), ["session_id"]);
    for (const email of [
      "ada",
      "a@b",
      "ada@example.com, eve@example.com",
      "<ada@example.com>",
      "a\u0001@example.com",
    ]) {
      expectInvalid(await contact({ email }), ["email"]);
    }
  });

  test("is refused where none is taken, and while a person is available where it is for the rest", async () => {
    expectProblem(await contact({}, await create({})), 409, "conflict");
    const unavailable = { ...leads, when: "unavailable" as const };
    expect((await contact({}, await create({ leads: unavailable }))).status).toBe(204);
    const attended = await create({ leads: unavailable, handoff: { ...handoffSettings, when: "always" } });
    expectProblem(await contact({}, attended), 409, "conflict");
  });

  test("is admitted twenty times an hour from an address, where it is kept", async () => {
    const other = await startTestServer({ environment: { COMPANIOND_ASKS_PER_IP: "2", COMPANIOND_RATE_PER_IP: "50" } });
    try {
      const own = await other.createCompanion({ leads });
      const client = apiClient(other.url, null);
      const send = (email: string) =>
        client.call("POST", `/api/embed/${own.embedToken}/contact`, { session_id, email, consent: true });
      expectInvalid(await send("nobody"), ["email"]);
      expect((await send("ada@example.com")).status).toBe(204);
      expect((await send("ada@example.com")).status).toBe(204);
      expectProblem(await send("ada@example.com"), 429, "rate_limited");
    } finally {
      await other.close();
    }
  });

  test("comes from a platform as well, for its own visitor", async () => {
    const body = { session_id, email: "grace@example.com", consent: true, visitor: { sub: "user-42", name: "Grace" } };
    expect((await api.call("POST", `/api/companions/${companion.id}/contact`, body)).status).toBe(204);
    expect(await read()).toMatchObject({ status: "open", contact: { email: "grace@example.com" } });
    const foreign = await server.createCompanion({ leads });
    expectProblem(await api.call("POST", `/api/companions/${foreign.id}/contact`, body), 404, "not_found");
  });

  test("is deleted alone, and goes with its conversation", async () => {
    await say();
    await contact();
    const { id } = await read();
    expect((await api.call("DELETE", `/api/leads/${id}`)).status).toBe(204);
    expectProblem(await api.call("DELETE", `/api/leads/${id}`), 404, "not_found");
    expect(await read()).not.toHaveProperty("contact");
    await contact();
    await api.call("DELETE", `/api/conversations/${id}`);
    const { data } = (await api.call("GET", "/api/leads?limit=100")).json;
    expect(data.map((lead) => lead.conversation_id)).not.toContain(id);
  });
});

describe("the list of contacts", () => {
  test("has pages, as JSON and as CSV, which runs nothing in a spreadsheet", async () => {
    const own = await create({ leads });
    for (const name of ["=1+1", 'Ada "the first"', "@SUM(A1)"]) {
      session_id = crypto.randomUUID();
      await contact({ name, email: `${crypto.randomUUID()}@example.com` }, own);
    }
    const query = `companion_id=${own.id}`;
    const first = (await api.call("GET", `/api/leads?${query}&limit=2`)).json;
    expect(first.data.map(({ name }) => name)).toEqual(["@SUM(A1)", 'Ada "the first"']);
    const second = (await api.call("GET", `/api/leads?${query}&limit=2&cursor=${first.next_cursor}`)).json;
    expect(second).toMatchObject({ data: [{ name: "=1+1" }], next_cursor: null });

    const getCsv = async (more = "") => {
      const response = await fetch(`${server.url}/api/leads?${query}${more}`, {
        headers: { accept: "text/csv", authorization: `Bearer ${await apiKey()}` },
      });
      return { response, lines: (await response.text()).split("\r\n") };
    };
    const { response, lines } = await getCsv();
    expect(response.headers.get("content-type")).toStartWith("text/csv");
    expect(lines[0]).toBe("conversation_id,companion_id,email,name,message,consent_text,consented_at");
    expect(lines.map((line) => line.split(",")[3])).toEqual([
      "name",
      "'@SUM(A1)",
      '"Ada ""the first"""',
      "'=1+1",
      undefined,
    ]);
    const part = await getCsv("&limit=2");
    expect(part.lines).toHaveLength(4);
    expect(part.response.headers.get("link")).toContain('rel="next"');
  });

  const apiKey = async () => (await server.createKey(account)).key;

  test("is a member's own alone, and not another account's", async () => {
    const own = await create({ leads });
    await contact({}, own);
    const { id } = await read();
    const bo = await openMemberDashboard(server, { account }, { role: "responder", companionIds: [companion.id] });
    const { data } = (await bo.call("GET", "/api/leads?limit=100")).json;
    expect(data.every((lead) => lead.companion_id === companion.id)).toBe(true);
    expect((await bo.call("GET", `/api/leads?companion_id=${own.id}`)).json.data).toEqual([]);
    expectProblem(await bo.call("DELETE", `/api/leads/${id}`), 403, "insufficient_scope");
    const stranger = apiClient(
      server.url,
      (await server.createKey(await server.createAccount({ email: "stranger@shop.example" }))).key,
    );
    expect((await stranger.call("GET", "/api/leads")).json.data).toEqual([]);
    expect((await stranger.call("GET", `/api/leads?companion_id=${own.id}`)).json.data).toEqual([]);
    expectProblem(await stranger.call("DELETE", `/api/leads/${id}`), 404, "not_found");
  });
});

describe("a rating", () => {
  test("stands at the reply, and the last one counts", async () => {
    await say();
    expect((await rate({ rating: "up" })).status).toBe(204);
    const given = { rating: "down", reasons: ["wrong", "other"], comment: "It is closed on Mondays." };
    expect((await rate({ ...given, reasons: ["wrong", "other", "wrong"] })).status).toBe(204);
    const { messages } = await read();
    expect(messages[0] as object).not.toHaveProperty("rating");
    expect(messages[1]).toMatchObject({ rating: { ...given, created_at: expect.any(String) } });
    const listed = (await api.call("GET", "/api/conversations?rating=down&limit=100")).json.data;
    expect(listed.map((row) => row.session_id)).toContain(session_id);
    expect((await rate({ rating: null })).status).toBe(204);
    expect((await read()).messages[1] as object).not.toHaveProperty("rating");
  });

  test("is of a reply of the companion to this visitor", async () => {
    expectProblem(await rate({ rating: "up" }), 404, "not_found");
    await say();
    expectProblem(await rate({ rating: "up" }, companion, crypto.randomUUID()), 404, "not_found");
    expectProblem(await rate({ rating: "up" }, companion, "nothing"), 404, "not_found");
    expectProblem(await rate({ rating: "up", visitor_id: crypto.randomUUID() }), 404, "not_found");
    expectProblem(await rate({ rating: "up", session_id: crypto.randomUUID() }), 404, "not_found");
  });

  test("names what is at fault, and is refused where replies are not rated", async () => {
    await say();
    expectInvalid(await rate({ rating: "great" }), ["rating"]);
    expectInvalid(await rate({ rating: "up", reasons: ["boring"] }), ["reasons.0"]);
    expectInvalid(await rate({ rating: "up", comment: "a".repeat(1_001) }), ["comment"]);
    expectProblem(await rate({ rating: "up" }, await create({})), 409, "conflict");
  });

  test("comes from a platform as well", async () => {
    await say();
    const path = `/api/companions/${companion.id}/ratings/${messageId}`;
    expect((await api.call("PUT", path, { session_id, rating: "up" })).status).toBe(204);
    expect((await read()).messages[1]).toMatchObject({ rating: { rating: "up", reasons: [], comment: null } });
    const other = { session_id, rating: "up", visitor: { sub: "someone-else" } };
    expectProblem(await api.call("PUT", path, other), 404, "not_found");
  });

  test("counts in the window of those who listen, not in that of messages", async () => {
    const other = await startTestServer({
      environment: { COMPANIOND_RATE_PER_IP: "2", COMPANIOND_LIVE_RATE_PER_IP: "4" },
    });
    try {
      const own = await other.createCompanion({ ratings: true });
      const client = apiClient(other.url, null);
      const path = `/api/embed/${own.embedToken}/ratings/${messageId}`;
      const send = async () => (await client.call("PUT", path, { session_id, rating: "up" })).status;
      expect([await send(), await send(), await send(), await send(), await send()]).toEqual([404, 404, 404, 404, 429]);
    } finally {
      await other.close();
    }
  });
});

describe("the visitor's word on whether it is resolved", () => {
  test("counts until a message comes after it", async () => {
    expectProblem(await resolve(true), 404, "not_found");
    await say();
    expect(await read()).not.toHaveProperty("resolved");
    expect((await resolve(false)).status).toBe(204);
    expect(await read()).toMatchObject({ resolved: false });
    expect((await resolve(true)).status).toBe(204);
    expect(await read()).toMatchObject({ resolved: true });
    messageId = crypto.randomUUID();
    await say("One more thing");
    expect(await read()).not.toHaveProperty("resolved");
    await resolve(true);
    expect((await resolve(null)).status).toBe(204);
    expect(await read()).not.toHaveProperty("resolved");
  });

  test("is refused where it is not asked for, and comes from a platform as well", async () => {
    await say();
    expectProblem(await resolve(true, await create({})), 409, "conflict");
    expectInvalid(await visitors.call("PUT", `/api/embed/${companion.embedToken}/resolved`, { session_id }), [
      "resolved",
    ]);
    const path = `/api/companions/${companion.id}/resolved`;
    expect((await api.call("PUT", path, { session_id, resolved: true })).status).toBe(204);
    expect(await read()).toMatchObject({ resolved: true });
  });
});
