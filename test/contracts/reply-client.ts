/** What every client does with a streamed reply: against lines that are cut at every byte, and servers that end it. */
import { describe, expect, spyOn, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { createReplyServer, type Fate, type ReplyServer, refuse } from "../support/reply-server.ts";
import { collect } from "../support/sdk-world.ts";

export interface ChatOptions {
  signal?: AbortSignal;
  onSources?: (sources: unknown) => void;
  /** Of each call at least how it ended. */
  onTool?: (call: { call_id: string; state: string }) => void;
  onConfirm?: (confirmation: unknown) => void;
}

export interface ReplyClient {
  chat(message: string, options?: ChatOptions): AsyncIterable<string>;
  confirm(callId: string, approve: boolean, options?: ChatOptions): AsyncIterable<string>;
}

interface Opening {
  /** The client's own waits, instead of none. */
  hasWaits?: boolean;
}

const fragments = ["Grüße, ", "漢字 ", "👩‍👩‍👧 ", "\ud83d\udc4d", ' "quoted"\n', "data: [DONE]", " end."];
const whole = fragments.join("");

const summary = ({ requests }: ReplyServer) =>
  requests.map(({ method, query }) => [method, query.get("offset")].filter(Boolean).join(" "));

/** How long the first response to a message is, in bytes. */
async function sizeOf(server: ReplyServer): Promise<number> {
  const body = JSON.stringify({ message_id: crypto.randomUUID() });
  const response = await server.fetch("http://server.invalid/api/embed/t/chat", { method: "POST", body });
  return (await response.bytes()).length;
}

export function testReplyClient(name: string, open: (server: ReplyServer, opening?: Opening) => ReplyClient): void {
  describe(`${name}: a reply`, () => {
    testCuts(open);
    testWaits(open);
    testEnds(open);
    testStops(open);
    testDecisions(open);
  });
}

type Open = Parameters<typeof testReplyClient>[1];

function testCuts(open: Open): void {
  for (const lineBreak of ["\n", "\r\n"]) {
    for (const by of ["end", "reset"] as const) {
      for (const [way, fateOfGet] of [
        ["from where it was", () => null],
        ["by the same message, where the server has forgotten the stream", () => refuse(404, "not_found")],
      ] as const) {
        test(`whose line is cut at any byte goes on ${way}: ${by}, ${JSON.stringify(lineBreak)}`, async () => {
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

  test("tells what it cites once and behind its text, wherever the line is cut, and to nobody who did not ask", async () => {
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

  test("tells of the calls of tools and of what is to be decided, wherever the line is cut", async () => {
    const asked = { call_id: "b", tool: "book", title: "Book [DONE]", arguments: { city: "Köln", n: { m: 1 } } };
    const end = "Grüße, ".length;
    const events = [
      { offset: 0, name: "tool", data: { call_id: "a", name: "look_up", state: "running" } },
      { offset: end, name: "tool", data: { call_id: "a", name: "look_up", state: "done" } },
      // Of a server of a later version.
      { offset: end, name: "later", data: { anything: true } },
      { offset: whole.length, name: "confirm", data: asked },
    ];
    const make = () => Object.assign(createReplyServer(fragments), { events });
    const size = await sizeOf(make());
    const runs = Array.from({ length: size + 350 }, async (_, cutAt) => {
      const server = make();
      server.fate = (_, index) => (index === 0 ? { cutAt, by: "end" } : null);
      const calls = new Map<string, string>();
      const told = new Set<string>();
      let text = "";
      const reply = open(server).chat("hi", {
        onTool: ({ call_id, state }) => void calls.set(call_id, state),
        onConfirm: (confirmation) => void told.add(JSON.stringify(confirmation)),
      });
      for await (const fragment of reply) text += fragment;
      return { cutAt, text, calls: [...calls], told: [...told] };
    });
    for (const [cutAt, run] of (await Promise.all(runs)).entries()) {
      expect(run).toEqual({ cutAt, text: whole, calls: [["a", "done"]], told: [JSON.stringify(asked)] });
    }
    const unasked = make();
    expect(await collect(open(unasked).chat("hi"))).toEqual({ text: whole, error: null });
    expect(unasked.requests[0]?.body).not.toHaveProperty("events");
  });

  test("whose lines are cut again and again, each a little later, gives each character once", async () => {
    for (const step of [40, 61, 97]) {
      const server = createReplyServer(fragments);
      server.fate = (_, index) => ({ cutAt: step + index, by: index % 2 ? "end" : "reset" });
      expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
      expect(server.requests.length).toBeGreaterThan(3);
    }
  });

  test("that never began is asked for again by its message, under the same name", async () => {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => (index < 3 ? "no-head" : null);
    expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
    expect(summary(server)).toEqual(["POST", "POST", "POST", "POST"]);
    expect(new Set(server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(server.requests[0]?.body).toMatchObject({ message: "hi", resume: true });
  });

  test("that the server lost and wrote anew is never mixed with the first one", async () => {
    for (const other of [["Grüße an alle."], ["Gr"], ["ü"]]) {
      const server = createReplyServer(fragments);
      server.fate = ({ method }, index) => {
        if (index > 0) server.fragments = other;
        return method === "GET" ? refuse(404, "not_found") : index === 0 ? { cutAt: 80, by: "end" } : null;
      };
      const { text, error } = await collect(open(server).chat("hi"));
      expect(whole.startsWith(text)).toBe(true);
      expect(error).toMatchObject({ code: "incomplete", cause: { code: "replaced" } });
    }
  });
}

/** Makes every wait of less than a timeout an instant, and notes it. */
function noteWaits(): { waitsMs: number[] } & Disposable {
  const waitsMs: number[] = [];
  const setRealTimeout = setTimeout;
  const timers = spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, durationMs = 0) => {
    // Shorter and longer ones are not the client's waits: servers of other files of this process have timers, too.
    if (durationMs < 400 || durationMs >= 30_000) return setRealTimeout(act, durationMs);
    waitsMs.push(durationMs);
    return setRealTimeout(act, 0);
  }) as typeof setTimeout);
  return { waitsMs, [Symbol.dispose]: () => timers.mockRestore() };
}

function testWaits(open: Open): void {
  test("is asked for again after 1, 2 and 4 s", async () => {
    using noted = noteWaits();
    const server = createReplyServer(fragments);
    server.fate = () => "no-head";
    const { error } = await collect(open(server, { hasWaits: true }).chat("hi"));
    expect(error).toMatchObject({ code: "network", isCut: true });
    expect(noted.waitsMs).toEqual([1000, 2000, 4000]);
  });

  test("is given up after three tries without text, as one that may still be had", async () => {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "reset" } : "no-head");
    const { text, error } = await collect(open(server).chat("hi"));
    expect(error).toMatchObject({ code: "incomplete", isCut: true, cause: { code: "network" } });
    expect(summary(server)).toEqual(["POST", ...Array(3).fill(`GET ${text.length}`)]);
  });

  test("begins the count of tries again once text has arrived", async () => {
    const server = createReplyServer(fragments);
    // Two in vain, then one event more, five times over.
    server.fate = (_, index) => (index % 3 ? "no-head" : { cutAt: 50, by: "end" });
    expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
  });

  test.each([
    ["a proxy", () => new Response("<h1>Bad gateway</h1>", { status: 502 })],
    ["a server that is away", () => refuse(503, "unavailable", { "Retry-After": "0" })],
    ["a limit", () => refuse(429, "rate_limited", { "Retry-After": "0" })],
  ])("waits on the way back for what passes: %s", async (_, refusal) => {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "reset" } : index === 1 ? refusal() : null);
    expect(await collect(open(server).chat("hi"))).toEqual({ text: whole, error: null });
  });

  test("comes back when Retry-After says so, and not by its own count", async () => {
    using noted = noteWaits();
    const server = createReplyServer(fragments);
    server.fate = (_, index) => {
      if (index === 1) return refuse(503, "unavailable", { "Retry-After": "7" });
      return index === 0 ? { cutAt: 60, by: "end" } : null;
    };
    expect(await collect(open(server, { hasWaits: true }).chat("hi"))).toEqual({ text: whole, error: null });
    expect(noted.waitsMs.slice(0, 2)).toEqual([1000, 7000]);
  });

  test("is not waited for until tomorrow", async () => {
    const server = createReplyServer(fragments);
    const refusal = () => refuse(429, "rate_limited", { "Retry-After": "40000" });
    server.fate = (_, index) => (index === 0 ? { cutAt: 60, by: "end" } : refusal());
    const { error } = await collect(open(server).chat("hi"));
    expect(error).toMatchObject({ code: "incomplete", cause: { code: "rate_limited", retryAfterMs: 40_000_000 } });
    expect(server.requests).toHaveLength(2);
  });
}

function testEnds(open: Open): void {
  test.each(["cancelled", "abandoned", "too_long", "taken", "upstream_error"] as const)(
    "that the server ends with %s is incomplete, with that cause, and not asked for again",
    async (code) => {
      const server = Object.assign(createReplyServer(["Half a"]), { comment: `: error ${code}` });
      const { text, error } = await collect(open(server).chat("hi"));
      expect(text).toBe("Half a");
      expect(error).toMatchObject({ code: "incomplete", isCut: false, cause: { code } });
      expect(server.requests).toHaveLength(1);
    },
  );

  test("that the server ends before its first word fails with that reason", async () => {
    const server = Object.assign(createReplyServer([]), { comment: ": error upstream_error" });
    expect(await collect(open(server).chat("hi"))).toMatchObject({ text: "", error: { code: "upstream_error" } });
    expect(server.requests).toHaveLength(1);
  });

  test("that is no reply of this interface fails with bad_response", async () => {
    const server = createReplyServer(fragments);
    server.fate = () => new Response("data: <html>\n\n");
    expect(await collect(open(server).chat("hi"))).toMatchObject({ text: "", error: { code: "bad_response" } });
    expect(server.requests).toHaveLength(1);
  });

  test("whose server goes away is continued at the next one", async () => {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => {
      server.comment = index === 0 ? ": error unavailable" : null;
      return null;
    };
    server.fragments = fragments.slice(0, 3);
    let text = "";
    for await (const fragment of open(server).chat("hi")) {
      text += fragment;
      server.fragments = fragments;
    }
    expect(text).toBe(whole);
  });

  test("that is unavailable twice without a word in between has ended so", async () => {
    const server = createReplyServer(fragments);
    server.comment = ": error unavailable";
    server.fragments = fragments.slice(0, 2);
    const { text, error } = await collect(open(server).chat("hi"));
    expect(error).toMatchObject({ code: "incomplete", isCut: false, cause: { code: "unavailable" } });
    expect(summary(server)).toEqual(["POST", `GET ${text.length}`]);
  });
}

function testStops(open: Open): void {
  test.each(["the signal", "leaving the loop"])("is ended at the server by %s", async (stop) => {
    const server = createReplyServer(fragments);
    const controller = new AbortController();
    const run = async () => {
      for await (const _ of open(server).chat("hi", { signal: controller.signal })) {
        if (stop === "leaving the loop") break;
        controller.abort();
      }
    };
    if (stop === "leaving the loop") await run();
    else await expect(run()).rejects.toHaveProperty("name", "AbortError");
    await eventually(() => server.requests.length === 2);
    const [sent, cancelled] = server.requests;
    expect(cancelled).toMatchObject({ method: "DELETE", path: `/chat/${sent?.body.message_id}` });
    expect(cancelled?.query.get("session_id")).toBe(String(sent?.body.session_id));
    expect(cancelled?.query.get("visitor_id")).toBe((sent?.body.visitor_id as string | undefined) ?? null);
  });

  test("is ended once more where the stop was not heard, or came before the server knew of the message", async () => {
    using noted = noteWaits();
    const server = createReplyServer(fragments);
    const fates = ["no-head", refuse(404, "not_found"), null] as const;
    server.fate = ({ method }, index) => (method === "DELETE" ? (fates[index - 1] ?? null) : null);
    for await (const _ of open(server, { hasWaits: true }).chat("hi")) break;
    await eventually(() => server.requests.length === 4);
    expect(summary(server)).toEqual(["POST", "DELETE", "DELETE", "DELETE"]);
    // Among those of the streams and requests themselves.
    expect(noted.waitsMs).toEqual(expect.arrayContaining([1000, 3000]));
  });
}

function testDecisions(open: Open): void {
  test("to a decision is read once, with what it tells besides its text", async () => {
    const server = Object.assign(createReplyServer(fragments), {
      events: [{ offset: 0, name: "tool", data: { call_id: "a/b", name: "book", state: "done" } }],
    });
    const states: string[] = [];
    const reply = open(server).confirm("a/b", true, { onTool: ({ state }) => void states.push(state) });
    expect(await collect(reply)).toEqual({ text: whole, error: null });
    expect(states).toEqual(["done"]);
    expect(server.requests.map(({ method, path }) => [method, path])).toEqual([["POST", "/confirmations/a%2Fb"]]);
    expect(server.requests[0]?.body).toMatchObject({ approve: true, session_id: expect.any(String) });
    expect(server.requests[0]?.body).not.toHaveProperty("message_id");
  });

  test("to a decision that is cut or lost is not asked for again, nor is one that the server refuses", async () => {
    for (const [fate, code] of [
      [{ cutAt: 60, by: "end" }, "incomplete"],
      [{ cutAt: 60, by: "reset" }, "incomplete"],
      ["no-head", "network"],
      [refuse(409, "conflict"), "conflict"],
      [refuse(404, "not_found"), "not_found"],
      [refuse(502, "upstream_error"), "upstream_error"],
    ] as const) {
      const server = createReplyServer(fragments);
      server.fate = () => fate;
      const { error } = await collect(open(server).confirm("a", false));
      expect([error?.code as string, server.requests.length]).toEqual([code, 1]);
    }
  });

  test("to a decision that a limit has refused is asked for again", async () => {
    const server = createReplyServer(fragments);
    server.fate = (_, index) => (index === 0 ? refuse(429, "rate_limited", { "Retry-After": "0" }) : null);
    expect(await collect(open(server).confirm("a", true))).toEqual({ text: whole, error: null });
    expect(server.requests).toHaveLength(2);
  });

  test("to a decision ends with its signal, without another request", async () => {
    const server = createReplyServer(fragments);
    const controller = new AbortController();
    const { error } = await collect(
      (async function* () {
        for await (const text of open(server).confirm("a", true, { signal: controller.signal })) {
          controller.abort();
          yield text;
        }
      })(),
    );
    expect([error?.name as string, server.requests.length]).toEqual(["AbortError", 1]);
  });
}
