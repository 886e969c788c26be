/** How events are delivered: in order, by the schedule, until they have arrived or their webhook is disabled. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { OutgoingHttp } from "../../src/contracts/outgoing-http.ts";
import { createEventDelivery } from "../../src/core/events/delivery.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { retryDelaysMs } from "../../src/domain/webhook.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let clock: ManualClock;
let server: TestServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  clock = createManualClock();
  server = await startTestServer({ clock, environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" } });
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

let account: Account;
let companion: Companion & { embedToken: string };
let api: ApiClient;
beforeEach(async () => {
  await server.services.events.whenIdle();
  receiver.respond(null);
  receiver.forget();
  account = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  companion = await server.createCompanion({}, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
});

async function listen(fields: object = {}) {
  const body = { url: receiver.url, events: ["message.completed"], ...fields };
  return (await api.call("POST", "/api/webhooks", body)).json as { id: string } & Record<string, unknown>;
}
const read = async (id: string) => (await api.call("GET", `/api/webhooks/${id}`)).json;
const deliveriesOf = async (id: string) => (await api.call("GET", `/api/webhooks/${id}/deliveries`)).json.data;
const say = (message: string, sessionId = systemIds.randomUuid()) =>
  chat(server.url, companion.embedToken, { message, session_id: sessionId });
const deliver = async () => {
  server.services.events.wake();
  await server.services.events.whenIdle();
};
const statuses = (...codes: number[]) =>
  receiver.respond(() => new Response(null, { status: (codes.length > 1 ? codes.shift() : codes[0]) ?? 204 }));

test("attempts are counted by what became of them, and nothing is where nobody listens", async () => {
  const { deliveries } = server.services.measurements;
  const before = { ...deliveries };
  await say("Hello");
  expect(deliveries).toEqual(before);
  await listen();
  statuses(500, 204);
  await say("Hello");
  await receiver.have(1);
  await deliver();
  clock.advance(5_000);
  await deliver();
  expect(deliveries).toEqual({ ...before, delivered: before.delivered + 1, waiting: before.waiting + 1 });
});

test("a delivery that fails is tried again by the schedule, with the same id and body, each time signed anew", async () => {
  const { id, ...made } = await listen();
  statuses(500);
  await say("Hello");
  const times: number[] = [];
  for (const delayMs of retryDelaysMs) {
    await receiver.have(times.length + 1);
    await deliver();
    times.push(Number(receiver.events.at(-1)?.headers["webhook-timestamp"]));
    clock.advance(delayMs - 1);
    await deliver();
    expect(receiver.events).toHaveLength(times.length);
    clock.advance(1);
    if (times.length === 5) expect(await deliveriesOf(id)).toMatchObject([{ state: "waiting", attempts: 5 }]);
    await deliver();
  }
  times.push(Number(receiver.events.at(-1)?.headers["webhook-timestamp"]));
  expect(times.map((time, at) => time - (times[at - 1] ?? time)).slice(1)).toEqual([
    ...[5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600],
  ]);
  expect(new Set(receiver.events.map(({ id, body }) => id + body)).size).toBe(1);
  for (const event of receiver.events) receiver.verify(event, String(made["secret"]));
  expect(receiver.events).toHaveLength(10);
  expect(await read(id)).toMatchObject({
    ...{
      enabled: false,
      disabled_reason: "A delivery failed 10 times. The last time: The response had the status 500.",
    },
  });
  expect(await deliveriesOf(id)).toMatchObject([{ state: "failed", attempts: 10, status_code: 500 }]);
  clock.advance(7 * 86_400_000);
  await deliver();
  expect(receiver.events).toHaveLength(10);
  const entries = (await api.call("GET", "/api/audit?from=2026-01-01")).json.data;
  expect(entries.filter(({ action }) => action === "webhook.disable")).toMatchObject([
    { target_id: id, actor: { kind: "system" } },
  ]);
});

test("within a conversation each waits for the one before, and other conversations do not", async () => {
  await listen();
  const session = systemIds.randomUuid();
  statuses(503, 204);
  await say("one", session);
  await receiver.have(1);
  await deliver();
  await say("two", session);
  await say("three", session);
  await say("elsewhere");
  await receiver.have(2);
  await deliver();
  const sessions = () => receiver.events.map(({ data }) => data["session_id"] === session);
  expect(sessions()).toEqual([true, false]);
  clock.advance(5_000);
  await deliver();
  expect(sessions()).toEqual([true, false, true, true, true]);
  const [first, , again, ...others] = receiver.events;
  expect(again?.id).toBe(first?.id ?? "");
  const asked = others.map(({ data }) => String(data["question_id"]));
  expect(asked).toEqual(asked.toSorted());
});

test("attempts by hand take nothing of the schedule: the webhook is not disabled before its time", async () => {
  const { id } = await listen();
  statuses(500);
  await say("Hello");
  await deliver();
  const [waiting] = await deliveriesOf(id);
  for (let attempt = 0; attempt < retryDelaysMs.length; attempt++) {
    await api.call("POST", `/api/webhooks/${id}/deliveries/${waiting?.id}/retry`);
  }
  clock.advance(retryDelaysMs[0] ?? 0);
  await deliver();
  expect((await deliveriesOf(id))[0]).toMatchObject({ state: "waiting", attempts: 2 });
  expect(await read(id)).toMatchObject({ enabled: true, disabled_reason: null });
});

test("410 disables the webhook at once, and drops what waits", async () => {
  const { id } = await listen();
  const session = systemIds.randomUuid();
  statuses(500, 410);
  await say("one", session);
  await receiver.have(1);
  await deliver();
  await say("two", session);
  clock.advance(5_000);
  await deliver();
  expect(await read(id)).toMatchObject({ enabled: false, disabled_reason: "The receiver answered 410 Gone." });
  expect((await deliveriesOf(id)).map((each) => each["state"])).toEqual(["dropped", "failed"]);
  await say("three", session);
  expect(await deliveriesOf(id)).toHaveLength(2);
  expect((await api.call("PATCH", `/api/webhooks/${id}`, { enabled: true })).json).toMatchObject({
    ...{ enabled: true, disabled_reason: null },
  });
  statuses(204);
  await say("four", session);
  await receiver.have(3);
  await deliver();
  expect((await deliveriesOf(id)).map((each) => each["state"])).toEqual(["delivered", "dropped", "failed"]);
});

test("a redirect is no delivery, and is not followed", async () => {
  const { id } = await listen();
  receiver.respond(() => new Response(null, { status: 307, headers: { location: receiver.url } }));
  await say("Hello");
  await receiver.have(1);
  await deliver();
  expect(receiver.events).toHaveLength(1);
  expect(await deliveriesOf(id)).toMatchObject([
    { state: "waiting", status_code: 307, error: "The response had the status 307: redirects are not followed." },
  ]);
});

test("an endless response delivers, and is not read to its end", async () => {
  const { id } = await listen();
  let sent = 0;
  receiver.respond(() => {
    const body = new ReadableStream({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    return new Response(body);
  });
  await say("Hello");
  await receiver.have(1);
  await deliver();
  expect(await deliveriesOf(id)).toMatchObject([{ state: "delivered", status_code: 200, error: null }]);
  expect(sent).toBeLessThan(1_000);
});

test("an attempt has 15 seconds and keeps little of its response; what cannot be reached is said in a sentence", async () => {
  const asked: Parameters<OutgoingHttp["send"]>[0][] = [];
  const reason = "There was no response within 15 seconds.";
  const outgoing: OutgoingHttp = {
    ...server.services.outgoing,
    async send(request) {
      asked.push(request);
      return { outcome: "failed", kind: "timeout", status: null, reason };
    },
  };
  const { store } = server.services;
  const deaf = { ...store, webhooks: { ...store.webhooks, onStored() {} } };
  const delivery = createEventDelivery({ ...server.services, store: deaf, outgoing, isShared: false });
  const { id } = await listen();
  const webhook = await store.webhooks.find(account.id, id);
  const attempt = await delivery.test(account.id, webhook as NonNullable<typeof webhook>);
  expect(attempt).toMatchObject({ status: null, problem: reason });
  expect(asked).toMatchObject([{ url: receiver.url, method: "POST", timeoutMs: 15_000, maxBytes: 4096 }]);
  await delivery.close();
});

test("a receiver that is slow gets no more than four at a time, and holds up no other", async () => {
  const { id } = await listen();
  const slow = Promise.withResolvers<void>();
  let open = 0;
  let most = 0;
  receiver.respond(async () => {
    open++;
    most = Math.max(most, open);
    await slow.promise;
    open--;
    return new Response(null, { status: 204 });
  });
  for (let turn = 0; turn < 8; turn++) await say("Hello");
  await receiver.have(4);
  const other = startWebhookReceiver();
  const quick = await listen({ url: other.url });
  await say("Hello");
  await other.have(1);
  await eventually(async () => (await deliveriesOf(quick.id))[0]?.["state"] === "delivered", { what: "the delivery" });
  expect(most).toBe(4);
  slow.resolve();
  await receiver.have(9);
  await deliver();
  expect(most).toBe(4);
  expect((await deliveriesOf(id)).every((each) => each["state"] === "delivered")).toBe(true);
  await other.close();
});

test("an account whose receivers are all slow holds up no other account", async () => {
  const slow = Promise.withResolvers<void>();
  receiver.respond(() => slow.promise.then(() => new Response(null, { status: 204 })));
  for (let made = 0; made < 9; made++) await listen();
  for (let turn = 0; turn < 4; turn++) await say("Hello");
  await receiver.have(16);
  const neighbour = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  const quick = startWebhookReceiver();
  const neighbours = apiClient(server.url, (await server.createKey(neighbour)).key);
  await neighbours.call("POST", "/api/webhooks", { url: quick.url, events: ["message.completed"] });
  const { embedToken } = await server.createCompanion({}, neighbour);
  await chat(server.url, embedToken, { message: "Hello" });
  await quick.have(1);
  expect(receiver.events).toHaveLength(16);
  slow.resolve();
  await receiver.have(36);
  await quick.close();
});

test("an account has four attempts by hand under way and no more", async () => {
  const { id } = await listen();
  const slow = Promise.withResolvers<void>();
  receiver.respond(() => slow.promise.then(() => new Response(null, { status: 204 })));
  const trial = () => api.call("POST", `/api/webhooks/${id}/test`);
  const under = Array.from({ length: 4 }, trial);
  await receiver.have(4);
  const refused = await trial();
  expect([refused.status, refused.json["code"], refused.headers.get("retry-after")]).toEqual([
    429,
    "rate_limited",
    "1",
  ]);
  slow.resolve();
  for (const { json } of await Promise.all(under)) expect(json).toMatchObject({ ok: true });
  expect((await trial()).json).toMatchObject({ ok: true });
});

test("a webhook whose secret cannot be opened says so, and goes on with a new one", async () => {
  const { id } = await listen();
  const { webhooks } = server.services.store;
  await webhooks.replaceSecret(account.id, id, "v1.unreadable", {
    ...{ actor: { kind: "cli", id: null, ipPrefix: null, requestId: null }, nowMs: clock.nowMs() },
    auditId: systemIds.uuid(),
  });
  await say("Hello");
  await eventually(async () => (await deliveriesOf(id))[0]?.["attempts"] === 1, { what: "the attempt" });
  await deliver();
  expect(await deliveriesOf(id)).toMatchObject([{ error: "The secret cannot be opened. Make a new one." }]);
  const rotated = await api.call("POST", `/api/webhooks/${id}/rotate-secret`);
  clock.advance(5_000);
  await deliver();
  const own = receiver.events.find(({ data }) => data["companion_id"] === companion.id);
  receiver.verify(own, String(rotated.json["secret"]));
});
