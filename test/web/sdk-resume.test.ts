/** Replies that survive in the SDK: what every client does, and what pages add: reloads, lost networks, visitors' tokens. */
import { expect, test } from "bun:test";
import { type ChatOptions, createCompanion, type TextStorage } from "../../src/web/sdk/index.ts";
import { testReplyClient } from "../contracts/reply-client.ts";
import { createReplyServer, type ReplyServer } from "../support/reply-server.ts";
import { collect, openMemory } from "../support/sdk-world.ts";

const fragments = ["Grüße, ", "漢字 ", "👩‍👩‍👧 ", "\ud83d\udc4d", ' "quoted"\n', "data: [DONE]", " end."];
const whole = fragments.join("");

function open(server: ReplyServer, options: { storage?: TextStorage; reconnectDelaysMs?: undefined } = {}) {
  return createCompanion({
    ...{ baseUrl: "http://server.invalid", token: "t", storage: openMemory(), reconnectDelaysMs: [0, 0, 0] },
    ...options,
    fetch: server.fetch,
  });
}

const summary = ({ requests }: ReplyServer) =>
  requests.map(({ method, query }) => [method, query.get("offset")].filter(Boolean).join(" "));

testReplyClient("the SDK", (server, { hasWaits = false } = {}) =>
  open(server, hasWaits ? { reconnectDelaysMs: undefined } : {}),
);

test("a reply that was given up may still be had, and is taken up later", async () => {
  const server = createReplyServer(fragments);
  const companion = open(server);
  server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "reset" } : "no-head");
  const { text, error } = await collect(companion.chat("hi"));
  expect(error).toMatchObject({ code: "incomplete", isCut: true });
  expect(companion.pending).toMatchObject({ message: "hi", sessionId: companion.sessionId });
  server.fate = () => null;
  const rest = await collect(companion.resume({ received: text }));
  expect([text + rest.text, rest.error]).toEqual([whole, null]);
  expect(companion.pending).toBeNull();
});

test("a line that says nothing more is left when the browser is back on the network", async () => {
  const server = createReplyServer(fragments);
  const begin = new TextEncoder().encode('data: {"text":"Grüße, "}\n\n');
  // Nothing ends it but its reader.
  const silent = ({ signal }: RequestInit) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(begin);
          signal?.addEventListener("abort", () => controller.error(signal.reason));
        },
      }),
    );
  let count = 0;
  const fetch: ReplyServer["fetch"] = async (url, init) => {
    const response = await server.fetch(url, init);
    return count++ === 0 ? silent(init) : response;
  };
  const reply = open({ ...server, fetch }).chat("hi");
  let text = "";
  for await (const fragment of reply) {
    text += fragment;
    if (text === "Grüße, ")
      setImmediate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event("online")));
  }
  expect(text).toBe(whole);
  expect(summary(server)).toEqual(["POST", "GET 7"]);
});

test("a website that cannot give a token on the way back is asked again", async () => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "end" } : null);
  const companion = open(server);
  let asked = 0;
  companion.identify(() => {
    asked++;
    if (asked === 3) throw new Error("The website is away, too.");
    // Of a token that has ended the next request asks for another one.
    return `.${btoa(JSON.stringify({ sub: "ada", exp: 1 }))}.`;
  });
  expect(await collect(companion.chat("hi"))).toEqual({ text: whole, error: null });
  expect(asked).toBeGreaterThan(3);
});

test("a reply that was stopped, or that the server ended, is not pending any more", async () => {
  const server = createReplyServer(fragments);
  const companion = open(server);
  for await (const _ of companion.chat("hi")) break;
  expect(companion.pending).toBeNull();
  const stop = new AbortController();
  const stopped = companion.chat("hi", { signal: stop.signal });
  await stopped.next();
  expect(companion.pending).not.toBeNull();
  stop.abort();
  await expect(stopped.next()).rejects.toHaveProperty("name", "AbortError");
  // Also by a page that goes away in the same moment.
  expect(summary(server)).toEqual(["POST", "DELETE", "POST", "DELETE"]);
  expect(companion.pending).toBeNull();
  server.comment = ": error upstream_error";
  await collect(companion.chat("hi"));
  expect(companion.pending).toBeNull();
});

test("a reply that is left, or whose page goes away, is continued from its first character or from where it was", async () => {
  const server = createReplyServer(fragments);
  const storage = openMemory();
  const leave = new AbortController();
  let text = "";
  const run = async () => {
    for await (const fragment of open(server, { storage }).chat("hi", { leave: leave.signal })) {
      text += fragment;
      leave.abort();
    }
  };
  await expect(run()).rejects.toHaveProperty("name", "AbortError");
  expect(summary(server)).toEqual(["POST"]);
  const reloaded = open(server, { storage });
  expect(await collect(reloaded.resume({ received: text }))).toEqual({ text: whole.slice(text.length), error: null });
  expect(await collect(reloaded.resume())).toEqual({ text: "", error: null });
  const messageId = String(server.requests[0]?.body.message_id);
  const reply = { messageId, sessionId: reloaded.sessionId, message: "hi" };
  expect(await collect(reloaded.resume({ reply }))).toEqual({ text: whole, error: null });
  expect(await collect(reloaded.resume({ reply, received: whole }))).toEqual({ text: "", error: null });
});

test("it says when the connection is lost and when it is back", async () => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "end" } : index === 1 ? "no-head" : null);
  const told: boolean[] = [];
  const options: ChatOptions = { onConnection: (isConnected) => told.push(isConnected) };
  await collect(open(server).chat("hi", options));
  expect(told).toEqual([false, false, true]);
});
