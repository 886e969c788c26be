/** The protocol with sessions, where servers bend it: versions, lost sessions, requests of theirs, calls that end early. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
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
});

interface Script {
  readonly discover?: () => Response;
  readonly initialize?: (id: number) => JsonObject;
  readonly sessionId?: string;
  readonly initialized?: () => Response;
  readonly list?: (id: number) => Response | Promise<Response>;
  readonly call?: (id: number) => Response | Promise<Response>;
}

const answer = (id: number, result: JsonObject, headers: Record<string, string> = {}) =>
  Response.json({ jsonrpc: "2.0", id, result }, { headers });
const done = (id: number) => answer(id, { content: [{ type: "text", text: "done" }] });

function serve(script: Script): TestServer {
  const server = serveMcp((_, { message }) => {
    const id = Number(message?.["id"]);
    switch (message?.["method"]) {
      case "server/discover":
        return script.discover?.() ?? new Response("Not here", { status: 404 });
      case "initialize": {
        const result = script.initialize?.(id) ?? { protocolVersion: "2025-11-25", capabilities: {} };
        return answer(id, result, { "Mcp-Session-Id": script.sessionId ?? `session-${id}` });
      }
      case "notifications/initialized":
        return script.initialized?.() ?? new Response(null, { status: 202 });
      case "tools/list":
        return script.list?.(id) ?? answer(id, { tools: [] });
      case "tools/call":
        return script.call?.(id) ?? done(id);
      default:
        return new Response(null, { status: 202 });
    }
  });
  servers.defer(() => server.stop());
  return server;
}

const notSpoken =
  "The tool could not be called: it is not set up correctly. / " +
  "The server supports no MCP version that is supported here: 2026-07-28 or 2025-11-25.";

test.each(["2025-11-25", "2025-06-18", "2025-03-26"])("speaks %s where a server wishes it", async (version) => {
  const server = serve({ initialize: () => ({ protocolVersion: version }) });
  expect(await client.call(client.server(server), "one")).toBe("done");
  expect(server.seen.at(-1)?.headers.get("mcp-protocol-version")).toBe(version);
  expect(server.seen.at(-1)?.headers.get("mcp-session-id")).toBe("session-2");
  expect(server.seen.at(-1)?.headers.has("mcp-method")).toBe(false);
  expect(server.seen.at(-1)?.message?.["params"]).toEqual({ name: "one", arguments: {} });
});

test.each([["2024-11-05"], ["2026-07-28"], [null]])("does not speak %p in a session", async (protocolVersion) => {
  const server = serve({ initialize: () => ({ protocolVersion }) });
  expect(await client.call(client.server(server), "one")).toBe(notSpoken);
  expect(methodsOf(server)).toEqual(["server/discover", "initialize"]);
});

const unsupported = (data: JsonObject) => () =>
  Response.json({ jsonrpc: "2.0", id: 1, error: { code: -32022, message: "No", data } }, { status: 400 });

test.each<[string, () => Response, boolean]>([
  ["names versions with sessions", unsupported({ supported: ["2027-01-01", "2025-11-25"] }), true],
  ["names other versions", unsupported({ supported: ["2027-01-01"] }), false],
  ["refuses the version that it names", unsupported({ supported: ["2026-07-28"] }), false],
  ["names none", unsupported({}), true],
  ["has none in common", () => answer(1, { supportedVersions: ["2027-01-01"] }), false],
  ["has those with sessions alone", () => answer(1, { supportedVersions: ["2025-06-18"] }), true],
  ["knows no such method", () => answer(1, {}), true],
])("begins a session with a server that %s: %#", async (_, discover, begins) => {
  const server = serve({ discover });
  expect(await client.call(client.server(server), "one")).toBe(begins ? "done" : notSpoken);
  expect(methodsOf(server).includes("initialize")).toBe(begins);
});

test.each([401, 403, 429, 302, 500, 503])("takes %d for no sign of a protocol", async (status) => {
  const server = serve({ discover: () => new Response(null, { status, headers: { Location: "/" } }) });
  expect(await client.call(client.server(server), "one")).toContain(`status ${status}`);
  expect(methodsOf(server)).toEqual(["server/discover"]);
});

test.each<[string, Script]>([
  ["a page for a protocol", { discover: () => new Response("<p>secret") }],
  ["a defect", { discover: () => new Response("secret", { status: 500 }) }],
  ["a session id that is none", { sessionId: "two words" }],
])("knows that nothing was done by a server that answers with %s", async (_, script) => {
  const server = serve(script);
  expect(await client.call(client.server(server), "one")).toStartWith(
    "The tool could not be reached; nothing was done.",
  );
  expect(methodsOf(server)).not.toContain("tools/call");
});

test("calls twice at most, where each session is lost at once", async () => {
  const server = serve({ call: () => new Response(null, { status: 404 }) });
  expect(await client.call(client.server(server), "one")).toEndWith("The server answered with status 404.");
  expect(methodsOf(server).filter((method) => method === "tools/call")).toHaveLength(2);
  expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(2);
});

test("lists again in a new session where the old one was refused in any form", async () => {
  let isLost = true;
  const list = (id: number) => {
    const response = isLost ? new Response("Bad Request", { status: 400 }) : answer(id, { tools: [] });
    isLost = false;
    return response;
  };
  const listing = await client.mcp.list(client.server(serve({ list })), forever);
  expect(listing).toEqual({ outcome: "listed", tools: [] });
});

test.each(["two words", "Köln", "x".repeat(1025)])("takes no session id that is none: %#", async (sessionId) => {
  const server = serve({ sessionId });
  expect(await client.call(client.server(server), "one")).toEndWith("The server's response is not an MCP message.");
});

test("fails where a server refuses the session that it gave", async () => {
  const server = serve({ initialized: () => new Response(null, { status: 400 }) });
  expect(await client.call(client.server(server), "one")).toEndWith("The server answered with status 400.");
});

test("answers a bounded number of a server's requests, and none that is malformed", async () => {
  const call = (id: number) => {
    const asked = [{ id: null }, { id: {} }, ...Array.from({ length: 100 }, (_, at) => ({ id: `ask-${at}` }))];
    const lines = asked.map((one) => `data: ${JSON.stringify({ jsonrpc: "2.0", method: "ping", ...one })}\n\n`);
    const result = { jsonrpc: "2.0", id, result: { content: [] } };
    return new Response(`${lines.join("")}data: ${JSON.stringify(result)}\n\n`, {
      headers: { "Content-Type": "text/event-stream" },
    });
  };
  const server = serve({ call });
  await client.call(client.server(server), "one");
  const answers = () => server.seen.flatMap(({ message }) => (message?.["method"] === undefined ? [message] : []));
  await eventually(() => answers().length === 8);
  await client.call(client.server(server), "two");
  expect(answers()[0]).toEqual({ jsonrpc: "2.0", id: "ask-0", result: {} });
});

test("cancels a call that has taken too long", async () => {
  const server = serve({ call: () => new Promise<Response>(() => {}) });
  await client.mcp.list(client.server(server), forever);
  expect(await client.call(client.server(server, { timeoutMs: 150 }), "one")).toStartWith("The tool did not answer in");
  await eventually(() => methodsOf(server).includes("notifications/cancelled"));
  const call = server.seen.find(({ message }) => message?.["method"] === "tools/call");
  expect(server.seen.at(-1)?.message?.["params"]).toEqual({ requestId: call?.message?.["id"] ?? null });
});

test("asks for the list again once a server has said in passing that it has changed", async () => {
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const call = (id: number) =>
    new Response(
      `data: ${JSON.stringify(changed)}\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n\n`,
      {
        headers: { "Content-Type": "text/event-stream" },
      },
    );
  const server = serve({ call });
  const to = client.server(server);
  await client.mcp.list(to, forever);
  await client.mcp.list(to, forever);
  await client.call(to, "one");
  await client.mcp.list(to, forever);
  expect(methodsOf(server).filter((method) => method === "tools/list")).toHaveLength(2);
});

test("ends the session of a tool whose headers have changed", async () => {
  const server = serve({});
  await client.call(client.server(server), "one");
  await client.call(client.server(server, { headers: { Authorization: "new" } }), "one");
  await eventually(() => methodsOf(server).includes("DELETE"));
  expect(server.seen.find(({ verb }) => verb === "DELETE")?.headers.has("authorization")).toBe(false);
});

test("ends the session of a tool that is forgotten only when its calls are through", async () => {
  const held = Promise.withResolvers<void>();
  const server = serve({ call: (id) => held.promise.then(() => done(id)) });
  const to = client.server(server);
  const called = client.call(to, "one");
  await eventually(() => methodsOf(server).includes("tools/call"));
  client.mcp.forget(to.toolId);
  await client.mcp.list({ ...to, toolId: "tool_2" }, forever);
  expect(methodsOf(server)).not.toContain("DELETE");
  held.resolve();
  expect(await called).toBe("done");
  await eventually(() => methodsOf(server).includes("DELETE"));
  expect(server.seen.at(-1)?.headers.get("mcp-session-id")).toBe("session-2");
});
