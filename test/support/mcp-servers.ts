/** Servers that speak MCP, made with both official SDKs, on loopback; and the client that tests call them with. */
import { Server as SessionServer } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  EmptyResultSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  type CreateMcpHandlerOptions,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import type { McpTools, ToolServer } from "../../src/contracts/tool-servers.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { createMcpTools } from "../../src/engines/mcp/mcp.ts";
import { createOutgoingHttp } from "../../src/engines/outgoing-http/outgoing-http.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { createCapturedLog } from "./captured-log.ts";
import { createManualClock } from "./manual-clock.ts";

export interface SeenRequest {
  readonly verb: string;
  readonly headers: Headers;
  /** Null without a body. */
  readonly message: JsonObject | null;
}

export interface TestServer {
  readonly url: string;
  /** In the order in which they came. */
  readonly seen: SeenRequest[];
  stop(): Promise<void>;
}

/** Notes requests and hands them on. */
export function serveMcp(answer: (request: Request, seen: SeenRequest) => Response | Promise<Response>): TestServer {
  const seen: SeenRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.clone().text();
      const message: JsonObject | null = text === "" ? null : JSON.parse(text);
      const one = { verb: request.method, headers: request.headers, message };
      seen.push(one);
      return await answer(request, one);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, seen, stop: () => server.stop(true) };
}

/** What was asked, in short: methods, and verbs of requests without one. */
export function methodsOf({ seen }: TestServer): string[] {
  return seen.map(({ verb, message }) => String(message?.["method"] ?? (message === null ? verb : "an answer")));
}

const integer = { type: "integer" };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** Comes before the result of `add`. */
const progress = { method: "notifications/progress" as const, params: { progressToken: 1, progress: 1 } };

/** The same of all servers; `region` is repeated in a header where the protocol has that. */
export const toolSchemas = {
  add: { type: "object", properties: { a: integer, b: integer }, required: ["a", "b"] },
  order: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
  forecast: { type: "object" },
  ask: { type: "object" },
} as const;

type Name = keyof typeof toolSchemas;

function runTool(name: Name, args: Record<string, unknown>): CallToolResult {
  if (name === "add") {
    const sum = Number(args["a"]) + Number(args["b"]);
    return sum < 0 ? { ...text("Only sums above zero."), isError: true } : text(`The sum is ${sum}.`);
  }
  if (name === "order") return text(`Ordered in ${args["region"]}.`);
  return { content: [], structuredContent: { degrees: 21 } };
}

/** Speaks 2026-07-28, and the older protocol without sessions unless it is rejected. `executed`: the tools that ran. */
export function startStateless(options: CreateMcpHandlerOptions, executed: string[] = []): TestServer {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    for (const name of ["add", "order", "forecast"] as const) {
      const inputSchema = fromJsonSchema<Record<string, unknown>>({ ...toolSchemas[name] });
      server.registerTool(name, { description: `Does ${name}.`, inputSchema }, async (args, { mcpReq }) => {
        executed.push(name);
        if (name === "add") await mcpReq.notify(progress);
        return runTool(name, args);
      });
    }
    const inputSchema = fromJsonSchema<Record<string, unknown>>({ ...toolSchemas.ask });
    server.registerTool("ask", { description: "Does ask.", inputSchema }, () => {
      executed.push("ask");
      return inputRequired({ requestState: "half" });
    });
    return server;
  }, options);
  const server = serveMcp((request) => handler.fetch(request));
  return { ...server, stop: () => handler.close().then(server.stop) };
}

type TransportOptions = NonNullable<ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0]>;

export interface SessionTestServer extends TestServer {
  /** Forgets all sessions, as a restart does. */
  restart(): void;
  readonly sessions: ReadonlyMap<string, unknown>;
}

/** Speaks 2025-11-25, with sessions; `answerUnknown` is for what is of no session that is known. */
export function startWithSessions(
  { answerUnknown, ...options }: TransportOptions & { answerUnknown?: () => Response },
  executed: string[] = [],
): SessionTestServer {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const unknown = () =>
    Response.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, { status: 404 });
  async function open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...options,
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createSessionServer(executed).connect(transport);
    return transport;
  }
  const server = serveMcp(async (request, { headers, message }) => {
    const known = sessions.get(headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return await known.handleRequest(request);
    return message?.["method"] === "initialize"
      ? await (await open()).handleRequest(request)
      : (answerUnknown ?? unknown)();
  });
  return { ...server, sessions, restart: () => sessions.clear() };
}

/** Speaks 2025-11-25, and forgets everything after each request. */
export function startWithoutSessions(executed: string[]): TestServer {
  return serveMcp(async (request) => {
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await createSessionServer(executed).connect(transport);
    return await transport.handleRequest(request);
  });
}

function createSessionServer(executed: string[]): SessionServer {
  const server = new SessionServer({ name: "test", version: "1.0.0" }, { capabilities: { tools: {} } });
  const names = Object.keys(toolSchemas) as Name[];
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { ...toolSchemas[name] } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const name = params.name as Name;
    executed.push(name);
    if (name === "add") await extra.sendNotification(progress);
    if (name !== "ask") return runTool(name, params.arguments ?? {});
    await extra.sendRequest({ method: "ping" }, EmptyResultSchema);
    return await extra.sendRequest({ method: "roots/list" }, ListRootsResultSchema).then(
      () => text("There are roots."),
      (error: Error) => text(`No roots: ${error.message}`),
    );
  });
  return server;
}

export const forever = new AbortController().signal;

/** The client under test, with bounds that need no hundreds of servers; `server` names a server by the URL of a test's. */
export function createTestClient(bounds: { maxServers?: number; maxKeptBytes?: number } = {}) {
  const clock = createManualClock();
  const log = createCapturedLog();
  const allowed = [parseAllowedHost("127.0.0.0/8")].flatMap((one) => one ?? []);
  const outgoing = createOutgoingHttp({ allowed, ownHosts: [] });
  const mcp: McpTools = createMcpTools({ outgoing, clock, log, ...bounds });
  const server = ({ url }: Pick<TestServer, "url">, given: Partial<ToolServer> = {}): ToolServer => {
    return { toolId: "tool_1", url, headers: {}, timeoutMs: 20_000, ...given };
  };
  /** What a call comes to, in one line. */
  const call = async (to: ToolServer, name: string, args: JsonObject = {}): Promise<string> => {
    const answer = await mcp.call(to, { id: "call_1", name, arguments: args }, forever);
    return answer.outcome === "done" ? answer.result : `${answer.sentence} / ${answer.reason}`;
  };
  return { mcp, clock, log, server, call };
}
