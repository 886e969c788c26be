/** What webhooks receive of people who step in, and what the metrics show of it. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { VisitorConversation } from "../../src/core/people/people.ts";
import type { Handoff } from "../../src/domain/handoff.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { conversationOf, createPeopleWorld, type PeopleWorld, personOf, placesOf } from "../support/people-world.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let server: TestServer;
let receiver: WebhookReceiver;
let world: PeopleWorld;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  server = await startTestServer({
    environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1", COMPANIOND_METRICS_TOKEN: "metrics-token-of-the-test" },
  });
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});
beforeEach(async () => {
  receiver.forget();
  world = await createPeopleWorld(server);
});

async function listen(fields: object): Promise<void> {
  const api = apiClient(server.url, (await server.createKey(world.account)).key);
  const created = await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"], ...fields });
  expect(created.status).toBe(201);
}

test("each change is told once, in order, with words where they are asked for", async () => {
  const conversation = await world.begin();
  await listen({ include_content: true });
  const ada = personOf(world.keyId, "Ada");
  const person = { name: "Ada", member_id: null, key_id: world.keyId };
  const clientId = crypto.randomUUID();
  const messageId = crypto.randomUUID();
  await world.people.ask(conversation.visitor, "visitor", "Refund");
  world.clock.advance(7_000);
  await world.people.say(conversation.as(ada), { text: "I am Ada.", clientId, afterSeq: null });
  await world.people.keepMessage(conversation.visitor, { text: "My refund?", messageId, isPlain: false });
  await world.people.update(conversation.as(ada), { tags: ["Refund"] });
  await world.people.release(conversation.as(ada), { close: false, from: null });
  await world.people.ask(conversation.visitor, "model", null);
  world.clock.advance(120_000);
  await world.check();
  await receiver.have(8);
  const { sessionId: session_id, companionId: companion_id } = conversation.key;
  const whose = { companion_id, conversation_id: conversation.id, session_id, visitor_id: null };
  expect(receiver.events.map(({ type, data }) => [type, data])).toEqual([
    ["handoff.requested", { ...whose, by: "visitor", until: expect.any(String) }],
    ["handoff.taken", { ...whose, person, from: null, until: expect.any(String) }],
    ["message.person", { ...whose, message_id: clientId, reply_id: expect.any(String), person, text: "I am Ada." }],
    ["message.visitor", { ...whose, message_id: messageId, question_id: expect.any(String), message: "My refund?" }],
    ["conversation.updated", { ...whose, status: "open", assignee: null, tags: ["refund"] }],
    ["handoff.released", { ...whose, reason: "released", person }],
    ["handoff.requested", { ...whose, by: "model", until: expect.any(String) }],
    ["handoff.missed", { ...whose, by: "clock" }],
  ]);
  expect(new Set(receiver.events.map(({ id }) => id)).size).toBe(8);
  // What the visitor gave as the reason goes nowhere.
  expect(receiver.events.some(({ body }) => body.includes("Refund"))).toBe(false);
});

test("of a verified visitor it is told by whom it is, also where a person acts; without words unless asked", async () => {
  await listen({});
  const { visitors } = server.services;
  const claims = { sub: "customer-7", name: "Grace", email: null, attributes: {} };
  const verified = await visitors.vouch(world.account.id, claims);
  const conversation = conversationOf(server, world.companion, world.clock, verified.id);
  const visitor: VisitorConversation = { ...conversation.visitor, visitor: verified };
  const ada = personOf(world.keyId, "Ada");
  await world.people.ask(visitor, "visitor", null);
  await world.people.keepMessage(visitor, { text: "Hello?", messageId: null, isPlain: false });
  const { conversationId } = (await server.services.store.handoffs.find(conversation.key)) as Handoff;
  await world.people.take(placesOf(conversation, conversationId).as(ada), { stop: true, from: null });
  await receiver.have(4);
  expect(receiver.types).toEqual(["conversation.started", "handoff.requested", "message.visitor", "handoff.taken"]);
  expect(receiver.events.map(({ data }) => data["sub"])).toEqual(Array(4).fill("customer-7"));
  expect(receiver.events.some(({ body }) => body.includes("Hello?"))).toBe(false);
});

test("metrics show how many wait and are spoken with, and how long they waited", async () => {
  const read = async () => {
    const headers = { authorization: "Bearer metrics-token-of-the-test" };
    return await (await fetch(`${server.url}/metrics`, { headers })).text();
  };
  const conversation = await world.begin();
  const before = await read();
  await world.people.ask(conversation.visitor, "visitor", null);
  expect(await read()).toMatch(/companiond_handoffs\{state="waiting"\} [1-9]/);
  world.clock.advance(7_000);
  const ada = personOf(world.keyId, "Ada");
  await world.people.take(conversation.as(ada), { stop: true, from: null });
  const after = await read();
  expect(after).toMatch(/companiond_handoffs\{state="person"\} [1-9]/);
  const waits = (text: string) => Number(/companiond_handoff_wait_seconds_count (\d+)/.exec(text)?.[1]);
  const sum = (text: string) => Number(/companiond_handoff_wait_seconds_sum ([\d.]+)/.exec(text)?.[1]);
  expect([waits(after) - waits(before), sum(after) - sum(before)]).toEqual([1, 7]);
});
