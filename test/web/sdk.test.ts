/** The SDK against a real server, and against servers that misbehave. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, spyOn, test } from "bun:test";
import type { Static } from "@sinclair/typebox";
import type { OwnConversationWithMessages } from "../../src/api/conversations/responses.ts";
import type { EmbedConfig } from "../../src/api/embed/responses.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import {
  type CompanionConfig,
  type ConversationWithMessages,
  createCompanion,
  type ServerErrorCode,
} from "../../src/web/sdk/index.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { collect, openMemory } from "../support/sdk-world.ts";

// The package has no types but its own; the compiler holds them against the server's here.
expectTypeOf<CompanionConfig>().toEqualTypeOf<EmbedConfig>();
expectTypeOf<ConversationWithMessages>().toEqualTypeOf<Static<typeof OwnConversationWithMessages>>();
expectTypeOf<ServerErrorCode>().toExtend<ErrorCode>();

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe("with the real server", () => {
  let server: TestServer;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer();
    token = (await server.createCompanion({ name: "Ada", starters: ["Hi?"] })).embedToken;
  });
  afterAll(() => server.close());

  const open = (storage = openMemory()) => createCompanion({ baseUrl: `${server.url}/`, token, storage });

  test("reads the configuration", async () => {
    expect(await open().config()).toMatchObject({ name: "Ada", has_voice: false, starters: ["Hi?"] });
  });

  test("streams a reply, and keeps visitor and conversation over instances", async () => {
    const storage = openMemory();
    const companion = open(storage);
    expect(await collect(companion.chat("hello"))).toEqual({ text: "You said: hello", error: null });
    const { visitorId, sessionId } = companion;
    expect(visitorId).toMatch(uuid);
    const again = open(storage);
    expect([again.visitorId, again.sessionId]).toEqual([visitorId, sessionId]);
    expect(await collect(again.chat("and again"))).toMatchObject({ error: null });
    const sent = server.mockLlm.requests.at(-1)?.body.messages;
    expect(JSON.stringify(sent)).toContain("You said: hello");

    expect(again.newConversation()).not.toBe(sessionId);
    expect(again.visitorId).toBe(visitorId);
    await collect(again.chat("fresh"));
    expect(JSON.stringify(server.mockLlm.requests.at(-1)?.body.messages)).not.toContain("hello");

    again.resumeConversation(sessionId);
    expect(open(storage).sessionId).toBe(sessionId);
    await collect(again.chat("back"));
    expect(JSON.stringify(server.mockLlm.requests.at(-1)?.body.messages)).toContain("hello");
    expect(() => again.resumeConversation("mine")).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("does not take over what another script wrote in the place of an id", async () => {
    const storage = openMemory();
    storage.setItem(`companion:${token}:visitor`, "<script>");
    expect(open(storage).visitorId).toMatch(uuid);
  });

  test("distinguishes a reply that was cut off from a complete one", async () => {
    const { text, error } = await collect(open().chat("[[cut:2]] [[say:one two three four]]"));
    expect(text).toContain("one");
    expect(error).toMatchObject({ name: "CompanionError", code: "incomplete" });
  });

  test("goes on with a reply that was left: while it runs, when it has ended, and when only the message is known", async () => {
    const storage = openMemory();
    const leave = new AbortController();
    const left = open(storage).chat("[[delay:20]] [[say:one two three]]", { leave: leave.signal });
    expect((await left.next()).value).toContain("one");
    leave.abort();
    await expect(left.next()).rejects.toHaveProperty("name", "AbortError");
    const again = open(storage);
    const reply = again.pending ?? undefined;
    const before = server.mockLlm.requests.length;
    const { text, error } = await collect(again.resume());
    expect([text.trim(), error, again.pending]).toEqual(["one two three", null, null]);
    expect(await collect(again.resume({ ...(reply ? { reply } : {}), received: text.slice(0, 5) }))).toEqual({
      text: text.slice(5),
      error: null,
    });
    const { message = "", messageId } = reply ?? {};
    expect(await collect(again.chat(message, { messageId }))).toEqual({ text, error: null });
    expect((await collect(again.chat("another", { messageId }))).error).toMatchObject({ code: "conflict" });
    expect(server.mockLlm.requests.length).toBe(before);
  });

  test("gives the server's codes", async () => {
    const revoked = createCompanion({ baseUrl: server.url, token: `emb_${"0".repeat(32)}`, storage: openMemory() });
    await expect(revoked.config()).rejects.toMatchObject({ code: "not_found", status: 404 });
    expect((await collect(open().chat("   "))).error).toMatchObject({ code: "invalid_request", status: 400 });
    expect((await collect(open().chat("[[fail:401]]"))).error).toMatchObject({ code: "upstream_error", status: 502 });
    await expect(open().voice()).rejects.toMatchObject({ code: "voice_not_configured", status: 400 });
    await expect(open().voice()).rejects.toHaveProperty("requestId", expect.stringMatching(uuid));
  });

  test("ends the provider's request when the signal fires or the loop is left", async () => {
    const controller = new AbortController();
    const reply = open().chat("[[delay:20]] [[words:500]]", { signal: controller.signal });
    await reply.next();
    controller.abort();
    await expect(reply.next()).rejects.toHaveProperty("name", "AbortError");
    for await (const _ of open().chat("[[delay:20]] [[words:500]]")) break;
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    expect(server.mockLlm.abortedRequests).toBeGreaterThanOrEqual(2);
  });
});

describe("with servers that misbehave", () => {
  /** Answers in this order, the last one for ever. */
  function serve(...responses: ((request: Request) => Response | Promise<Response>)[]) {
    let count = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => (responses[Math.min(count++, responses.length - 1)] as (typeof responses)[number])(request),
    });
    return {
      companion: (options: { timeoutMs?: number; maxRetryWaitMs?: number } = {}) =>
        createCompanion({
          baseUrl: server.url.href,
          token: "t",
          storage: openMemory(),
          reconnectDelaysMs: [],
          ...options,
        }),
      count: () => count,
      [Symbol.dispose]: () => void server.stop(true),
    };
  }

  const config = () => Response.json({ name: "Ada" });
  const whole = () => new Response('data: {"text":"ok"}\n\ndata: [DONE]\n\n');
  const refuse = (status: number, retryAfter?: string, code?: string) => () =>
    new Response(code ? JSON.stringify({ code, detail: "A sentence." }) : "<h1>Bad gateway</h1>", {
      status,
      headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter },
    });

  test("asks again for the configuration where that can do no harm", async () => {
    using server = serve(refuse(502, "0"), refuse(429, "0", "rate_limited"), config);
    expect(await server.companion().config()).toMatchObject({ name: "Ada" });
    expect(server.count()).toBe(3);
  });

  test("gives the configuration as it was last known where that is wanted and no answer comes, until it is refused", async () => {
    const later = refuse(429, "42", "rate_limited");
    using server = serve(later, config, later, refuse(502), later, refuse(404), later);
    const companion = server.companion();
    const ask = (lastKnown = true) =>
      companion.config({ retries: 0, lastKnown }).then(
        ({ name }) => name,
        ({ code }) => code,
      );
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual(["rate_limited", "Ada", "Ada", "Ada"]);
    expect([await ask(false), await ask(), await ask()]).toEqual(["rate_limited", "not_found", "rate_limited"]);
  });

  test("waits as long as Retry-After says, and leaves long waits to the caller", async () => {
    using short = serve(refuse(429, "1", "rate_limited"), whole);
    expect(await collect(short.companion().chat("hi"))).toEqual({ text: "ok", error: null });
    expect(short.count()).toBe(2);

    for (const [seconds, maxRetryWaitMs] of [
      ["42", 5000],
      ["1", 999],
    ] as const) {
      using long = serve(refuse(429, seconds, "rate_limited"), whole);
      const { error } = await collect(long.companion({ maxRetryWaitMs }).chat("hi"));
      expect(error).toMatchObject({
        code: "rate_limited",
        retryAfterMs: Number(seconds) * 1000,
        message: "A sentence.",
      });
      expect(long.count()).toBe(1);
    }
  });

  test("never sends a message twice that may have been heard", async () => {
    for (const response of [refuse(500), refuse(502), refuse(504, "0"), refuse(429, "0", "quota_exceeded")]) {
      using server = serve(response, whole);
      expect((await collect(server.companion().chat("hi"))).error).not.toBeNull();
      expect(server.count()).toBe(1);
    }
  });

  test("knows what a status means where a proxy answered", async () => {
    for (const [status, code] of [
      [403, "origin_not_allowed"],
      [404, "not_found"],
      [429, "rate_limited"],
      [503, "upstream_error"],
    ] as const) {
      using server = serve(refuse(status));
      await expect(server.companion().config({ retries: 0 })).rejects.toMatchObject({ code, status });
    }
  });

  test("refuses a response that is not a configuration", async () => {
    using server = serve(() => Response.json([1, 2]));
    await expect(server.companion().config()).rejects.toMatchObject({ code: "bad_response" });
  });

  test("gives up on a silent server, before and within a reply", async () => {
    const timeoutMs = 1_234_567;
    const deadlines: (() => void)[] = [];
    const setRealTimeout = setTimeout;
    using _timers = spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms: number) => {
      if (ms !== timeoutMs) return setRealTimeout(act, ms);
      deadlines.push(act);
    }) as typeof setTimeout);
    using silent = serve(() => new Promise(() => {}));
    const config = silent.companion({ timeoutMs }).config({ retries: 0 });
    const failed = config.catch((error: unknown) => error);
    await eventually(() => silent.count() === 1);
    deadlines.at(-1)?.();
    expect(await failed).toMatchObject({ code: "timeout" });
    using halting = serve(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode('data: {"text":"one"}\n\n')),
          }),
        ),
    );
    const said: string[] = [];
    const reply = halting.companion({ timeoutMs }).chat("hi");
    async function* note() {
      for await (const fragment of reply) {
        said.push(fragment);
        yield fragment;
      }
    }
    const collected = collect(note());
    await eventually(() => said.length === 1);
    deadlines.at(-1)?.();
    const { text, error } = await collected;
    expect(text).toBe("one");
    expect(error).toMatchObject({ code: "incomplete", cause: { code: "timeout" } });
  });

  /** Sends the pieces, each after the one before was taken, and tells whether the client stayed to the end. */
  function serveStream(...pieces: (string | Promise<string>)[]) {
    let end = (_: "read" | "left") => {};
    const ended = new Promise<"read" | "left">((resolve) => {
      end = resolve;
    });
    const bytes = pieces.map(async (piece) => new TextEncoder().encode(await piece));
    const stream = () =>
      new ReadableStream({
        async pull(controller) {
          const next = bytes.shift();
          if (next) return controller.enqueue(await next);
          controller.close();
          end("read");
        },
        cancel: () => end("left"),
      });
    return { ...serve(() => new Response(stream())), ended };
  }

  test("reads on behind the terminator, without waiting for it, and leaves a stream that stays open", async () => {
    let release = (_: string) => {};
    const late = new Promise<string>((resolve) => {
      release = resolve;
    });
    using server = serveStream('data: {"text":"ok"}\n\ndata: [DONE]\n\n', late);
    expect(await collect(server.companion().chat("hi"))).toEqual({ text: "ok", error: null });
    release("\n");
    expect(await server.ended).toBe("read");

    using open = serveStream('data: {"text":"ok"}\n\ndata: [DONE]\n\n', new Promise(() => {}));
    expect(await collect(open.companion().chat("hi"))).toEqual({ text: "ok", error: null });
    expect(await open.ended).toBe("left");
  });

  test("reports why the server ended a reply: before its first word as a refusal", async () => {
    using early = serveStream(": ping\n\n: error upstream_error\n\n");
    expect((await collect(early.companion().chat("hi"))).error).toMatchObject({ code: "upstream_error" });
    using late = serveStream('data: {"text":"one"}\n\n: error upstream_error\n\n');
    const { text, error } = await collect(late.companion().chat("hi"));
    expect(text).toBe("one");
    expect(error).toMatchObject({ code: "incomplete", cause: { code: "upstream_error" } });
  });

  test("reports whether the network or the companion sent too many requests", async () => {
    for (const [header, limit] of [
      ['"ip";r=0;t=52', "ip"],
      ['"ip";r=9;t=52, "token";r=0;t=60', "token"],
      ['"ip";r=9;t=52, "token";r=29;t=60', null],
    ] as const) {
      using server = serve(() => new Response("", { status: 429, headers: { "Retry-After": "9", RateLimit: header } }));
      await expect(server.companion().config({ retries: 0 })).rejects.toMatchObject({ code: "rate_limited", limit });
    }
  });

  test("uses the browser's cached configuration unless asked not to, and never a cached reply", async () => {
    const caches: unknown[] = [];
    const companion = createCompanion({
      ...{ baseUrl: "http://server.invalid", token: "t", storage: openMemory() },
      fetch: async (url, init) => {
        caches.push(init.cache);
        return url.endsWith("/chat") ? whole() : config();
      },
    });
    await companion.config();
    await companion.config({ cache: "no-cache" });
    await collect(companion.chat("hi"));
    expect(caches).toEqual(["default", "no-cache", "no-store"]);
  });

  test("a server that is not there is a network failure", async () => {
    const companion = createCompanion({ baseUrl: "http://127.0.0.1:1", token: "t", storage: openMemory() });
    await expect(companion.config({ retries: 0 })).rejects.toMatchObject({ code: "network", status: 0 });
  });

  test("a signal that has fired stops the wait for another try", async () => {
    using server = serve(refuse(429, "4", "rate_limited"));
    const controller = new AbortController();
    const reply = server.companion().chat("hi", { signal: controller.signal });
    const first = reply.next();
    await eventually(() => server.count() === 1);
    setTimeout(() => controller.abort(), 20);
    await expect(first).rejects.toHaveProperty("name", "AbortError");
    expect(server.count()).toBe(1);
  });
});

test("works without any storage", () => {
  const companion = createCompanion({ baseUrl: "http://127.0.0.1:1", token: "t" });
  expect(companion.visitorId).toMatch(uuid);
  expect(companion.visitorId).toBe(companion.visitorId);
});
