/** Visitors that a website vouches for: the SDK's tokens, whose ids it keeps, and what it forgets. */
import { expect, test } from "bun:test";
import { createCompanion } from "../../src/web/sdk/index.ts";
import { createReplyServer, type ReplyServer, refuse } from "../support/reply-server.ts";
import { openMemory } from "../support/sdk-world.ts";
import { openVerifiedWorld } from "../support/verified-world.ts";

const hour = 3_600;

/** What a website's server would sign; the SDK reads it and does not verify it. */
function makeToken(sub: string, secondsLeft = hour, mark = ""): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "HS256" })}.${part({ sub, exp: Math.floor(Date.now() / 1000) + secondsLeft, mark })}.signature`;
}

function openWorld() {
  const server = createReplyServer(["Hello."]);
  server.fate = ({ path }) => {
    if (path === "/visitor/merge") return new Response(null, { status: 204 });
    if (path === "/conversations") return Response.json({ data: [{ id: "c" }], next_cursor: null });
    if (path === "/conversations/c") return Response.json({ id: "c", messages: [] });
    if (path === "/voice-token") return Response.json({ signed_url: "wss://x", agent_id: "a" });
    return path === "" ? Response.json({ name: "Ada" }) : null;
  };
  const storage = openMemory();
  const open = (timeoutMs = 5000) =>
    createCompanion({ baseUrl: "http://server.invalid", token: "t", storage, timeoutMs, fetch: server.fetch });
  return { server, storage, open };
}

async function read(reply: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const fragment of reply) text += fragment;
  return text;
}

const pathsOf = ({ requests }: ReplyServer) => requests.map(({ path }) => path);
const tokensOf = ({ requests }: ReplyServer) => requests.map(({ headers }) => headers.get("x-visitor-token"));

test("the token goes with every request but the configuration", async () => {
  const { server, open } = openWorld();
  const companion = open();
  const token = makeToken("ada");
  companion.identify(token);
  await companion.config();
  await read(companion.chat("hi"));
  for await (const _ of companion.chat("stop")) break;
  await companion.voice();
  expect((await companion.conversations({ limit: 1 })).data).toHaveLength(1);
  expect((await companion.conversation("c")).messages).toEqual([]);
  expect(tokensOf(server)).toEqual([null, ...Array(server.requests.length - 1).fill(token)]);
  expect(pathsOf(server)).toContain("/voice-token");
  expect(server.requests.some(({ method }) => method === "DELETE")).toBe(true);
});

test("a function is asked when it is needed, once for all who wait, and anew before its token ends", async () => {
  const { open } = openWorld();
  const companion = open();
  const lives = [hour, 59, hour];
  let asked = 0;
  companion.identify(async () => makeToken("ada", lives[asked++] ?? 0, String(asked)));
  await companion.config();
  expect(asked).toBe(0);
  await Promise.all([companion.voice(), companion.voice(), companion.conversations(), read(companion.chat("hi"))]);
  await companion.voice();
  expect(asked).toBe(1);

  companion.identify(async () => makeToken("ada", lives[asked++] ?? 0, String(asked)));
  await companion.voice();
  expect(asked).toBe(2);
  // Less than a minute is left of this one.
  await companion.voice();
  expect(asked).toBe(3);
});

test("a function that fails, or takes too long, is a clear error, and asked again by the next request", async () => {
  const { server, open } = openWorld();
  const companion = open(20);
  const cause = new Error("signed out");
  const signIn = () => Promise.resolve("<!doctype html>\n<title>Sign in</title>");
  const sources = [() => Promise.reject(cause), signIn, () => new Promise<string>(() => {})];
  companion.identify(() => sources.shift()?.() ?? `${makeToken("ada")}\n`);
  await expect(companion.voice()).rejects.toMatchObject({ name: "CompanionError", code: "identify_failed", cause });
  await expect(companion.voice()).rejects.toMatchObject({ code: "identify_failed" });
  await expect(read(companion.chat("hi"))).rejects.toMatchObject({ code: "identify_failed" });
  expect(server.requests).toEqual([]);
  await companion.voice();
});

test("a token that the server refuses is asked for once more, and then the refusal is thrown", async () => {
  const { server, open } = openWorld();
  const companion = open();
  const fate = server.fate;
  let good = "2";
  server.fate = (request, index) => {
    const { mark } = JSON.parse(atob(request.headers.get("x-visitor-token")?.split(".")[1] ?? ""));
    return mark === good ? fate(request, index) : refuse(401, "visitor_unverified");
  };
  let asked = 0;
  companion.identify(() => makeToken("ada", hour, String(++asked)));
  expect(await read(companion.chat("hi"))).toBe("Hello.");
  good = "none";
  await expect(companion.voice()).rejects.toMatchObject({ code: "visitor_unverified", status: 401 });
  expect(asked).toBe(3);
  companion.identify(makeToken("ada", hour, "fixed"));
  const before = server.requests.length;
  await expect(companion.voice()).rejects.toMatchObject({ code: "visitor_unverified" });
  expect(server.requests.length).toBe(before + 1);
});

test("what an anonymous visitor said is taken along before anything else is asked, once", async () => {
  const { server, open } = openWorld();
  const companion = open();
  await read(companion.chat("hi"));
  const { sessionId, visitorId } = companion;
  companion.identify(() => makeToken("ada"));
  await read(companion.chat("and again"));
  const known = open();
  known.identify(makeToken("ada"));
  await read(known.chat("on another page"));
  expect(pathsOf(server)).toEqual(["/chat", "/visitor/merge", "/chat", "/chat"]);
  expect(server.requests[1]?.body).toEqual({ session_id: sessionId, visitor_id: visitorId });
  expect(known.sessionId).toBe(sessionId);
});

test("a merge that fails keeps the message back, so that nothing is lost; a server that verifies nobody is no failure", async () => {
  const { server, open } = openWorld();
  const companion = open();
  await read(companion.chat("hi"));
  const fate = server.fate;
  const refused = (response: () => Response) => {
    server.fate = (request, index) => (request.path === "/visitor/merge" ? response() : fate(request, index));
  };
  companion.identify(makeToken("ada"));
  refused(() => refuse(500, "internal"));
  await expect(read(companion.chat("one"))).rejects.toMatchObject({ code: "internal" });
  refused(() => refuse(401, "visitor_unverified"));
  expect(await read(companion.chat("two"))).toBe("Hello.");
  expect(pathsOf(server)).toEqual(["/chat", "/visitor/merge", "/visitor/merge", "/chat"]);
});

test("another visitor in the same browser finds nothing of the one before", async () => {
  const { server, storage, open } = openWorld();
  const companion = open();
  companion.identify(makeToken("ada"));
  await read(companion.chat("hi"));
  const before = [...storage.kept.values()];
  companion.identify(() => makeToken("bob"));
  await read(companion.chat("hi"));
  const [first, second] = server.requests;
  expect(second?.body.session_id).not.toBe(first?.body.session_id);
  expect(pathsOf(server)).toEqual(["/chat", "/chat"]);
  expect([...storage.kept.values()].filter((value) => before.includes(value))).toEqual([]);
});

test("null forgets everything, leaves the reply under way, and begins with new ids", async () => {
  const { server, storage, open } = openWorld();
  const companion = open();
  companion.identify(makeToken("ada"));
  const reply = companion.chat("hi");
  await reply.next();
  const { sessionId, visitorId } = companion;
  expect(companion.pending).not.toBeNull();
  companion.identify(null);
  await expect(reply.next()).rejects.toHaveProperty("name", "AbortError");
  expect([...storage.kept]).toEqual([]);
  expect(companion.pending).toBeNull();
  expect(companion.sessionId).not.toBe(sessionId);
  expect(companion.visitorId).not.toBe(visitorId);
  await read(companion.chat("as nobody"));
  expect(server.requests.at(-1)?.headers.has("x-visitor-token")).toBe(false);
  expect(server.requests.some(({ method }) => method === "DELETE")).toBe(false);
});

test("a function that returns null says that nobody is signed in: what an anonymous visitor said stays, and is taken along later", async () => {
  const { server, storage, open } = openWorld();
  const companion = open();
  await read(companion.chat("hi"));
  const kept = [...storage.kept];
  let user: string | null = null;
  let asked = 0;
  companion.identify(async () => {
    asked++;
    return user && makeToken(user);
  });
  await companion.ready();
  expect(await read(companion.chat("still nobody"))).toBe("Hello.");
  await companion.voice();
  expect(tokensOf(server)).toEqual([null, null, null]);
  expect([...storage.kept]).toEqual(kept);
  expect(asked).toBe(1);

  const { sessionId, visitorId } = companion;
  user = "ada";
  companion.identify(async () => makeToken("ada"));
  await read(companion.chat("signed in"));
  expect(server.requests.find(({ path }) => path === "/visitor/merge")?.body).toEqual({
    session_id: sessionId,
    visitor_id: visitorId,
  });
  expect(companion.sessionId).toBe(sessionId);
});

test("after a known visitor, a function that returns null signs out: everything is forgotten, and what follows is nobody's", async () => {
  const { server, storage, open } = openWorld();
  const companion = open();
  let user: string | null = "ada";
  // Asked anew by each request.
  companion.identify(() => user && makeToken(user, 59));
  const reply = companion.chat("hi");
  await reply.next();
  const { sessionId, visitorId } = companion;
  user = null;
  expect(await read(companion.chat("as nobody"))).toBe("Hello.");
  await expect(reply.next()).rejects.toHaveProperty("name", "AbortError");
  const [, last] = server.requests.filter(({ path }) => path === "/chat");
  expect(last?.headers.has("x-visitor-token")).toBe(false);
  expect([last?.body.session_id, last?.body.visitor_id]).toEqual([companion.sessionId, companion.visitorId]);
  expect([companion.sessionId, companion.visitorId]).not.toContain(sessionId);
  expect([companion.sessionId, companion.visitorId]).not.toContain(visitorId);
  expect([...storage.kept.keys()].join()).not.toContain("sub");
});

test("where another tab has signed somebody in or out, the function is asked before the next request", async () => {
  const { server, open } = openWorld();
  const [tab, other] = [open(), open()];
  let user: string | null = null;
  const source = () => user && makeToken(user);
  tab.identify(source);
  await read(tab.chat("as nobody"));
  user = "ada";
  other.identify(source);
  await other.ready();
  await read(tab.chat("as Ada"));
  user = null;
  other.identify(null);
  await read(tab.chat("as nobody again"));
  const sent = server.requests.filter(({ path }) => path === "/chat");
  expect(sent.map(({ headers }) => headers.has("x-visitor-token"))).toEqual([false, true, false]);
  expect(sent[2]?.body.session_id).not.toBe(sent[1]?.body.session_id);
});

test("where a token is required, nobody is refused by the server, in its own words", async () => {
  const { server, open } = openWorld();
  server.fate = () => refuse(401, "visitor_unverified");
  const companion = open();
  companion.identify(() => null);
  await expect(read(companion.chat("hi"))).rejects.toMatchObject({ code: "visitor_unverified", status: 401 });
});

test("with the real server: what was said before signing in is the visitor's own, and nobody's after signing out", async () => {
  const world = await openVerifiedWorld();
  const { server, companion: target } = world;
  const companion = createCompanion({ baseUrl: server.url, token: target.embedToken, storage: openMemory() });
  await read(companion.chat("before"));
  await expect(companion.conversations()).rejects.toMatchObject({ code: "visitor_unverified" });
  companion.identify(() => world.sign("ada"));
  await read(companion.chat("after"));
  expect(JSON.stringify(world.lastPrompt())).toContain("You said: before");
  const { data, next_cursor } = await companion.conversations();
  expect([data.length, data[0]?.session_id, next_cursor]).toEqual([1, companion.sessionId, null]);
  const { messages } = await companion.conversation(data[0]?.id ?? "");
  expect(messages.map(({ text }) => text)).toEqual(["before", "You said: before", "after", "You said: after"]);
  companion.identify(null);
  await read(companion.chat("as nobody"));
  expect(JSON.stringify(world.lastPrompt())).not.toContain("before");
  await server.close();
});
