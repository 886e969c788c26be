/** Chat by API key: the public chat for platforms that relay it from their own servers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/lib/clock.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat, readStream } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";

/** By how much the server's clock is ahead. */
let aheadMs = 0;
let server: TestServer;
let account: Awaited<ReturnType<TestServer["createAccount"]>>;
let key: { id: string; key: string };
let owner: ApiClient;

beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_RATE_PER_IP: "4" },
    clock: { ...systemClock, nowMs: () => Date.now() + aheadMs },
  });
  account = await server.createAccount();
  key = await server.createKey(account);
  owner = apiClient(server.url, key.key);
});
afterAll(() => server.close());

const make = (settings: Parameters<TestServer["createCompanion"]>[0] = {}) => server.createCompanion(settings, account);

/** Sends a message with the key, and returns the response when its head is there. */
function send(companion: { id: string }, body: object, secret = key.key): Promise<Response> {
  return fetch(`${server.url}/api/companions/${companion.id}/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const uuid = () => crypto.randomUUID();

describe("a message by key", () => {
  test("gets the same bytes as one through the embed token, is kept, and counts under the calling key", async () => {
    const companion = await make();
    const [session, visitor] = [uuid(), uuid()];
    const body = { message: 'Grüße 🚲 "quoted"', session_id: session, visitor_id: visitor };
    const embedded = await chat(server.url, companion.embedToken, { ...body, session_id: uuid() });
    const relayed = await owner.call("POST", `/api/companions/${companion.id}/chat`, body);
    expect(relayed.text).toBe(embedded.raw);
    expect(readStream(relayed.text).isDone).toBe(true);
    expect(relayed.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(relayed.headers.get("x-session-id")).toBe(session);
    const kept = await owner.call("GET", `/api/companions/${companion.id}/conversations?visitor_id=${visitor}`);
    expect(kept.json.data.map(({ session_id }) => session_id)).toContain(session);
    const usage = await owner.call("GET", `/api/usage?group_by=key&companion_id=${companion.id}`);
    expect(usage.json.data).toMatchObject([
      { key_id: null, messages: 1 },
      { key_id: key.id, messages: 1, input_tokens: 11, output_tokens: 7 },
    ]);
    const quota = await owner.call("GET", `/api/companions/${companion.id}/quota`);
    expect(quota.json).toMatchObject({ used: 2 });
  });

  test("is bound neither to the companion's origins nor to visitors' tokens and addresses", async () => {
    const companion = await make({ allowedOrigins: ["https://shop.example"] });
    for (let index = 0; index < 6; index++) {
      expect((await owner.call("POST", `/api/companions/${companion.id}/chat`, { message: "Hi" })).status).toBe(200);
    }
  });

  test("goes on in the conversation that the visitor began on the website", async () => {
    const companion = await make();
    const [session_id, visitor_id] = [uuid(), uuid()];
    await chat(server.url, companion.embedToken, { message: "I am here", session_id, visitor_id });
    await owner.call("POST", `/api/companions/${companion.id}/chat`, { message: "And now?", session_id, visitor_id });
    const sent = server.mockLlm.requests.at(-1)?.body as { messages: unknown[] };
    expect(sent.messages).toHaveLength(3);
  });

  test("is refused in the contract's order: 401, 403, 404, 415, 413, 400", async () => {
    const companion = await make();
    const path = `/api/companions/${companion.id}/chat`;
    const narrow = await server.createKey(account, ["companions:write"]);
    const stranger = await server.createKey(await server.createAccount());
    const bad = { message: "", session_id: 1 };
    expectProblem(await apiClient(server.url, null).call("POST", path, bad), 401, "unauthorized");
    expectProblem(await apiClient(server.url, narrow.key).call("POST", path, bad), 403, "insufficient_scope");
    expectProblem(await apiClient(server.url, stranger.key).call("POST", path, bad), 404, "not_found");
    expectProblem(
      await owner.call("POST", path, "{}", { "content-type": "text/plain" }),
      415,
      "unsupported_media_type",
    );
    expectProblem(await owner.call("POST", path, `{"message":"${"x".repeat(65_536)}"}`), 413, "payload_too_large");
    expectInvalid(await owner.call("POST", path, bad), ["message", "session_id"]);
    expectInvalid(await owner.call("POST", path, { message: "Hi", resume: true }), ["message_id"]);
    expectProblem(await owner.call("POST", `/api/companions/${uuid()}/chat`, bad), 404, "not_found");
  });

  test("is 404 where the companion is switched off", async () => {
    const companion = await make({ enabled: false });
    const path = `/api/companions/${companion.id}/chat`;
    expectProblem(await owner.call("POST", path, { message: "Hi" }), 404, "not_found");
    expectProblem(await owner.call("GET", `${path}/${uuid()}?session_id=${uuid()}`), 404, "not_found");
  });
});

describe("a visitor for whom the key vouches", () => {
  const visitor = { sub: "user-42", name: "Grace", email: "g@example.com", attributes: { plan: "pro" } };

  test.each(["required", "off"] as const)("counts as verified, stored, told to the model, under %s", async (auth) => {
    const companion = await make({
      visitorAuth: auth,
      systemPrompt: "For {{visitor.name}}, {{visitor.attributes.plan}}.",
    });
    const path = `/api/companions/${companion.id}/chat`;
    const response = await owner.call("POST", path, { message: "Hi", visitor, visitor_id: uuid() });
    expect(response.status).toBe(200);
    const sent = server.mockLlm.requests.at(-1)?.body as { messages: { content: string }[] };
    expect(sent.messages[0]?.content).toBe("For Grace, pro.");
    const found = await owner.call("GET", `/api/conversations?companion_id=${companion.id}&visitor_sub=user-42`);
    expect(found.json.data).toMatchObject([{ visitor_id: null, visitor }]);
    await owner.call("POST", path, { message: "More", visitor, session_id: response.headers.get("x-session-id") });
    const again = server.mockLlm.requests.at(-1)?.body as { messages: unknown[] };
    expect(again.messages).toHaveLength(4);
  });

  test("is held to the day of the companion's visitors", async () => {
    const companion = await make({ dailyPerVisitor: 1 });
    const path = `/api/companions/${companion.id}/chat`;
    expect((await owner.call("POST", path, { message: "Hi", visitor: { sub: "a" } })).status).toBe(200);
    expectProblem(await owner.call("POST", path, { message: "Hi", visitor: { sub: "a" } }), 429, "quota_exceeded");
    expect((await owner.call("POST", path, { message: "Hi", visitor: { sub: "b" } })).status).toBe(200);
  });

  test("must keep the rules of a token's claims", async () => {
    const companion = await make();
    const say = (sent: unknown) =>
      owner.call("POST", `/api/companions/${companion.id}/chat`, { message: "Hi", visitor: sent });
    for (const sub of ["", ".", "..", "x".repeat(256), "a\0b", 7, undefined])
      expectInvalid(await say({ sub }), ["visitor.sub"]);
    expectInvalid(await say({ sub: "a", attributes: { text: "x".repeat(2048) } }), ["visitor.attributes"]);
    expectInvalid(await say({ sub: "a", attributes: { "a\0": 1 } }), ["visitor.attributes"]);
    expectInvalid(await say({ sub: "a", name: 1, email: "\ud800" }), ["visitor.name", "visitor.email"]);
    expect((await say({ sub: "🚲".repeat(255), attributes: null })).status).toBe(200);
  });

  test("is required where the companion asks who its visitors are", async () => {
    const companion = await make({ visitorAuth: "required" });
    expectInvalid(await owner.call("POST", `/api/companions/${companion.id}/chat`, { message: "Hi" }), ["visitor"]);
  });
});

describe("the limits of chats by key", () => {
  test("are a window for each visitor_id or sub, told in the headers, and none without", async () => {
    const companion = await make();
    const path = `/api/companions/${companion.id}/chat`;
    const visitor_id = uuid();
    for (let index = 0; index < 4; index++) {
      const sent = await owner.call("POST", path, { message: "Hi", visitor_id });
      expect(sent.status).toBe(200);
      expect(sent.headers.get("ratelimit-policy")).toBe('"chat";q=1000000;w=60, "visitor";q=4;w=60');
      expect(sent.headers.get("ratelimit")).toMatch(/^"chat";r=\d+;t=\d+, "visitor";r=[0-3];t=\d+$/);
    }
    const refused = expectProblem(await owner.call("POST", path, { message: "Hi", visitor_id }), 429, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.has("x-session-id")).toBe(true);
    // A decision on a call begins a reply as well.
    const decide = (by: object) =>
      owner.call("POST", `/api/companions/${companion.id}/confirmations/${uuid()}`, {
        ...{ approve: true, session_id: uuid(), ...by },
      });
    expectProblem(await decide({ visitor_id }), 429, "rate_limited");
    expectProblem(await decide({ visitor_id: uuid() }), 404, "not_found");
    // The same name as a sub is another visitor, and so is the same visitor of another companion.
    expect((await owner.call("POST", path, { message: "Hi", visitor: { sub: visitor_id } })).status).toBe(200);
    const other = await make();
    expect((await owner.call("POST", `/api/companions/${other.id}/chat`, { message: "Hi", visitor_id })).status).toBe(
      200,
    );
    const unnamed = await owner.call("POST", path, { message: "Hi" });
    expect(unnamed.headers.get("ratelimit-policy")).toBe('"chat";q=1000000;w=60');
  });

  test("are a window of the key's own, beside its management calls", async () => {
    const limited = await startTestServer({
      environment: { COMPANIOND_CHAT_RATE_PER_KEY: "2", COMPANIOND_RATE_PER_KEY: "3" },
    });
    try {
      const someone = await limited.createAccount();
      const companion = await limited.createCompanion({}, someone);
      const narrow = apiClient(limited.url, (await limited.createKey(someone, ["companions:read"])).key);
      const path = `/api/companions/${companion.id}/chat`;
      // The window comes before the scope.
      expectProblem(await narrow.call("POST", path, {}), 403, "insufficient_scope");
      expectProblem(await narrow.call("POST", path, {}), 403, "insufficient_scope");
      expectProblem(await narrow.call("POST", path, {}), 429, "rate_limited");
      for (let index = 0; index < 3; index++) expect((await narrow.call("GET", "/api/companions")).status).toBe(200);
      expectProblem(await narrow.call("GET", "/api/companions"), 429, "rate_limited");
    } finally {
      await limited.close();
    }
  });
});

describe("the streams of a key", () => {
  /** A reply that runs until something ends it. */
  async function begin(secret: string, settings = {}) {
    const companion = await make(settings);
    const response = await send(companion, { message: "[[silence:3]]" }, secret);
    expect(response.status).toBe(200);
    return { companion, rest: response.text() };
  }

  test("end within a second when it is revoked: `: error unavailable`, no [DONE]", async () => {
    const brief = await server.createKey(account);
    const { rest } = await begin(brief.key);
    await owner.call("DELETE", `/api/keys/${brief.id}`);
    const raw = await rest;
    expect(raw).toEndWith(": error unavailable\n\n");
    expect(readStream(raw).isDone).toBe(false);
  });

  test("end when it expires, without any change in the store", async () => {
    const brief = await owner.call("POST", "/api/keys", {
      name: "brief",
      scopes: ["chat:write"],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const { rest } = await begin(brief.json.key);
    aheadMs = 3_600_000;
    expect(await rest).toEndWith(": error unavailable\n\n");
    aheadMs = 0;
  });

  test("end when the companion is switched off", async () => {
    const { companion, rest } = await begin(key.key);
    await owner.call("PATCH", `/api/companions/${companion.id}`, { enabled: false });
    expect(await rest).toEndWith(": error unavailable\n\n");
  });

  test("can be left, followed and stopped under the message's name, by the platform's name for the visitor", async () => {
    const companion = await make();
    const [session_id, message_id] = [uuid(), uuid()];
    const visitor = { sub: "user 7/ä" };
    const sent = { message: "[[silence:3]]", session_id, message_id, visitor, resume: true };
    const first = await send(companion, sent);
    const reader = first.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const place = `/api/companions/${companion.id}/chat/${message_id}?session_id=${session_id}`;
    const named = `${place}&visitor_sub=${encodeURIComponent(visitor.sub)}`;
    expectProblem(await owner.call("GET", place), 404, "not_found");
    expectProblem(await owner.call("GET", `${place}&visitor_sub=other`), 404, "not_found");
    expectInvalid(await owner.call("GET", `${named}&offset=9999`), ["offset"]);
    expectInvalid(await owner.call("GET", `${named}&nonsense=1`), ["nonsense"]);
    const followed = fetch(`${server.url}${named}&offset=4`, { headers: { authorization: `Bearer ${key.key}` } });
    await eventually(async () => (await followed).status === 200);
    expect((await owner.call("DELETE", named)).status).toBe(204);
    const raw = await (await followed).text();
    expect(raw).toMatch(/^: ping\n\nid: \d+\ndata: /);
    expect(raw).toEndWith(": error cancelled\n\n");
    expectProblem(
      await owner.call("POST", `/api/companions/${companion.id}/chat`, { ...sent, message: "Other" }),
      409,
      "conflict",
    );
  });

  test("answer a repeated message from the store, without another call to the provider", async () => {
    const companion = await make();
    const sent = { message: "Once", session_id: uuid(), message_id: uuid() };
    const first = await owner.call("POST", `/api/companions/${companion.id}/chat`, sent);
    const calls = server.mockLlm.requests.length;
    const second = await owner.call("POST", `/api/companions/${companion.id}/chat`, sent);
    expect(readStream(second.text).texts.join("")).toBe(readStream(first.text).texts.join(""));
    expect(server.mockLlm.requests).toHaveLength(calls);
  });
});

test("a suspended account's chats by key are 401", async () => {
  const someone = await server.createAccount();
  const companion = await server.createCompanion({}, someone);
  const { key: secret } = await server.createKey(someone);
  await server.services.store.accounts.update(someone.id, { suspendedAt: Date.now() }, testContext());
  expect((await send(companion, { message: "Hi" }, secret)).status).toBe(401);
});
