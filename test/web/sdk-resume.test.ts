/** Replies that survive: the SDK against lines that are cut at every byte, and what it tells the server meanwhile. */
import { expect, test } from "bun:test";
import { type ChatOptions, createCompanion, type TextStorage } from "../../src/web/sdk/index.ts";
import { eventually } from "../support/eventually.ts";
import { createReplyServer, type Fate, type ReplyServer, refuse } from "../support/reply-server.ts";
import { collect, openMemory } from "../support/sdk-world.ts";

const fragments = ["Grüße, ", "漢字 ", "👩‍👩‍👧 ", "\ud83d\udc4d", ' "quoted"\n', "data: [DONE]", " end."];
const whole = fragments.join("");

function open(server: ReplyServer, options: { storage?: TextStorage; reconnectDelaysMs?: number[] } = {}) {
  return createCompanion({
    ...{ baseUrl: "http://server.invalid", token: "t", storage: openMemory(), reconnectDelaysMs: [0, 0, 0] },
    ...options,
    fetch: server.fetch,
  });
}

const summary = ({ requests }: ReplyServer) =>
  requests.map(({ method, query }) => [method, query.get("offset")].filter(Boolean).join(" "));

/** How long the first response to a message is, in bytes. */
async function sizeOf(server: ReplyServer): Promise<number> {
  const body = JSON.stringify({ message_id: crypto.randomUUID() });
  const response = await server.fetch("http://server.invalid/api/embed/t/chat", { method: "POST", body });
  return (await response.bytes()).length;
}

for (const lineBreak of ["\n", "\r\n"]) {
  for (const by of ["end", "reset"] as const) {
    for (const [way, fateOfGet] of [
      ["from where it was", () => null],
      ["by the same message, where the server has forgotten the stream", () => refuse(404, "not_found")],
    ] as const) {
      test(`a line cut at any byte goes on ${way}: ${by}, ${JSON.stringify(lineBreak)}`, async () => {
        const make = () => Object.assign(createReplyServer(fragments), { lineBreak });
        const size = await sizeOf(make());
        const runs = Array.from({ length: size }, async (_, cutAt) => {
          const server = make();
          server.fate = ({ method }, index): Fate =>
            index === 0 ? { cutAt, by } : method === "GET" ? fateOfGet() : null;
          const result = await collect(open(server).chat("hi"));
          const ids = new Set(server.requests.map(({ path, body }) => body.message_id ?? path.split("/")[2]));
          return { cutAt, ...result, ids: ids.size };
        });
        for (const [cutAt, run] of (await Promise.all(runs)).entries()) {
          expect(run).toEqual({ cutAt, text: whole, error: null, ids: 1 });
        }
      });
    }
  }
}

test("what a reply cites is told once and behind its text, wherever the line is cut, and to nobody who did not ask", async () => {
  const cited = [{ n: 1, title: "Käse [DONE]", url: "https://example.com/", page: null }];
  const make = () => Object.assign(createReplyServer(fragments), { sources: cited });
  const size = await sizeOf(make());
  // The event and all its lines come on top.
  const runs = Array.from({ length: size + 120 }, async (_, cutAt) => {
    const server = make();
    server.fate = (_, index) => (index === 0 ? { cutAt, by: "end" } : null);
    const told: unknown[] = [];
    let text = "";
    const onSources = (sources: unknown) => void told.push(text, sources);
    for await (const fragment of open(server).chat("hi", { onSources })) text += fragment;
    return { cutAt, text, told };
  });
  for (const [cutAt, run] of (await Promise.all(runs)).entries()) {
    expect(run).toEqual({ cutAt, text: whole, told: [whole, cited] });
  }
  const unasked = make();
  unasked.fate = (_, index) => (index === 0 ? { cutAt: 40, by: "end" } : null);
  expect(await collect(open(unasked).chat("hi"))).toEqual({ text: whole, error: null });
  expect(unasked.requests.some(({ body, query }) => "events" in body || query.has("events"))).toBe(false);
  const malformed = Object.assign(make(), { sources: "none" });
  const onSources = () => expect.unreachable();
  expect(await collect(open(malformed).chat("hi", { onSources }))).toEqual({ text: whole, error: null });
});

test("lines that are cut again and again, each a little later, give each character once", async () => {
  for (const step of [40, 61, 97]) {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => ({ cutAt: step + index, by: index % 2 ? "end" : "reset" });
    expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
    expect(server.requests.length).toBeGreaterThan(3);
  }
});

test("a message whose answer never began is sent again, under the same name", async () => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => (index < 3 ? "no-head" : null);
  expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
  expect(summary(server)).toEqual(["POST", "POST", "POST", "POST"]);
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(server.requests[0]?.body).toMatchObject({ message: "hi", resume: true });
});

