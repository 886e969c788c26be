/** Holds who is a verified visitor, and that nobody else reads, continues or ends what one has said. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { routes } from "../../src/app/routes.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { VisitorAuth } from "../../src/domain/visitor.ts";
import { isEmbedAccess } from "../../src/http/api-description.ts";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer } from "../support/app.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";
import { createWebsiteKey, signToken, type WebsiteKey } from "../support/visitor-keys.ts";

let world: VerifiedWorld;
beforeAll(async () => {
  world = await openVerifiedWorld();
});
afterAll(() => world.server.close());

const uuid = () => crypto.randomUUID();

/** Requests of every embed route, with paths that lead to nothing. */
const embedCalls = routes
  .filter(({ access }) => isEmbedAccess(access))
  .map(({ id, method, path }) => ({
    id,
    method,
    path: path.replace("/api/embed/{token}", "").replace(/\{\w+\}/g, "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"),
    body: method === "GET" || method === "DELETE" ? undefined : { message: "Hello", session_id: uuid() },
  }));

test("a companion that requires verified visitors refuses others on every embed route but its configuration", async () => {
  const { server, key, sign, embed, addCompanion } = world;
  const companion = await addCompanion({ visitorAuth: "required" });
  const asked = new Set<string>();
  for (const { id, method, path, body } of embedCalls) {
    for (const token of [null, "", "nonsense", await sign("ada")]) {
      const response = await embed(method, path, token, body, companion);
      if (id === "getEmbedConfig") {
        expect(response.status).toBe(200);
        continue;
      }
      expectProblem(response, 401, "visitor_unverified");
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      // Who listens has a window of their own.
      expect(response.headers.get("ratelimit")).toMatch(/^"(ip|live)";r=\d+;t=\d+$/);
      asked.add(id);
    }
  }
  expect(asked.size).toBeGreaterThanOrEqual(5);
  const own = await signToken(key, companion.id, { sub: "ada" });
  const answered = await embed("POST", "/chat", own, { message: "Hello" }, companion);
  expect(answered.text).toEndWith("data: [DONE]\n\n");
  // These the listener leaves to the router.
  expect((await embed("GET", "/", "nonsense", undefined, companion)).status).toBe(200);
  expect((await fetch(`${server.url}/api/embed/${companion.embedToken}`, { method: "HEAD" })).status).toBe(200);
});

test("with optional, a visitor without a token is anonymous, and one with a bad token is refused", async () => {
  const body = { message: "Hello" };
  for (const token of [null, ""]) expect((await world.say(token, body)).isDone).toBe(true);
  expect((await world.say(await world.sign("ada"), body)).isDone).toBe(true);
  for (const token of ["x", "a.b.c", await world.sign("ada", { aud: uuid() })]) {
    const refused = await world.embed("POST", "/chat", token, body);
    expectProblem(refused, 401, "visitor_unverified");
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  }
});

test("with off, nobody looks at a token, and nobody is verified", async () => {
  const companion = await world.addCompanion({ visitorAuth: "off", systemPrompt: "You speak to {{visitor.name}}." });
  const good = await signToken(world.key, companion.id, { sub: "ada", name: "Ada" });
  for (const token of [good, "nonsense"]) {
    const answered = await world.embed("POST", "/chat", token, { message: "Hello" }, companion);
    expect(answered.text).toEndWith("data: [DONE]\n\n");
    expect(world.lastPrompt()[0]?.content).toBe("You speak to {{visitor.name}}.");
    const listed = await world.embed("GET", "/conversations", token, undefined, companion);
    expectProblem(listed, 401, "visitor_unverified");
  }
});

test("a revoked key opens nothing on the next request, while the other one goes on", async () => {
  const { server, companion, owner, key, sign, embed } = await openVerifiedWorld({}, async () => world.server);
  const token = await sign("ada");
  expect((await embed("GET", "/conversations", token)).status).toBe(200);
  const { key: apiKey } = await server.createKey(
    (await server.services.store.accounts.list()).find(({ id }) => id === companion.accountId) ?? expect.unreachable(),
  );
  const second = await createWebsiteKey(server.url, apiKey, "EdDSA");
  const unnamed = await signToken(second, companion.id, { sub: "ada" }, { keyId: null });
  expectProblem(await embed("GET", "/conversations", unnamed), 401, "visitor_unverified");
  expect((await owner.call("DELETE", `/api/visitor-keys/${key.id}`)).status).toBe(204);
  expectProblem(await embed("GET", "/conversations", token), 401, "visitor_unverified");
  expect((await embed("GET", "/conversations", unnamed)).status).toBe(200);
});

