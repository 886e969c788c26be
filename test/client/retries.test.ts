/** When the client for servers tries again, how long it waits, and that it does nothing twice. */
import { describe, expect, test } from "bun:test";
import { Companiond, type CompaniondOptions } from "../../src/client/index.ts";

interface Sent {
  method: string;
  search: string;
  headers: Record<string, string>;
}

type Answer = () => Response | Promise<Response>;

const cut: Answer = () => Promise.reject(new TypeError("connection reset"));
const found: Answer = () => Response.json({ id: "c", data: [], next_cursor: null });

/** An answer whose connection breaks behind this text. */
function cutAfter(text: string, type = "application/json"): Answer {
  const pull = (controller: ReadableStreamDefaultController) => controller.error(new TypeError("cut"));
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new TextEncoder().encode(text));
  const headers = { "content-type": type };
  return () => new Response(new ReadableStream({ start, pull }, { highWaterMark: 0 }), { headers });
}

function refuse(status: number, code: string, headers: Record<string, string> = {}): Answer {
  const problem = { type: "", title: "", status, detail: `Refused: ${code}.`, code, request_id: "r" };
  return () => Response.json(problem, { status, headers: { "x-request-id": "r", ...headers } });
}

/** A client of a server that gives these answers, one after another. */
function scripted(answers: Answer[], options: Partial<CompaniondOptions> = {}) {
  const sent: Sent[] = [];
  const waitsMs: number[] = [];
  const client = new Companiond({
    baseUrl: "https://chat.example.com",
    apiKey: "cmp_live_x",
    sleep: async (durationMs) => void waitsMs.push(durationMs),
    fetch: async (url, { method = "", headers }) => {
      sent.push({ method, search: new URL(url).search, headers: Object.fromEntries(new Headers(headers)) });
      const answer = answers.shift();
      if (answer === undefined) throw new Error("one request too many");
      return await answer();
    },
    ...options,
  });
  return { client, sent, waitsMs };
}

describe("waits as long as the server asks", () => {
  test.each<[string, Answer, number]>([
    ["after a limit", refuse(429, "rate_limited", { "retry-after": "7" }), 7000],
    ["for a server that is away", refuse(503, "unavailable", { "retry-after": "1" }), 1000],
    ["for a proxy's limit", () => new Response("slow down", { status: 429, headers: { "retry-after": "2" } }), 2000],
  ])("%s", async (_, answer, waitMs) => {
    const { client, waitsMs } = scripted([answer, found]);
    await client.companions.get("c");
    expect(waitsMs).toEqual([waitMs]);
  });

  test("to an instant", async () => {
    const soon = new Date(Date.now() + 30_000).toUTCString();
    const { client, waitsMs } = scripted([refuse(503, "unavailable", { "retry-after": soon }), found]);
    await client.companions.get("c");
    expect(waitsMs[0]).toBeWithin(20_000, 31_000);
  });

  test("but not until tomorrow: the error says how long", async () => {
    const { client, waitsMs } = scripted([refuse(429, "quota_exceeded", { "retry-after": "40000" })]);
    const call = client.companions.create({ name: "Ada" });
    await expect(call).rejects.toMatchObject({ code: "quota_exceeded", retryAfterSeconds: 40_000 });
    expect(waitsMs).toEqual([]);
  });
});

test("backs off where the server says nothing, longer each time, and gives up", async () => {
  const { client, waitsMs } = scripted([cut, cut, cut]);
  await expect(client.companions.list()).rejects.toMatchObject({ code: "network", status: 0 });
  expect(waitsMs).toHaveLength(2);
  expect(waitsMs[0]).toBeWithin(500, 1000);
  expect(waitsMs[1]).toBeWithin(1000, 2000);
});

describe("an answer that is cut in the middle", () => {
  test.each<[string, Answer]>([
    ["by its connection", cutAfter('{"id":"c","na')],
    ["by a proxy that ends it as if it were whole", () => Response.json({}, { status: 200 }).text().then(half)],
  ])("%s is asked for again, and a creation is named as before", async (_, answer) => {
    const { client, sent, waitsMs } = scripted([answer, found, answer, found, answer, found]);
    expect(await client.companions.get("c")).toMatchObject({ id: "c" });
    expect(await client.companions.getVersion("c")).toMatchObject({ companion: { id: "c" }, etag: null });
    expect(await client.companions.create({ name: "Ada" })).toMatchObject({ id: "c" });
    const keys = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[4]).toMatch(/./);
    expect(keys[5]).toBe(keys[4]);
    expect(waitsMs).toHaveLength(3);
  });

  test("by its connection, as a refusal, is asked for again as well", async () => {
    const whole = cutAfter('{"code":"invalid_req');
    const refused = async () => new Response((await whole()).body, { status: 400 });
    const { client } = scripted([refused, refuse(400, "invalid_request")]);
    await expect(client.companions.get("c")).rejects.toMatchObject({ code: "invalid_request", status: 400 });
  });

  test("of a change on a condition is not: the second time, it would no longer be that version", async () => {
    const { client, sent } = scripted([cutAfter("{")]);
    const call = client.companions.update("c", { name: "Ada" }, { ifMatch: '"v1"' });
    await expect(call).rejects.toMatchObject({ code: "network" });
    expect(sent).toHaveLength(1);
  });

  test("before its first line is asked for again, and gives up like a stream that is cut behind it", async () => {
    const early = cutAfter('{"identif', "application/x-ndjson");
    const { client, waitsMs } = scripted([early, early, early, early]);
    await expect(client.usage.events().next()).rejects.toMatchObject({ code: "network" });
    expect(waitsMs).toEqual([1000, 2000, 4000]);
  });
});

