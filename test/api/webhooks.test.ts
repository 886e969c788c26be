/** `/api/webhooks`: webhooks as platforms manage them, their trials and their deliveries. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { Account } from "../../src/domain/account.ts";
import { maxWebhooks } from "../../src/domain/webhook.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { createRandom } from "../support/random.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let server: TestServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  server = await startTestServer({ environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" } });
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

let account: Account;
let api: ApiClient;
beforeEach(async () => {
  receiver.respond(null);
  receiver.forget();
  account = await server.createAccount({ email: `${systemIds.secret(8)}@example.com` });
  api = apiClient(server.url, (await server.createKey(account)).key);
});

async function create(fields: object = {}) {
  const created = await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"], ...fields });
  expect(created.status).toBe(201);
  return created.json as typeof created.json & { secret: string };
}

const deliveriesOf = async (id: string) => (await api.call("GET", `/api/webhooks/${id}/deliveries`)).json.data;

test("a webhook is created with a secret that is shown once, also where the call is repeated", async () => {
  const key = { "idempotency-key": systemIds.uuid() };
  const body = { url: "https://hooks.example/in", events: ["message.completed"], metadata: { tenant: "7" } };
  const created = await api.call("POST", "/api/webhooks", body, key);
  expect(created.status).toBe(201);
  const { secret, ...shown } = created.json;
  expect(secret).toMatch(/^whsec_/);
  expect(shown).toEqual({
    ...{ id: expect.any(String), ...body, enabled: true, include_content: false, disabled_reason: null },
    ...{ created_at: expect.any(String), updated_at: expect.any(String) },
  } as never);
  const replayed = await api.call("POST", "/api/webhooks", body, key);
  expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  expect(replayed.json).toEqual(shown as never);
  const read = await api.call("GET", `/api/webhooks/${created.json.id}`);
  expect(read.json).toEqual(shown as never);
  expect(read.headers.get("etag")).toBe(created.headers.get("etag"));
  expect((await api.call("GET", "/api/webhooks")).json).toEqual({ data: [shown], next_cursor: null } as never);
});

test("nothing is created of a body that is wrong, and each field at fault is named", async () => {
  const wrong: [body: object, ...params: string[]][] = [
    [{}, "url", "events"],
    [{ url: "http://hooks.example/in", events: ["*"] }, "url"],
    [{ url: "https://10.0.0.1/in", events: ["*"] }, "url"],
    [{ url: "https://user:secret@hooks.example/", events: ["*"] }, "url"],
    [{ url: "ftp://hooks.example", events: [] }, "url", "events"],
    [{ url: "https://hooks.example", events: ["message.unknown"] }, "events.0"],
    [{ url: "https://hooks.example", events: ["*", "*"] }, "events"],
    [{ url: "https://hooks.example", events: ["*"], metadata: {} }, "metadata"],
    [{ url: "https://hooks.example", events: ["*"], secret: "whsec_x" }, "secret"],
    [{ url: "https://hooks.example", events: ["*"], enabled: null }, "enabled"],
  ];
  for (const [body, ...params] of wrong) {
    expectInvalid(await api.call("POST", "/api/webhooks", body), params);
  }
  // So many faults that the others are not named.
  const unknown = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`x${index}`, 1]));
  expect(await api.call("POST", "/api/webhooks", { ...unknown, url: null })).toMatchObject({ status: 400 });
  expect((await api.call("GET", "/api/webhooks")).json.data).toEqual([]);
});

test("only what is sent changes, if it is still what the caller has seen", async () => {
  const { id, secret: _, ...made } = await create();
  const first = await api.call("GET", `/api/webhooks/${id}`);
  const patch = { events: ["budget.reached"], include_content: true, metadata: { plan: "pro" } };
  const changed = await api.call("PATCH", `/api/webhooks/${id}`, { ...patch, created_at: "ignored" });
  expect(changed.json).toEqual({ ...made, id, ...patch, updated_at: expect.any(String) } as never);
  const tag = { "if-match": first.headers.get("etag") ?? "" };
  expectProblem(await api.call("PATCH", `/api/webhooks/${id}`, { enabled: false }, tag), 412, "precondition_failed");
  expectProblem(await api.call("DELETE", `/api/webhooks/${id}`, undefined, tag), 412, "precondition_failed");
  expectInvalid(await api.call("PATCH", `/api/webhooks/${id}`, { url: "http://10.1.2.3/" }), ["url"]);
  const same = await api.call("PATCH", `/api/webhooks/${id}`, patch);
  expect(same.json["updated_at"]).toBe(changed.json["updated_at"]);
  expect((await api.call("DELETE", `/api/webhooks/${id}`)).status).toBe(204);
  expectProblem(await api.call("GET", `/api/webhooks/${id}`), 404, "not_found");
});

test("an account has so many webhooks and no more", async () => {
  for (let made = 0; made < maxWebhooks; made++) await create();
  const body = { url: receiver.url, events: ["*"] };
  expectProblem(await api.call("POST", "/api/webhooks", body), 409, "conflict");
});

test("each call needs its scope, and another account's webhooks and deliveries do not exist", async () => {
  const { embedToken } = await server.createCompanion({}, account);
  const { id } = await create();
  await chat(server.url, embedToken, { message: "Hello" });
  await receiver.have(2);
  const [delivery] = await deliveriesOf(id);
  const calls: [method: string, path: string, scope: "read" | "write", body?: object][] = [
    ["GET", `/api/webhooks/${id}`, "read"],
    ["GET", `/api/webhooks/${id}/deliveries`, "read"],
    ["PATCH", `/api/webhooks/${id}`, "write", {}],
    ["POST", `/api/webhooks/${id}/rotate-secret`, "write"],
    ["POST", `/api/webhooks/${id}/test`, "write"],
    ["POST", `/api/webhooks/${id}/deliveries/${delivery?.id}/retry`, "write"],
    ["DELETE", `/api/webhooks/${id}`, "write"],
  ];
  const stranger = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  const reader = apiClient(server.url, (await server.createKey(account, ["webhooks:read"])).key);
  const writer = apiClient(server.url, (await server.createKey(account, ["webhooks:write"])).key);
  const body = { url: receiver.url, events: ["*"] };
  expectProblem(await reader.call("POST", "/api/webhooks", body), 403, "insufficient_scope");
  expectProblem(await writer.call("GET", "/api/webhooks"), 403, "insufficient_scope");
  expect((await stranger.call("GET", "/api/webhooks")).json.data).toEqual([]);
  for (const [method, path, scope, body] of calls) {
    expectProblem(await stranger.call(method, path, body), 404, "not_found");
    const without = scope === "read" ? writer : reader;
    expectProblem(await without.call(method, path, body), 403, "insufficient_scope");
    expect((await (scope === "read" ? reader : writer).call(method, path, body)).status).toBeLessThan(300);
  }
  for (const bad of ["elsewhere", systemIds.uuid(), "%00"]) {
    expectProblem(await api.call("GET", `/api/webhooks/${bad}`), 404, "not_found");
  }
});

test("a trial is signed, told from others, and answered with what came of it", async () => {
  const { id, secret } = await create({ enabled: false });
  const trial = () => api.call("POST", `/api/webhooks/${id}/test`);
  expect((await trial()).json).toEqual({
    ...{ ok: true, status_code: 204, error: null, duration_ms: expect.any(Number) },
  } as never);
  const [event] = receiver.events;
  expect(event).toMatchObject({ type: "webhook.test", data: { webhook_id: id } });
  expect(new Webhook(secret).verify(event?.body ?? "", event?.headers ?? {})).toMatchObject({ type: "webhook.test" });
  receiver.respond(() => new Response("<html>not this</html>", { status: 302, headers: { location: "/else" } }));
  expect((await trial()).json).toMatchObject({
    ...{ ok: false, status_code: 302, error: "The response had the status 302: redirects are not followed." },
  });
  expect(receiver.events).toHaveLength(2);
  const gone = startWebhookReceiver();
  await gone.close();
  await api.call("PATCH", `/api/webhooks/${id}`, { url: gone.url });
  expect((await trial()).json).toMatchObject({ ok: false, status_code: null, error: expect.stringMatching(/\.$/) });
  expect(await deliveriesOf(id)).toEqual([]);
});

test("after its rotation the new secret signs, and nothing else", async () => {
  const { id, secret } = await create();
  const rotated = await api.call("POST", `/api/webhooks/${id}/rotate-secret`);
  expect(rotated.json).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) });
  await api.call("POST", `/api/webhooks/${id}/test`);
  receiver.verify(receiver.events[0], String(rotated.json["secret"]));
  expect(() => receiver.verify(receiver.events[0], secret)).toThrow();
});

test("deliveries are listed in pages, and one is sent again when somebody asks for it", async () => {
  const { embedToken } = await server.createCompanion({}, account);
  const { id, secret } = await create({ include_content: true });
  receiver.respond(() => new Response("no", { status: 500 }));
  await chat(server.url, embedToken, { message: "Hello" });
  await eventually(async () => (await deliveriesOf(id)).at(-1)?.["status_code"] === 500, { what: "the failure" });
  const [held, failed] = await deliveriesOf(id);
  expect(failed).toMatchObject({
    ...{ type: "conversation.started", state: "waiting", attempts: 1, status_code: 500 },
    ...{ error: "The response had the status 500.", last_attempt_at: expect.any(String) },
  });
  expect(held).toMatchObject({
    ...{ type: "message.completed", state: "waiting", attempts: 0, status_code: null, next_attempt_at: null },
  });
  const paged = await api.call("GET", `/api/webhooks/${id}/deliveries?limit=1`);
  const next = await api.call("GET", `/api/webhooks/${id}/deliveries?limit=1&cursor=${paged.json.next_cursor}`);
  expect([...paged.json.data, ...next.json.data].map((each) => each.id)).toEqual([held?.id ?? "", failed?.id ?? ""]);

  const retry = (delivery: string | undefined) => api.call("POST", `/api/webhooks/${id}/deliveries/${delivery}/retry`);
  expect((await retry(held?.id)).json).toMatchObject({ state: "waiting", attempts: 0, status_code: 500 });
  receiver.respond(null);
  // Outside the order.
  expect((await retry(held?.id)).json).toMatchObject({
    state: "delivered",
    attempts: 1,
    status_code: 204,
    error: null,
  });
  expect((await retry(failed?.id)).json).toMatchObject({ state: "delivered", next_attempt_at: null });
  // Once more, whoever asks.
  expect((await retry(failed?.id)).json).toMatchObject({ state: "delivered" });
  for (const event of receiver.events) receiver.verify(event, secret);
  const [one, again] = receiver.events.filter((event) => event.id === held?.id);
  expect(again?.body).toBe(one?.body ?? "");
  expectProblem(await retry("msg_unknown"), 404, "not_found");
});

test("what was deleted is told of no more, also when somebody asks for it", async () => {
  const { id } = await create({ events: ["conversation.started"] });
  const { embedToken } = await server.createCompanion({}, account);
  receiver.respond(() => new Response("no", { status: 500 }));
  await chat(server.url, embedToken, { message: "Hello" });
  await receiver.have(1);
  const [delivery] = await deliveriesOf(id);
  await api.call("DELETE", `/api/conversations/${delivery?.["conversation_id"]}`);
  expectProblem(await api.call("POST", `/api/webhooks/${id}/deliveries/${delivery?.id}/retry`), 409, "conflict");
  expect((await deliveriesOf(id))[0]).toMatchObject({
    state: "dropped",
    error: "What the event was about has been deleted.",
  });
});

test("whatever is sent, nothing is an error of the server's", async () => {
  const { next: random } = createRandom(36);
  const { id } = await create({ enabled: false });
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const texts = [
    "",
    "\0",
    "\ud800",
    "*",
    "https://[::1",
    "https://x".padEnd(3000, "y"),
    "https://hooks.example/",
    "{{x}}",
    "٠",
  ];
  const value = (depth = 0): unknown => {
    const plain = [null, true, 0, -1, 1e300, 2 ** 53, pick(texts), [], {}];
    if (depth > 3 || random() < 0.6) return pick(plain);
    if (random() < 0.5) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
    return Object.fromEntries([pick(texts), "__proto__", "tenant"].map((name) => [name, value(depth + 1)]));
  };
  const fields = ["url", "events", "enabled", "include_content", "metadata", "secret", "id", "constructor"];
  const good = { url: "https://hooks.example/", events: ["*"], metadata: { tenant: "7" } };
  const paths = [
    "",
    `/${id}`,
    `/${id}/deliveries`,
    `/${id}/deliveries/${pick(["%00", "msg_%00", "a"])}/retry`,
    "/%00",
    "/%ff",
  ];
  const statuses = new Set<number>();
  for (let sent = 0; sent < 600; sent++) {
    const body = { ...(random() < 0.5 ? good : {}), [pick(fields)]: value(), [pick(fields)]: value() };
    const query =
      random() < 0.2
        ? `?${pick(["limit", "cursor", "order"])}=${encodeURIComponent(pick(["0", "x", "\0", "-1"]))}`
        : "";
    const method = pick(["GET", "POST", "PATCH", "PUT"]);
    const isBodiless = method === "GET";
    const { status } = await api.call(method, `/api/webhooks${pick(paths)}${query}`, isBodiless ? undefined : body);
    statuses.add(status);
  }
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
  expect(statuses).toContain(400);
});

test("the audit log says who did what to them, without a secret", async () => {
  const { id, secret } = await create();
  await api.call("PATCH", `/api/webhooks/${id}`, { enabled: false });
  await api.call("POST", `/api/webhooks/${id}/rotate-secret`);
  await api.call("DELETE", `/api/webhooks/${id}`);
  const { text, json } = await api.call("GET", "/api/audit");
  const actions = json.data.filter((entry) => entry["target_id"] === id).map((entry) => entry["action"]);
  expect(actions).toEqual(["webhook.delete", "webhook.rotate_secret", "webhook.update", "webhook.create"]);
  expect(text).not.toContain(secret);
});
