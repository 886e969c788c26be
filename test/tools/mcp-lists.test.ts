/** Lists of tools: paged, kept for as long as the server allows, within bounds, and without what cannot be offered. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ToolServer } from "../../src/contracts/tool-servers.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { type Asked, serveScript } from "../support/mcp-script.ts";
import { createTestClient, forever, methodsOf, startWithSessions, type TestServer } from "../support/mcp-servers.ts";

let client: ReturnType<typeof createTestClient>;
let servers: AsyncDisposableStack;

beforeEach(() => {
  client = createTestClient();
  servers = new AsyncDisposableStack();
});
afterEach(async () => {
  client.mcp.close();
  await servers.disposeAsync();
});

function use<Server extends TestServer>(server: Server): Server {
  servers.defer(() => server.stop());
  return server;
}

const tool = (name: string, inputSchema: JsonObject = { type: "object" }): JsonObject => ({ name, inputSchema });
const serveList = (list: (asked: Asked) => JsonObject | Response) => use(serveScript(list));

async function namesOf(to: ToolServer): Promise<string[] | string> {
  const listing = await client.mcp.list(to, forever);
  return listing.outcome === "listed" ? listing.tools.map(({ name }) => name) : listing.reason;
}

const listsOf = (server: TestServer) => methodsOf(server).filter((method) => method === "tools/list").length;

test("reads all pages, in the server's order", async () => {
  const pages: Record<string, JsonObject> = {
    "": { tools: [tool("one"), tool("two")], nextCursor: "b" },
    b: { tools: [tool("three")], nextCursor: "c" },
    c: { tools: [tool("four")] },
  };
  const server = serveList(({ params }) => pages[String(params["cursor"] ?? "")] ?? expect.unreachable());
  expect(await namesOf(client.server(server))).toEqual(["one", "two", "three", "four"]);
});

test.each([
  ["what the server says", { ttlMs: 10_000 }, 10_000],
  ["five minutes where it says nothing", {}, 300_000],
  ["an hour at most", { ttlMs: 1e12 }, 3_600_000],
])("keeps a list for %s", async (_, hints, freshMs) => {
  const server = serveList(() => ({ tools: [tool(`tool_${listsOf(server)}`)], ...hints }));
  const to = client.server(server);
  expect(await namesOf(to)).toEqual(["tool_1"]);
  client.clock.advance(freshMs - 1);
  expect(await namesOf(to)).toEqual(["tool_1"]);
  client.clock.advance(1);
  expect(await namesOf(to)).toEqual(["tool_2"]);
  expect(listsOf(server)).toBe(2);
});

test.each([[{ ttlMs: 0 }], [{ ttlMs: -1 }]])("asks each time where the server says %p", async (hints) => {
  const server = serveList(() => ({ tools: [], ...hints }));
  await namesOf(client.server(server));
  await namesOf(client.server(server));
  expect(listsOf(server)).toBe(2);
});

test("keeps a list no longer than the first of its pages", async () => {
  const server = serveList(({ params }) =>
    params["cursor"] === undefined ? { tools: [], nextCursor: "b", ttlMs: 1000 } : { tools: [], ttlMs: 9000 },
  );
  await namesOf(client.server(server));
  client.clock.advance(1000);
  await namesOf(client.server(server));
  expect(listsOf(server)).toBe(4);
});

test("shares one request among those who ask at the same time", async () => {
  const server = serveList(() => ({ tools: [tool("one")], ttlMs: 0 }));
  const to = client.server(server);
  const all = await Promise.all([namesOf(to), namesOf(to), namesOf(to)]);
  expect(all).toEqual([["one"], ["one"], ["one"]]);
  expect(methodsOf(server)).toEqual(["server/discover", "tools/list"]);
});

test("stands in with what is kept while the server fails, and asks it again after a pause", async () => {
  let isAway = false;
  const server = serveList(() =>
    isAway ? new Response("secret", { status: 503 }) : { tools: [tool(`tool_${listsOf(server)}`)], ttlMs: 1000 },
  );
  const to = client.server(server);
  await namesOf(to);
  isAway = true;
  client.clock.advance(1000);
  expect(await namesOf(to)).toEqual(["tool_1"]);
  expect(await namesOf(to)).toEqual(["tool_1"]);
  expect(listsOf(server)).toBe(2);
  isAway = false;
  client.clock.advance(15_000);
  expect(await namesOf(to)).toEqual(["tool_3"]);
});

test("says what failed where nothing is kept, and does not ask again at once", async () => {
  const server = serveList(() => new Response("secret", { status: 401 }));
  const to = client.server(server);
  expect(await namesOf(to)).toBe("The server refuses access (status 401).");
  expect(await namesOf(to)).toBe("The server refuses access (status 401).");
  expect(listsOf(server)).toBe(1);
});

test("keeps nothing of a tool that is forgotten, or has another URL or other headers by now", async () => {
  const server = serveList(({ request }) => ({ tools: [tool(request.headers.get("authorization") ?? "none")] }));
  const to = client.server(server);
  expect(await namesOf(to)).toEqual(["none"]);
  expect(await namesOf({ ...to, headers: { Authorization: "one" } })).toEqual(["one"]);
  expect(await namesOf({ ...to, headers: { Authorization: "two" } })).toEqual(["two"]);
  expect(await namesOf({ ...to, toolId: "tool_2" })).toEqual(["none"]);
  client.mcp.forget(to.toolId);
  await namesOf({ ...to, headers: { Authorization: "two" } });
  expect(listsOf(server)).toBe(5);
});

test("passes over what cannot be offered, and reports it once", async () => {
  const server = serveList(() => ({
    ttlMs: 0,
    tools: [
      tool("good.tool-1"),
      { ...tool("described"), description: "A\0B\ud800" },
      tool("good.tool-1"),
      tool("with space"),
      tool("x".repeat(129)),
      tool("a\r\nX-Evil: 1"),
      { inputSchema: { type: "object" } },
      "no tool",
      { name: "no_schema" },
      tool("no_object", { type: "string" }),
      tool("large", { type: "object", description: "x".repeat(8192) }),
      tool("foreign", { type: "object", properties: { a: { $ref: "https://example.com/schema" } } }),
      tool("broken", { type: "object", properties: { a: { type: "text" } } }),
      tool("backtracking", { type: "object", properties: { a: { pattern: "(?=a)(a+)+$" } } }),
      tool("own", { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {} } }),
      tool("header", { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } }),
    ],
  }));
  const to = client.server(server);
  const listing = await client.mcp.list(to, forever);
  if (listing.outcome === "failed") return expect.unreachable(listing.reason);
  expect(listing.tools.map(({ name }) => name)).toEqual(["good.tool-1", "described", "own"]);
  expect(listing.tools[1]?.description).toBe("A\ufffdB\ufffd");
  await namesOf(to);
  expect(client.log.events.map(({ event, fields }) => [event, fields["toolId"], fields["count"]])).toEqual([
    ["tools of an MCP server are not offered", "tool_1", 13],
  ]);
});

test("offers what was read of a list without an end", async () => {
  let page = 0;
  const server = serveList(() => ({ tools: [tool(`tool_${page++}`)], nextCursor: "more" }));
  expect(await namesOf(client.server(server))).toHaveLength(32);
  expect(listsOf(server)).toBe(32);
});

test("offers 128 tools at most", async () => {
  const server = serveList(() => ({ tools: Array.from({ length: 500 }, (_, at) => tool(`tool_${at}`)) }));
  expect(await namesOf(client.server(server))).toHaveLength(128);
});

test("stops to read where the pages are large, and fails where one alone is", async () => {
  const server = serveList(() => ({ tools: [tool("one")], nextCursor: "more", padding: "x".repeat(400_000) }));
  expect(await namesOf(client.server(server))).toEqual(["one"]);
  expect(listsOf(server)).toBe(3);
  const larger = serveList(() => ({ tools: [tool("one")], padding: "x".repeat(1024 * 1024) }));
  expect(await namesOf(client.server(larger))).toBe("The server's response is too long.");
});

test("asks again after an error of a call, since the tool may be gone", async () => {
  const server = serveList(({ method, id }) =>
    method === "tools/list"
      ? { tools: [tool("one")], ttlMs: 60_000 }
      : Response.json({ jsonrpc: "2.0", id, error: { code: -32602, message: "Unknown tool: secret" } }),
  );
  const to = client.server(server);
  await namesOf(to);
  const reason = "The tool refused the call. / The server answered with the error -32602.";
  expect(await client.call(to, "one")).toBe(reason);
  await namesOf(to);
  expect(listsOf(server)).toBe(2);
});

test("keeps lists and sessions of a bounded number of tools, and ends the sessions of others", async () => {
  client = createTestClient({ maxServers: 4 });
  const server = use(startWithSessions({ enableJsonResponse: true }));
  for (let number = 0; number < 7; number++) await namesOf(client.server(server, { toolId: `tool_${number}` }));
  await eventually(() => server.sessions.size <= 4);
  expect(server.sessions.size).toBe(4);
});

test("keeps lists of a bounded size, the last used ones", async () => {
  client = createTestClient({ maxKeptBytes: 25_000 });
  const inputSchema = { type: "object", description: "x".repeat(4000) };
  const server = serveList(() => ({ tools: [tool("one", inputSchema), tool("two", inputSchema)] }));
  const list = (toolId: string) => namesOf(client.server(server, { toolId }));
  for (const toolId of ["tool_1", "tool_2", "tool_3", "tool_1"]) await list(toolId);
  expect(listsOf(server)).toBe(3);
  for (const toolId of ["tool_4", "tool_1"]) await list(toolId);
  expect(listsOf(server)).toBe(4);
  await list("tool_2");
  expect(listsOf(server)).toBe(5);
});

test("waits for a list no longer than a caller has, while the request goes on for the next", async () => {
  const held = Promise.withResolvers<void>();
  const server = use(
    serveScript(async ({ id }) => {
      await held.promise;
      return Response.json({ jsonrpc: "2.0", id, result: { tools: [tool("one")] } });
    }),
  );
  const to = client.server(server, { timeoutMs: 100 });
  expect(await namesOf(to)).toBe("The server did not answer within 0.1 s.");
  expect(await namesOf(client.server(server))).toBe("The server did not answer within 0.1 s.");
  held.resolve();
  await eventually(async () => typeof (await namesOf(to)) !== "string");
  expect(await namesOf(client.server(server))).toEqual(["one"]);
  expect(listsOf(server)).toBe(1);
});