test("it gives up after three tries without text, says that the reply may still be had, and takes it up later", async () => {
  const server = createReplyServer(fragments);
  const companion = open(server);
  server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "reset" } : "no-head");
  const { text, error } = await collect(companion.chat("hi"));
  expect(error).toMatchObject({ code: "incomplete", isCut: true });
  expect(summary(server)).toEqual(["POST", ...Array(3).fill(`GET ${text.length}`)]);
  expect(companion.pending).toMatchObject({ message: "hi", sessionId: companion.sessionId });
  server.fate = () => null;
  const rest = await collect(companion.resume({ received: text }));
  expect([text + rest.text, rest.error]).toEqual([whole, null]);
  expect(companion.pending).toBeNull();
});

test("the count of tries begins again once text has arrived", async () => {
  const server = createReplyServer(fragments);
  // Two in vain, then one event more, five times over.
  server.fate = (_, index) => (index % 3 ? "no-head" : { cutAt: 50, by: "end" });
  expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
});

test.each([
  [() => new Response("<h1>Bad gateway</h1>", { status: 502 })],
  [() => refuse(503, "unavailable", { "Retry-After": "0" })],
  [() => refuse(429, "rate_limited", { "Retry-After": "0" })],
])("on the way back it waits for what passes", async (refusal) => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "reset" } : index === 1 ? refusal() : null);
  expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
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

test("it comes back when Retry-After says so, and not by its own count", async () => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => {
    if (index === 1) return refuse(503, "unavailable", { "Retry-After": "1" });
    return index === 0 ? { cutAt: 60, by: "end" } : null;
  };
  const companion = open(server, { reconnectDelaysMs: [0, 60_000] });
  expect(await collect(companion.chat("hi"))).toEqual({ text: whole, error: null });
});

test.each(["cancelled", "abandoned", "too_long", "upstream_error"] as const)(
  "a reply that the server ends with %s is incomplete, with that cause, and not asked for again",
  async (code) => {
    const server = Object.assign(createReplyServer(["Half a"]), { comment: `: error ${code}` });
    const companion = open(server);
    const { text, error } = await collect(companion.chat("hi"));
    expect(text).toBe("Half a");
    expect(error).toMatchObject({ code: "incomplete", isCut: false, cause: { code } });
    expect([server.requests.length, companion.pending]).toEqual([1, null]);
  },
);

test("a reply whose server goes away is continued at the next one", async () => {
  const server = createReplyServer(fragments);
  server.fate = (_, index) => {
    server.comment = index === 0 ? ": error unavailable" : null;
    return null;
  };
  server.fragments = fragments.slice(0, 3);
  const reply = open(server).chat("hi");
  let text = "";
  for await (const fragment of reply) {
    text += fragment;
    server.fragments = fragments;
  }
  expect(text).toBe(whole);
});

test("a reply that is unavailable twice without a word in between has ended so", async () => {
  const server = createReplyServer(fragments);
  server.comment = ": error unavailable";
  server.fragments = fragments.slice(0, 2);
  const companion = open(server);
  const { text, error } = await collect(companion.chat("hi"));
  expect(error).toMatchObject({ code: "incomplete", isCut: false, cause: { code: "unavailable" } });
  expect(summary(server)).toEqual(["POST", `GET ${text.length}`]);
  expect(companion.pending).toBeNull();
});

test("a reply that the server lost and wrote anew is never mixed with the first one", async () => {
  for (const other of [["Grüße an alle."], ["Gr"], ["ü"]]) {
    const server = createReplyServer(fragments);
    const companion = open(server);
    server.fate = ({ method }, index) => {
      if (index > 0) server.fragments = other;
      return method === "GET" ? refuse(404, "not_found") : index === 0 ? { cutAt: 80, by: "end" } : null;
    };
    const { text, error } = await collect(companion.chat("hi"));
    expect(whole.startsWith(text)).toBe(true);
    expect(error).toMatchObject({ code: "incomplete", cause: { code: "replaced" } });
  }
});

test("the stop button, by signal or by leaving the loop, ends the reply at the server", async () => {
  for (const stop of ["signal", "loop"]) {
    const server = createReplyServer(fragments);
    const companion = open(server);
    const controller = new AbortController();
    const run = async () => {
      for await (const _ of companion.chat("hi", { signal: controller.signal })) {
        if (stop === "loop") break;
        controller.abort();
      }
    };
    if (stop === "loop") await run();
    else await expect(run()).rejects.toHaveProperty("name", "AbortError");
    await Promise.resolve();
    const [sent, cancelled] = server.requests;
    expect(cancelled).toMatchObject({ method: "DELETE", path: `/chat/${sent?.body.message_id}` });
    expect(cancelled?.query.get("session_id")).toBe(companion.sessionId);
    expect(cancelled?.query.get("visitor_id")).toBe(companion.visitorId);
    expect(companion.pending).toBeNull();
  }
});

test("a stop that the server did not hear is said once more", async () => {
  const server = createReplyServer(fragments);
  server.fate = ({ method }) => (method === "DELETE" ? "no-head" : null);
  for await (const _ of open(server).chat("hi")) break;
  await eventually(() => server.requests.length === 3);
  expect(summary(server)).toEqual(["POST", "DELETE", "DELETE"]);
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
