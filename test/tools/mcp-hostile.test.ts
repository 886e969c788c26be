/** Servers that answer wrongly, endlessly, or not at all: each call fails with a sentence, in time, and is made once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { type Asked, discovery, serveScript } from "../support/mcp-script.ts";
import { createTestClient, forever, methodsOf, serveMcp, type TestServer } from "../support/mcp-servers.ts";

let client: ReturnType<typeof createTestClient>;
let servers: AsyncDisposableStack;

beforeEach(() => {
  client = createTestClient();
  servers = new AsyncDisposableStack();
});
afterEach(async () => {
  client.mcp.close();
  await servers.disposeAsync();
  // What a server says is data of a conversation.
  expect(client.log.text()).not.toContain("secret");
});

function use(server: TestServer): TestServer {
  servers.defer(() => server.stop());
  return server;
}

const serve = (answer: (asked: Asked) => JsonObject | Response | Promise<Response>) => use(serveScript(answer));
const callsOf = (server: TestServer) => methodsOf(server).filter((method) => method === "tools/call").length;
const message = (id: number, text: string) => ({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const events = (body: string | ReadableStream) =>
  new Response(body, { headers: { "Content-Type": "text/event-stream" } });
const json = (body: string) => new Response(body, { headers: { "Content-Type": "application/json" } });

function endless(piece: string): Response {
  const bytes = Buffer.from(piece);
  return events(new ReadableStream({ pull: (controller) => controller.enqueue(bytes) }));
}

const unknown = "The tool did not answer properly, so it is not known whether it did what it was asked to.";
const garbled = `${unknown} / The server's response is not an MCP message.`;
const refused = "The tool refused the call.";
const busy = "The tool is busy at present; nothing was done.";
const long = "The tool's answer is too long to be read. / The server's response is too long.";
const cut = `${unknown} / The server's response ended before it was complete.`;

test.each<[string, (asked: Asked) => JsonObject | Response, string]>([
  ["invalid JSON", () => json('{"secret":'), garbled],
  ["a page", () => new Response("<p>secret", { headers: { "Content-Type": "text/html" } }), garbled],
  ["nothing", () => new Response(null, { status: 204 }), garbled],
  ["a list", ({ id }) => json(JSON.stringify([message(id, "secret")])), garbled],
  ["the result of another request", ({ id }) => json(JSON.stringify(message(id + 1, "secret"))), garbled],
  ["a request of its own", ({ id }) => json(JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })), garbled],
  ["a result without content", () => ({ secret: 1 }), garbled],
  ["content that is no list", () => ({ content: "secret" }), garbled],
  ["a result of an unknown type", () => ({ resultType: "secret", content: [] }), garbled],
  ["depths", ({ id }) => json(`{"id":${id},"result":{"structuredContent":${deep(100_000)}}}`), garbled],
  ["a large result", () => ({ content: [{ type: "text", text: "secret".repeat(200_000) }] }), long],
  ["an endless stream of pings", () => endless(": ping\n\n".repeat(100)), long],
  ["an endless line", () => endless("data: secret".repeat(100)), long],
  ["an endless document", () => new Response(endless(" ".repeat(4096)).body), long],
  ["a stream without a result", () => events(event({ jsonrpc: "2.0", method: "notifications/message" })), cut],
  ["a stream of other results", ({ id }) => events(event(message(id + 1, "secret"))), cut],
  ["a stream with invalid JSON", () => events("data: secret\n\n"), garbled],
  [
    "what is compressed",
    ({ id }) =>
      new Response(Bun.gzipSync(JSON.stringify(message(id, "secret"))), { headers: { "Content-Encoding": "gzip" } }),
    `${unknown} / The server compressed its response without being asked to.`,
  ],
  ["an error", ({ id }) => json(error(id, -32603)), `${refused} / The server answered with the error -32603.`],
  [
    "an error of another server's",
    ({ id }) => json(error(id, -32022)),
    `${refused} / The server answered with the error -32022.`,
  ],
  [
    "400 to its own id",
    ({ id }) => new Response(error(id, -32602), { status: 400 }),
    `${refused} / The server answered with status 400.`,
  ],
  ["403", () => new Response("secret", { status: 403 }), `${refused} / The server refuses access (status 403).`],
  ["429", () => new Response("secret", { status: 429 }), `${busy} / The server answered with status 429.`],
  ["503", () => new Response("secret", { status: 503 }), `${busy} / The server answered with status 503.`],
  ["500", () => new Response("secret", { status: 500 }), `${unknown} / The server answered with status 500.`],
  ["400", () => new Response("secret", { status: 400 }), `${refused} / The server answered with status 400.`],
])("fails a call that is answered with %s, and makes it once", async (_, answer, expected) => {
  const server = serve(answer);
  expect(await client.call(client.server(server), "one")).toBe(expected);
  expect(callsOf(server)).toBe(1);
});

function deep(levels: number): string {
  return '{"a":'.repeat(levels) + 1 + "}".repeat(levels);
}

function error(id: number, code: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "secret" } });
}

test("finds the result in a stream among messages of others, wherever it is split", async () => {
  const server = serve(({ id }) => {
    const bytes = Buffer.from(
      `\ufeffid: 1\ndata:\n\n: ping\r\n\r\n${event({ method: "secret", id: 9 })}${event(message(id + 7, "wrong"))}` +
        `event: other\n${event(message(id, "wrong"))}event: message\r\ndata: ${JSON.stringify(message(id, "Straße"))}\r\n\r\n`,
    );
    const pieces = bytes.values();
    return events(
      new ReadableStream({
        pull(controller) {
          const { value } = pieces.next();
          // What follows the result is not waited for.
          if (value !== undefined) controller.enqueue(Uint8Array.of(value));
        },
      }),
    );
  });
  expect(await client.call(client.server(server), "one")).toBe("Straße");
});

test.each([301, 302, 307, 308])("does not follow a redirect (%d), and sends its target nothing", async (status) => {
  const target = use(serveMcp(() => new Response()));
  const redirect = () => new Response(null, { status, headers: { Location: target.url } });
  const expected = `${refused} / The server redirects (status ${status}), which is not followed.`;
  expect(await client.call(client.server(serve(redirect)), "one")).toBe(expected);
  expect(await client.call(client.server(use(serveMcp(redirect)), { toolId: "tool_2" }), "one")).toBe(expected);
  expect(target.seen).toHaveLength(0);
});

test("fails in time where a server says nothing, or never ends, and leaves it", async () => {
  let left = 0;
  async function isLate(answer: () => Response | Promise<Response>): Promise<void> {
    const server = serve(({ method, request }) => {
      if (method === "tools/list") return { tools: [] };
      request.signal.addEventListener("abort", () => left++);
      return answer();
    });
    // What comes before the call has the time that it needs.
    await client.mcp.list(client.server(server), forever);
    expect(await client.call(client.server(server, { timeoutMs: 150 }), "one")).toStartWith(
      "The tool did not answer in time, so it is not known whether it did what it was asked to.",
    );
    expect(callsOf(server)).toBe(1);
  }
  await isLate(() => new Promise<Response>(() => {}));
  await isLate(() => events(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from(": ping\n\n")) })));
  await eventually(() => left === 2);
});

test("knows that nothing was done where a server says nothing of its protocol", async () => {
  const server = use(serveMcp(() => new Promise<Response>(() => {})));
  const away = "The tool could not be reached; nothing was done. / The server did not answer within 0.15 s.";
  expect(await client.call(client.server(server, { timeoutMs: 150 }), "one")).toBe(away);
  expect(methodsOf(server)).toEqual(["server/discover"]);
});

test("fails where a server breaks off, or is not there", async () => {
  const server = serve(() => {
    setTimeout(() => server.stop(), 0);
    return new Promise<Response>(() => {});
  });
  expect(await client.call(client.server(server), "one")).toStartWith(unknown);
  expect(await client.call(client.server(server), "one")).toStartWith(
    "The tool could not be reached; nothing was done.",
  );
});

test("gives no argument and no name a way out of its header", async () => {
  const inputSchema = {
    type: "object",
    properties: { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "Mcp-B" } },
  };
  const server = serve(({ method }) => (method === "tools/list" ? { tools: [{ name: "one", inputSchema }] } : {}));
  const to = client.server(server);
  await client.mcp.list(to, forever);
  await client.call(to, "one", { a: "x\r\nEvil: 1", b: "y\n\nGET / HTTP/1.1", c: "\r\nEvil: 1" });
  await client.call(to, "one\r\nEvil: 1");
  const [first, second] = server.seen.slice(-2).map(({ headers }) => headers);
  expect(first?.has("evil") || second?.has("evil")).toBe(false);
  expect(first?.get("mcp-param-a")).toBe(`=?base64?${btoa("x\r\nEvil: 1")}?=`);
  expect(first?.get("mcp-param-mcp-b")).toBe(`=?base64?${btoa("y\n\nGET / HTTP/1.1")}?=`);
  expect(second?.get("mcp-name")).toBe(`=?base64?${btoa("one\r\nEvil: 1")}?=`);
  const before = server.seen.length;
  const evil = client.server(server, { headers: { "X-Own": "1\r\nEvil: 1" } });
  expect(await client.call(evil, "one")).toStartWith("The tool could not be called: it is not set up correctly.");
  expect(server.seen).toHaveLength(before);
});

test("rejects with the signal's reason alone, and lets a call that was sent go on", async () => {
  const reason = new Error("the visitor has left");
  const held = Promise.withResolvers<Response>();
  let isLeft = false;
  const server = serve(({ request }) => {
    request.signal.addEventListener("abort", () => {
      isLeft = true;
    });
    return held.promise;
  });
  const to = client.server(server);
  const call = { id: "call_1", name: "one", arguments: {} };
  expect(client.mcp.call(to, call, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(client.mcp.list(to, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(server.seen).toHaveLength(0);
  const leaving = new AbortController();
  const called = client.mcp.call(to, call, leaving.signal);
  await eventually(() => callsOf(server) === 1);
  leaving.abort(reason);
  await expect(called).rejects.toBe(reason);
  held.resolve(json("{}"));
  await eventually(() => methodsOf(server).length === 2);
  expect(isLeft).toBe(false);
});

test("sends no call for a visitor who leaves while the server is asked for its protocol", async () => {
  const held = Promise.withResolvers<void>();
  const server = use(
    serveMcp(async (_, { message }) => {
      await held.promise;
      return Response.json({ jsonrpc: "2.0", id: message?.["id"] ?? null, result: discovery });
    }),
  );
  const to = client.server(server);
  const leaving = new AbortController();
  const called = client.mcp.call(to, { id: "1", name: "one", arguments: {} }, leaving.signal);
  await eventually(() => server.seen.length === 1);
  leaving.abort(new Error("left"));
  await expect(called).rejects.toThrow("left");
  held.resolve();
  await client.call(to, "another");
  expect(methodsOf(server)).toEqual(["server/discover", "tools/call"]);
  expect(server.seen[1]?.headers.get("mcp-name")).toBe("another");
});

test("ends calls and lists with the program", async () => {
  const server = serve(() => new Promise<Response>(() => {}));
  const to = client.server(server);
  const called = client.call(to, "one");
  const listed = client.mcp.list(to, forever);
  await eventually(() => server.seen.length === 3);
  client.mcp.close();
  expect(await called).toEndWith("This server is stopping.");
  expect(await listed).toEqual({ outcome: "failed", reason: "This server is stopping." });
});
