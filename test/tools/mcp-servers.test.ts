/** Tools of servers that both official SDKs make, in each protocol and each form of responses. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import {
  createTestClient,
  forever,
  methodsOf,
  serveMcp,
  startStateless,
  startWithoutSessions,
  startWithSessions,
  type TestServer,
  toolSchemas,
} from "../support/mcp-servers.ts";

let executed: string[];
let client: ReturnType<typeof createTestClient>;
let servers: AsyncDisposableStack;

beforeEach(() => {
  executed = [];
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

const kinds: Record<string, () => TestServer> = {
  "2026-07-28 with documents": () => startStateless({ legacy: "reject", responseMode: "json" }, executed),
  "2026-07-28 with streams": () => startStateless({ legacy: "reject", responseMode: "sse" }, executed),
  "both protocols": () => startStateless({}, executed),
  "2025-11-25 with documents": () => startWithSessions({ enableJsonResponse: true }, executed),
  "the older protocol without sessions": () => startWithoutSessions(executed),
  "2025-11-25 with streams": () => startWithSessions({}, executed),
};

describe.each(Object.keys(kinds))("a server of %s", (kind) => {
  let server: TestServer;
  beforeEach(() => {
    server = use((kinds[kind] ?? expect.unreachable)());
  });

  test("lists its tools and calls them", async () => {
    const to = client.server(server);
    const listing = await client.mcp.list(to, forever);
    if (listing.outcome === "failed") return expect.unreachable(listing.reason);
    expect(listing.tools.map(({ name }) => name)).toEqual(["add", "order", "forecast", "ask"]);
    expect(listing.tools[0]?.description).toBe("Does add.");
    expect(listing.tools[0]?.parameters).toMatchObject(toolSchemas.add);
    expect(await client.call(to, "add", { a: 2, b: 3 })).toBe("The sum is 5.");
    expect(await client.call(to, "forecast")).toBe('{"degrees":21}');
    expect(await client.call(to, "order", { region: " Køln\r\nX-Evil: 1" })).toBe("Ordered in  Køln\r\nX-Evil: 1.");
    expect(executed).toEqual(["add", "forecast", "order"]);
  });

  test("tells the model what the tool says of its failure, and nothing of what the server says", async () => {
    const to = client.server(server);
    expect(await client.call(to, "add", { a: -2, b: 1 })).toBe("Only sums above zero. / The tool reported an error.");
    const unknown = await client.mcp.call(to, { id: "call_1", name: "nothing", arguments: {} }, forever);
    expect(unknown).toMatchObject({ outcome: kind.startsWith("2026") || kind.startsWith("both") ? "failed" : "done" });
    expect(client.log.text()).not.toContain("sums");
  });

  test("is sent the owner's headers with every request, and its own are not to be replaced", async () => {
    const others = { "MCP-Protocol-Version": "1999-01-01", "Mcp-Method": "tools/list", "Mcp-Name": "order" };
    const headers = { Authorization: "Bearer owner", Accept: "text/html", ...others };
    const to = client.server(server, { headers });
    expect(await client.call(to, "add", { a: 2, b: 3 })).toBe("The sum is 5.");
    client.mcp.close();
    const ends = kind.startsWith("2025") ? 1 : 0;
    await eventually(() => server.seen.filter(({ verb }) => verb === "DELETE").length === ends);
    for (const { headers } of server.seen) expect(headers.get("authorization")).toBe("Bearer owner");
  });
});

test("asks once which protocol a server speaks, and says all of itself with each stateless request", async () => {
  const server = use(startStateless({ legacy: "reject" }));
  const to = client.server(server);
  await client.mcp.list(to, forever);
  await client.call(to, "add", { a: 2, b: 3 });
  await client.call(to, "add", { a: 2, b: 4 });
  expect(methodsOf(server)).toEqual(["server/discover", "tools/list", "tools/call", "tools/call"]);
  const call = server.seen[2];
  expect(call?.headers.get("mcp-protocol-version")).toBe("2026-07-28");
  expect(call?.headers.get("mcp-method")).toBe("tools/call");
  expect(call?.headers.get("mcp-name")).toBe("add");
  expect(call?.headers.has("mcp-session-id")).toBe(false);
  expect(call?.message?.["params"]).toMatchObject({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  client.clock.advance(60 * 60_000);
  await client.call(to, "add", { a: 2, b: 4 });
  expect(methodsOf(server).slice(4)).toEqual(["server/discover", "tools/call"]);
});

test("begins one session for calls at the same time, and ends it", async () => {
  const server = use(startWithSessions({}));
  const to = client.server(server);
  await Promise.all([
    client.mcp.list(to, forever),
    client.call(to, "add", { a: 2, b: 3 }),
    client.call(to, "forecast"),
  ]);
  expect(methodsOf(server).slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  expect(methodsOf(server).slice(3).sort()).toEqual(["tools/call", "tools/call", "tools/list"]);
  expect(server.seen[3]?.headers.get("mcp-protocol-version")).toBe("2025-11-25");
  expect(server.sessions.size).toBe(1);
  client.mcp.forget(to.toolId);
  await eventually(() => server.sessions.size === 0);
});

test("renews a session after an hour, and ends the old one", async () => {
  const server = use(startWithSessions({}));
  const to = client.server(server);
  await client.call(to, "forecast");
  client.clock.advance(60 * 60_000);
  await client.call(to, "forecast");
  await eventually(() => methodsOf(server).includes("DELETE") && server.sessions.size === 1);
  expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(2);
});

const badRequest = () =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Bad Request" } }, { status: 400 });

test.each([
  ["404", {}],
  ["400, without naming the request", { answerUnknown: badRequest }],
])("begins a session anew where the server has lost it and says so with %s", async (_, options) => {
  const server = use(startWithSessions(options, executed));
  const to = client.server(server);
  expect(await client.call(to, "add", { a: 2, b: 3 })).toBe("The sum is 5.");
  server.restart();
  expect(await client.call(to, "add", { a: 2, b: 4 })).toBe("The sum is 6.");
  expect(executed).toEqual(["add", "add"]);
});

test("repeats arguments in headers; learns which from the list where it had none, and calls once", async () => {
  const server = use(startStateless({ legacy: "reject" }, executed));
  const to = client.server(server);
  expect(await client.call(to, "order", { region: "us-west1" })).toBe("Ordered in us-west1.");
  expect(methodsOf(server)).toEqual(["server/discover", "tools/call", "tools/list", "tools/call"]);
  expect(server.seen.at(-1)?.headers.get("mcp-param-region")).toBe("us-west1");
  expect(executed).toEqual(["order"]);
});

test("answers a server's ping, and refuses what else it asks", async () => {
  const server = use(startWithSessions({}, executed));
  const answer = await client.call(client.server(server), "ask");
  expect(answer).toContain("This client does not offer that.");
  expect(methodsOf(server).filter((method) => method === "an answer")).toHaveLength(2);
});

test("fails a call that needs input", async () => {
  const server = use(startStateless({ legacy: "reject" }, executed));
  expect(await client.call(client.server(server), "ask")).toStartWith(
    "The tool asks for input that is not available here",
  );
  expect(executed).toEqual(["ask"]);
});

test("finds the protocol that a server has changed to, without a call lost or made twice", async () => {
  let current: TestServer = use(startWithSessions({}, executed));
  const front = use(serveMcp((request) => fetch(new Request(current.url, request))));
  const to = client.server(front);
  expect(await client.call(to, "add", { a: 2, b: 3 })).toBe("The sum is 5.");
  current = use(startStateless({ legacy: "reject" }, executed));
  expect(await client.call(to, "add", { a: 2, b: 4 })).toBe("The sum is 6.");
  current = use(startWithSessions({}, executed));
  expect(await client.call(to, "add", { a: 2, b: 5 })).toBe("The sum is 7.");
  expect(executed).toEqual(["add", "add", "add"]);
});