const half = (text: string) => new Response(text.slice(0, -1), { headers: { "content-type": "application/json" } });

describe("does nothing twice", () => {
  test("every try of a call carries its one Idempotency-Key, and each call its own", async () => {
    const { client, sent } = scripted([cut, refuse(409, "conflict"), found, found]);
    await client.companions.create({ name: "Ada" });
    await client.companions.create({ name: "Ada" });
    const keys = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^[\x20-\x7e]{1,255}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(sent[0]?.headers.authorization).toBe("Bearer cmp_live_x");
  });

  test("a conflict without a lost try before it is the caller's", async () => {
    const { client } = scripted([refuse(409, "conflict")]);
    await expect(client.keys.create({ name: "k", scopes: [] })).rejects.toMatchObject({ code: "conflict" });
  });

  test("a change on a condition is not sent again after a lost answer, but after a refusal", async () => {
    const change = (answers: Answer[]) => {
      const { client, sent } = scripted(answers);
      return [client.companions.update("c", { name: "Ada" }, { ifMatch: '"v1"' }), sent] as const;
    };
    const [lost] = change([cut]);
    await expect(lost).rejects.toMatchObject({ code: "network" });
    const [limited, sent] = change([refuse(429, "rate_limited", { "retry-after": "1" }), found]);
    await limited;
    expect(sent.map(({ headers }) => headers["if-match"])).toEqual(['"v1"', '"v1"']);
  });

  test("what a lost try deleted is deleted; what was never there is not found", async () => {
    const { client } = scripted([cut, refuse(404, "not_found"), refuse(404, "not_found")]);
    await client.companions.delete("c");
    await expect(client.companions.delete("c")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a trial chat whose stream was lost is not asked for again", async () => {
    const { client } = scripted([cut]);
    await expect(client.companions.testChat("c", { message: "Hi" }).next()).rejects.toMatchObject({ code: "network" });
  });
});

test.each([
  ["invalid_request", 400],
  ["unauthorized", 401],
  ["insufficient_scope", 403],
  ["precondition_failed", 412],
  ["internal", 500],
])("does not ask again after %s", async (code, status) => {
  const { client, sent } = scripted([refuse(status, code)]);
  await expect(client.companions.get("c")).rejects.toMatchObject({ code, status, message: `Refused: ${code}.` });
  expect(sent).toHaveLength(1);
});

test("a page of a proxy is an error with its status", async () => {
  const { client } = scripted([() => new Response("<html>", { status: 502 })], { maxRetries: 0 });
  await expect(client.companions.get("c")).rejects.toMatchObject({
    code: "upstream_error",
    status: 502,
    problem: null,
  });
  const { client: other } = scripted([() => new Response("<html>")]);
  await expect(other.companions.get("c")).rejects.toMatchObject({ code: "bad_response" });
});

/** Answers when it is aborted. */
function silent(_url: string, { signal }: RequestInit): Promise<Response> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

test("ends with the reason of its signal, while it waits for an answer and between two tries", async () => {
  const { client } = scripted([], { fetch: silent });
  const left = new AbortController();
  const call = client.companions.get("c", { signal: left.signal });
  left.abort(new Error("left"));
  await expect(call).rejects.toThrow("left");
  await expect(client.companions.get("c", { signal: left.signal })).rejects.toThrow("left");

  const between = new AbortController();
  const away = refuse(503, "unavailable", { "retry-after": "50" });
  const options = { baseUrl: "https://x", apiKey: "k", fetch: async () => await away() };
  const waiting = new Companiond(options).companions.get("c", { signal: between.signal });
  setImmediate(() => between.abort(new Error("left")));
  await expect(waiting).rejects.toThrow("left");
});

test.each<[string, (text: string) => Answer]>([
  ["broken", cutAfter],
  ["ended by a proxy as if it were whole", (text) => () => new Response(text)],
])("an export whose line is %s goes on behind its last object", async (_, cutBehind) => {
  const line = (cursor: string) => `${JSON.stringify({ identifier: cursor, cursor })}\n`;
  const { client, sent } = scripted([cutBehind(`${line("1") + line("2")}{"identif`), () => new Response(line("3"))]);
  const identifiers: string[] = [];
  for await (const { identifier } of client.usage.events({ from: "2026-01-01" })) identifiers.push(identifier);
  expect(identifiers).toEqual(["1", "2", "3"]);
  expect(sent.map(({ search }) => search)).toEqual(["?from=2026-01-01", "?from=2026-01-01&cursor=2"]);
});

test("a silent server is a timeout", async () => {
  const { client } = scripted([], { fetch: silent, maxRetries: 0 });
  await expect(client.companions.get("c", { timeoutMs: 1 })).rejects.toMatchObject({ code: "timeout" });
});

test("works where there is no crypto, as on Node 18", async () => {
  const { crypto } = globalThis;
  const { client, sent } = scripted([found]);
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true, writable: true });
  await client.companions.create({ name: "Ada" }).finally(() => {
    Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true, writable: true });
  });
  expect(sent[0]?.headers["idempotency-key"]).toMatch(
    /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  );
});