test("another account's key signs for nobody here", async () => {
  const { server, companion, embed } = world;
  const { key } = await server.createKey(await server.createAccount({ email: `${uuid()}@example.com` }));
  const foreign = await createWebsiteKey(server.url, key);
  const token = await signToken(foreign, companion.id, { sub: "ada" });
  expectProblem(await embed("GET", "/conversations", token), 401, "visitor_unverified");
});

test("a customer's key vouches for that customer's companions alone, as they are at the time of the request", async () => {
  const { server, embed } = world;
  const account = await server.createAccount({ email: `${uuid()}@example.com` });
  const { key: apiKey } = await server.createKey(account);
  const owner = apiClient(server.url, apiKey);
  const add = (metadata: JsonObject) => server.createCompanion({ visitorAuth: "required", metadata }, account);
  const seven = await add({ tenant: { id: 7 }, plan: "pro" });
  const eight = await add({ tenant: { id: 8 } });
  const [ofSeven, ofEight] = [
    await createWebsiteKey(server.url, apiKey, "HS256", { "tenant.id": "7" }),
    await createWebsiteKey(server.url, apiKey, "EdDSA", { "tenant.id": 8 }),
  ];
  const isVerified = async (of: typeof seven, key: WebsiteKey, keyId: string | null = key.id) => {
    const token = await signToken(key, of.id, { sub: "ada" }, { keyId });
    const response = await embed("GET", "/conversations", token, undefined, of);
    if (response.status !== 200) expectProblem(response, 401, "visitor_unverified");
    return response.status === 200;
  };
  for (const named of [undefined, null]) {
    expect([await isVerified(seven, ofSeven, named), await isVerified(eight, ofEight, named)]).toEqual([true, true]);
    expect([await isVerified(seven, ofEight, named), await isVerified(eight, ofSeven, named)]).toEqual([false, false]);
  }
  // One token may name several companions: it opens those of its key.
  const both = await signToken(ofSeven, seven.id, { sub: "ada", aud: [seven.id, eight.id] });
  expect((await embed("GET", "/conversations", both, undefined, seven)).status).toBe(200);
  expectProblem(await embed("GET", "/conversations", both, undefined, eight), 401, "visitor_unverified");

  const moved = await owner.call("PATCH", `/api/companions/${seven.id}`, { metadata: { tenant: { id: 8 } } });
  expect(moved.status).toBe(200);
  expect([await isVerified(seven, ofSeven), await isVerified(seven, ofSeven, null)]).toEqual([false, false]);
  expect([await isVerified(seven, ofEight), await isVerified(seven, ofEight, null)]).toEqual([true, true]);

  // The platform's own key covers all: now there is something to choose.
  const platform = await createWebsiteKey(server.url, apiKey);
  for (const of of [seven, eight]) expect(await isVerified(of, platform)).toBe(true);
  expect([await isVerified(eight, platform, null), await isVerified(eight, ofEight, null)]).toEqual([false, false]);
  expect(await isVerified(eight, ofEight)).toBe(true);
});

test("is refused after the origin, and before the token's window", async () => {
  const limited = await openVerifiedWorld({ visitorAuth: "required", allowedOrigins: ["https://shop.example"] }, () =>
    startTestServer({ environment: { COMPANIOND_RATE_PER_TOKEN: "1" } }),
  );
  const { server, companion } = limited;
  const ask = async (headers: Record<string, string>) => {
    const response = await fetch(`${server.url}/api/embed/${companion.embedToken}/conversations`, { headers });
    await response.text();
    return response.status;
  };
  const origin = "https://shop.example";
  expect(await ask({ origin: "https://other.example" })).toBe(403);
  for (let i = 0; i < 3; i++) expect(await ask({ origin })).toBe(401);
  expect(await ask({ origin, "x-visitor-token": await limited.sign("ada") })).toBe(200);
  expect(await ask({ origin, "x-visitor-token": await limited.sign("ada") })).toBe(429);
  expect(await ask({ origin })).toBe(401);
  await server.close();
});

