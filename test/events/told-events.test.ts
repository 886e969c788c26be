/** What webhooks are told of, each as its owner's server receives it. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion, CompanionSettings } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { chat, sendChat } from "../support/chat.ts";
import { postCallEvent, signDelivery } from "../support/elevenlabs-delivery.ts";
import { readUntil, sayOnCommand } from "../support/resumed-chat.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";
import { startVoiceServer, type VoiceServer, webhookSecret } from "../support/voice-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let server: VoiceServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  server = await startVoiceServer({
    environment: {
      COMPANIOND_PRIVATE_TARGETS: "127.0.0.1",
      COMPANIOND_PRICES: JSON.stringify({ "test-model": { input: 1, cached_input: 1, output: 1 } }),
    },
  });
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

let account: Account;
let companion: Companion & { embedToken: string };
let apiKey: string;
let api: ApiClient;
beforeEach(async () => {
  server.mockLlm.respond(null);
  receiver.forget();
  account = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  companion = await make({ metadata: { tenant: "7" } });
  apiKey = (await server.createKey(account)).key;
  api = apiClient(server.url, apiKey);
});

const make = (settings: Partial<CompanionSettings>) => server.createCompanion(settings, account);
const say = (message: string, fields: object = {}, to = companion) =>
  chat(server.url, to.embedToken, { message, ...fields });

async function listen(fields: object = {}) {
  const created = await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"], ...fields });
  expect(created.status).toBe(201);
  return created.json as typeof created.json & { secret: string };
}

test("a conversation's beginning and each reply, with ids alone unless the words are asked for", async () => {
  const { secret } = await listen();
  const ids = { session_id: systemIds.randomUuid(), visitor_id: systemIds.randomUuid() };
  expect((await say("Hello [[say:Guten Tag]]", ids)).isDone).toBe(true);
  await receiver.have(2);
  const [conversation] = (await api.call("GET", "/api/conversations")).json.data;
  const read = await api.call("GET", `/api/conversations/${conversation?.id}`);
  const [question, reply] = read.json["messages"] as { id: string }[];
  const [started, completed] = receiver.events;
  const whose = { companion_id: companion.id, conversation_id: conversation?.id, ...ids };
  expect(started).toMatchObject({ type: "conversation.started" });
  expect(started?.data).toEqual({ ...whose, channel: "text" });
  expect(completed).toMatchObject({ type: "message.completed" });
  expect(completed?.data).toEqual({
    ...{ ...whose, message_id: question?.id, question_id: question?.id, reply_id: reply?.id, finish_reason: "stop" },
  });
  for (const event of receiver.events) {
    expect(Object.keys(JSON.parse(event.body))).toEqual(["type", "timestamp", "data"]);
    expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(event.headers).toMatchObject({ "content-type": "application/json", "user-agent": "companiond" });
    receiver.verify(event, secret);
  }

  await listen({ include_content: true, events: ["message.completed"] });
  const messageId = systemIds.randomUuid();
  await say("Und [[say:jetzt?]]", { ...ids, message_id: messageId });
  await receiver.have(4);
  const [bare, whole] = receiver.events.slice(2).toSorted((one, other) => one.body.length - other.body.length);
  expect(bare?.id).toBe(whole?.id ?? "");
  expect(bare?.data).not.toHaveProperty("message");
  expect(whole?.data).toEqual({
    ...bare?.data,
    ...{ message_id: messageId, message: "Und [[say:jetzt?]]", reply: "jetzt?" },
  });
});

test("a verified visitor by the website's own name", async () => {
  await listen({ events: ["message.completed"] });
  const [key, own] = [await createWebsiteKey(server.url, apiKey), await make({ visitorAuth: "required" })];
  const token = await signToken(key, own.id, { sub: "customer-42", name: "Grace" });
  const headers = { "content-type": "application/json", "x-visitor-token": token };
  await chat(server.url, own.embedToken, { message: "Hello" }, { headers });
  await receiver.have(1);
  expect(receiver.events[0]?.data).toMatchObject({ sub: "customer-42" });
  expect(receiver.events[0]?.data).not.toHaveProperty("visitor_id");
});

test("a message that failed, before and after its first text, but not a visitor who leaves", async () => {
  await listen({ include_content: true, events: ["message.failed", "message.completed"] });
  expect((await say("[[fail:400]]")).status).toBe(502);
  await receiver.have(1);
  expect(receiver.events[0]?.data).toEqual({
    ...{ companion_id: companion.id, conversation_id: null, session_id: expect.any(String), visitor_id: null },
    ...{ message_id: null, question_id: null, reply_id: null, reason: "upstream_error" },
  });
  expect((await say("[[words:4]] [[cut:2]]")).isDone).toBe(false);
  await receiver.have(2);
  expect(receiver.events[1]?.data).toMatchObject({
    ...{ conversation_id: expect.any(String), reply_id: expect.any(String), reason: "upstream_error" },
    ...{ message: "[[words:4]] [[cut:2]]", reply: expect.any(String) },
  });

  const provider = sayOnCommand(server, ["Hel", "lo"]);
  const response = sendChat(server.url, companion.embedToken, { message: "Hi" });
  provider.say(1);
  await readUntil(await response, ({ text }) => text === "Hel");
  await server.services.openTurns.whenEnded();
  server.mockLlm.respond(null);
  await say("Hello again");
  await receiver.have(3);
  expect(receiver.types).toEqual(["message.failed", "message.failed", "message.completed"]);
});

test("what else happens to the account's companions, visitors and budgets", async () => {
  await listen();
  const made = await api.call("POST", "/api/companions", { name: "Bo", metadata: { tenant: "8" } });
  await receiver.have(1);
  await api.call("PATCH", `/api/companions/${made.json.id}`, { name: "Cy", answer_mode: "grounded" });
  await receiver.have(2);
  const grounded = { ...companion, id: made.json.id, embedToken: made.json.embed_token };
  const visitor = { visitor_id: systemIds.randomUuid() };
  await say("Wie lange habt ihr geöffnet?", visitor, grounded);
  await receiver.have(5);
  const budget = { companion_id: companion.id, limit_micros: 1, period: "day", action: "notify" };
  const { id: budgetId } = (await api.call("POST", "/api/budgets", budget)).json;
  await say("Hello");
  await receiver.have(8);
  await api.call("DELETE", `/api/companions/${made.json.id}/visitors/${visitor.visitor_id}`);
  await receiver.have(9);
  await api.call("DELETE", `/api/companions/${made.json.id}`);
  await receiver.have(10);

  expect(receiver.types.slice(0, 5)).toEqual([
    ...["companion.created", "companion.updated"],
    ...["conversation.started", "message.completed", "question.unanswered"],
  ]);
  expect(receiver.types.slice(5, 8).toSorted()).toEqual([
    "budget.reached",
    "conversation.started",
    "message.completed",
  ]);
  expect(receiver.types.slice(8)).toEqual(["visitor.erased", "companion.deleted"]);
  const dataOf = (type: string) => receiver.events.find((event) => event.type === type)?.data;
  const { id } = made.json;
  expect(dataOf("companion.created")).toEqual({ companion_id: id, name: "Bo", metadata: { tenant: "8" } });
  expect(dataOf("companion.updated")).toEqual({
    ...{ companion_id: id, name: "Cy", metadata: { tenant: "8" }, changed: ["name", "answer_mode"] },
  });
  expect(dataOf("question.unanswered")).toMatchObject({
    companion_id: id,
    question_id: expect.any(String),
    ...visitor,
  });
  expect(dataOf("budget.reached")).toEqual({
    ...{ budget_id: budgetId, limit_micros: 1, period: "day", action: "notify" },
    ...{ account: null, key_id: null, companion_id: companion.id, metadata: null },
  });
  expect(dataOf("visitor.erased")).toEqual({ companion_id: id, ...visitor, sub: visitor.visitor_id });
  expect(dataOf("companion.deleted")).toEqual({ companion_id: id, name: "Cy", metadata: { tenant: "8" } });
});

test("what was spoken, once", async () => {
  await listen({ events: ["voice.transcript", "conversation.started"], include_content: true });
  const speaking = await make({ voiceId: "voice-1" });
  const session = { session_id: systemIds.randomUuid() };
  expect((await server.askVoiceToken(speaking.embedToken, session)).status).toBe(200);
  const conversationId = server.voice.sessions.at(-1)?.conversationId ?? "";
  const body = postCallEvent(conversationId, [
    { role: "agent", message: "Hi, I'm Ada." },
    { role: "user", message: "My name is Grace." },
  ]);
  // Where the provider was told to deliver before, and where it is today.
  for (const path of ["/api/webhooks/elevenlabs", "/api/voice/elevenlabs/webhook"]) {
    const headers = { "elevenlabs-signature": signDelivery(webhookSecret, body) };
    expect((await fetch(server.url + path, { method: "POST", headers, body })).status).toBe(200);
  }
  await receiver.have(2);
  expect(receiver.types).toEqual(["conversation.started", "voice.transcript"]);
  expect(receiver.events[1]?.data).toEqual({
    ...{ companion_id: speaking.id, conversation_id: expect.any(String), ...session, visitor_id: null },
    ...{ message_id: null, message_count: 2 },
    messages: [
      { role: "assistant", text: "Hi, I'm Ada." },
      { role: "user", text: "My name is Grace." },
    ],
  });
});

test("only what happens to companions that match the filter, and to no other account's", async () => {
  await listen({ metadata: { tenant: "7" }, events: ["message.completed"] });
  const stranger = await server.createCompanion({ metadata: { tenant: "7" } });
  await say("Hello", {}, stranger);
  await say("Hello", {}, await make({ metadata: { tenant: "8" } }));
  await say("Hello");
  await receiver.have(1);
  await server.services.events.whenIdle();
  expect(receiver.events.map(({ data }) => data["companion_id"])).toEqual([companion.id]);
});