test("browsers may send the token, and read why it was refused", async () => {
  const { server, companion } = world;
  const url = `${server.url}/api/embed/${companion.embedToken}/conversations`;
  for (const method of ["GET", "DELETE"]) {
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin: "https://shop.example",
        "access-control-request-method": method,
        "access-control-request-headers": "x-visitor-token",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("X-Visitor-Token");
    expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
  }
  const refused = await fetch(url, { headers: { origin: "https://shop.example" } });
  await refused.text();
  expect(refused.headers.get("access-control-allow-origin")).toBe("https://shop.example");
  expect(refused.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
});

describe("what a verified visitor has said", () => {
  const sub = "customer-7";
  const [session_id, visitor_id] = [uuid(), uuid()];
  const secret = "My secret is four one seven.";
  let conversationId = "";

  beforeAll(async () => {
    const { isDone } = await world.say(await world.sign(sub), { message: secret, session_id, visitor_id });
    expect(isDone).toBe(true);
    const { data } = (await world.embed("GET", "/conversations", await world.sign(sub))).json;
    conversationId = data[0]?.id ?? "";
  });

  const prompts = () => JSON.stringify(world.lastPrompt());

  test("is theirs to read, in pages, without what it cost", async () => {
    const token = await world.sign(sub);
    const listed = await world.embed("GET", "/conversations", token);
    const conversation = {
      id: conversationId,
      session_id,
      message_count: 2,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect(listed.json).toEqual<unknown>({ data: [conversation], next_cursor: null });
    expect(listed.headers.get("cache-control")).toBe("no-store");
    const read = await world.embed("GET", `/conversations/${conversationId}`, token);
    const message = { id: expect.any(String), channel: "text", complete: true, created_at: expect.any(String) };
    expect(read.json).toEqual<unknown>({
      ...conversation,
      messages: [
        { ...message, role: "user", text: secret },
        { ...message, role: "assistant", text: `You said: ${secret}` },
      ],
      messages_next_cursor: null,
    });
    expect(read.headers.get("cache-control")).toBe("no-store");
    const page = await world.embed("GET", `/conversations/${conversationId}?messages_limit=1`, token);
    expect(page.json).toMatchObject({ messages: [{ role: "assistant" }], messages_next_cursor: expect.any(String) });
  });

  test("is continued by them in any browser, whatever visitor_id it sends", async () => {
    const { isDone } = await world.say(await world.sign(sub), { message: "And?", session_id, visitor_id: uuid() });
    expect(isDone).toBe(true);
    expect(prompts()).toContain(secret);
  });

  test.each([
    ["without a token", async () => null],
    ["with another visitor's token", () => world.sign("customer-8")],
    ["with a sub that only looks the same", () => world.sign(`${sub} `)],
  ])("is neither read nor continued %s by one who knows every id", async (_, makeToken) => {
    const token = await makeToken();
    await world.say(token, { message: "What was my secret?", session_id, visitor_id });
    expect(prompts()).not.toContain(secret);
    await world.say(token, { message: "And now?", session_id, visitor_id: null });
    expect(prompts()).not.toContain(secret);
    const read = await world.embed("GET", `/conversations/${conversationId}`, token);
    if (token === null) expectProblem(read, 401, "visitor_unverified");
    else expectProblem(read, 404, "not_found");
    const listed = await world.embed("GET", "/conversations", token);
    expect(listed.text).not.toContain(conversationId);
  });

  test("is answered, followed and stopped with their token alone", async () => {
    const [session, message_id] = [uuid(), uuid()];
    const body = { message: "Count to three.", session_id: session, message_id };
    expect((await world.say(await world.sign(sub), { ...body, visitor_id })).isDone).toBe(true);
    const path = `/chat/${message_id}?session_id=${session}`;
    for (const token of [null, await world.sign("customer-8")]) {
      for (const query of ["", `&visitor_id=${visitor_id}`, `&visitor_id=${sub}`]) {
        expectProblem(await world.embed("GET", path + query, token), 404, "not_found");
        expectProblem(await world.embed("DELETE", path + query, token), 404, "not_found");
      }
      // Not the same message: it is one of their own, and tells nothing of the other.
      const { isDone } = await world.say(token, { ...body, message: "What was it?", visitor_id });
      expect(isDone).toBe(true);
      expect(JSON.stringify(world.lastPrompt())).not.toContain("Count to three.");
    }
    const whole = await world.embed("GET", `${path}&visitor_id=${uuid()}`, await world.sign(sub));
    expect(whole.text).toContain("Count");
    expect((await world.embed("DELETE", path, await world.sign(sub))).status).toBe(204);
  });

  test("is not found by its stored visitor's name either", async () => {
    const id = await world.server.services.visitors.findId(world.companion.accountId, sub);
    for (const guess of [id, sub, `sub:${sub}`]) {
      const refused = await world.embed("POST", "/chat", null, { message: "Hi", session_id, visitor_id: guess });
      expectProblem(refused, 400, "invalid_request");
      const merged = await world.embed("POST", "/visitor/merge", await world.sign("customer-8"), {
        session_id,
        visitor_id: guess,
      });
      expectProblem(merged, 400, "invalid_request");
    }
  });

  test("belongs to its companion, and a token for another one of the account opens nothing there", async () => {
    const other = await world.addCompanion();
    const token = await signToken(world.key, other.id, { sub });
    expect((await world.embed("GET", "/conversations", token, undefined, other)).json.data).toEqual([]);
    const read = await world.embed("GET", `/conversations/${conversationId}`, token, undefined, other);
    expectProblem(read, 404, "not_found");
    for (const id of ["nonsense", "%00", uuid()]) {
      expectProblem(await world.embed("GET", `/conversations/${id}`, await world.sign(sub)), 404, "not_found");
    }
  });

  test("is listed for its owner under the visitor's name", async () => {
    const claims = { name: "Ada", email: "ada@shop.example", attributes: { plan: "pro" } };
    const session = uuid();
    await world.say(await world.sign("listed/1", claims), { message: "Hello", session_id: session });
    const shown = { session_id: session, visitor_id: null, visitor: { sub: "listed/1", ...claims } };
    for (const path of ["/api/conversations", `/api/companions/${world.companion.id}/conversations`]) {
      const { data } = (await world.owner.call("GET", `${path}?visitor_sub=listed%2F1`)).json;
      expect(data).toHaveLength(1);
      expect(data[0]).toMatchObject(shown);
      const both = await world.owner.call("GET", `${path}?visitor_sub=listed%2F1&visitor_id=${uuid()}`);
      expect(both.json.data).toEqual([]);
      expect((await world.owner.call("GET", `${path}?visitor_sub=nobody`)).json.data).toEqual([]);
      for (const wrong of ["", "%00", "x".repeat(256)]) {
        expectProblem(await world.owner.call("GET", `${path}?visitor_sub=${wrong}`), 400, "invalid_request");
      }
    }
    const [found] = (await world.owner.call("GET", "/api/conversations?visitor_sub=listed%2F1")).json.data;
    expect((await world.owner.call("GET", `/api/conversations/${found?.id}`)).json).toMatchObject(shown);
    // The latest token decides what is known.
    await world.say(await world.sign("listed/1", { name: "Grace" }), { message: "Hello", session_id: session });
    expect((await world.owner.call("GET", `/api/conversations/${found?.id}`)).json["visitor"]).toEqual({
      ...{ sub: "listed/1", name: "Grace", email: null, attributes: {} },
    });
  });
});

test("what is known of a visitor reaches the model where the instructions name it, and nowhere else", async () => {
  const systemPrompt = "You speak to <{{visitor.name}}>, on <{{visitor.attributes.plan}}>.";
  const companion = await world.addCompanion({ systemPrompt });
  const claims = { name: "{{visitor.email}} $& $1", email: "ada@shop.example", attributes: { plan: "pro" } };
  const token = await signToken(world.key, companion.id, { sub: "ada", ...claims });
  await world.embed("POST", "/chat", token, { message: "Hello" }, companion);
  expect(world.lastPrompt()).toEqual([
    { role: "system", content: "You speak to <{{visitor.email}} $& $1>, on <pro>." },
    { role: "user", content: "Hello" },
  ]);
  await world.embed("POST", "/chat", null, { message: "Hello" }, companion);
  expect(world.lastPrompt()[0]?.content).toBe("You speak to <>, on <>.");
  await world.owner.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "Hello" });
  expect(world.lastPrompt()[0]?.content).toBe("You speak to <>, on <>.");
});

test("estimates count the instructions as the model got them", async () => {
  const companion = await world.addCompanion({ systemPrompt: "{{visitor.attributes.long}}" });
  const token = await signToken(world.key, companion.id, { sub: "long", attributes: { long: "x".repeat(2000) } });
  await world.embed("POST", "/chat", token, { message: "[[nousage]]" }, companion);
  const [found] = (await world.owner.call("GET", `/api/companions/${companion.id}/conversations`)).json.data;
  const { messages } = (await world.owner.call("GET", `/api/conversations/${found?.id}`)).json;
  expect(messages).toMatchObject([{}, { tokens_estimated: true, input_tokens: 500 + Math.ceil(11 / 4) }]);
});

test("anonymous conversations are what they were", async () => {
  const [session_id, visitor_id] = [uuid(), uuid()];
  await world.say(null, { message: "I am nobody.", session_id, visitor_id });
  await world.say(null, { message: "Who am I?", session_id, visitor_id });
  expect(JSON.stringify(world.lastPrompt())).toContain("I am nobody.");
  const { data } = (await world.owner.call("GET", `/api/conversations?visitor_id=${visitor_id}`)).json;
  expect(data).toMatchObject([{ session_id, visitor_id, visitor: null, message_count: 4 }]);
});

test.each(["optional", "required"] as VisitorAuth[])(
  "under %s the lists are for verified visitors",
  async (visitorAuth) => {
    const { embed, sign } = await openVerifiedWorld({ visitorAuth }, async () => world.server);
    expectProblem(await embed("GET", "/conversations", null), 401, "visitor_unverified");
    expect((await embed("GET", "/conversations?limit=1", await sign("ada"))).json).toEqual<unknown>({
      data: [],
      next_cursor: null,
    });
    expectProblem(await embed("GET", "/conversations?limit=0", await sign("ada")), 400, "invalid_request");
  },
);
