/** A mock voice-agent provider on loopback: keeps agents, checks the key, signs URLs, and fails on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface MockAgent {
  name: string;
  prompt: string;
  firstMessage: string;
  voiceId: string;
  isAuthRequired: boolean;
}

export type MockOperation = "create" | "update" | "delete" | "session" | "check";

export interface MockRequest {
  operation: MockOperation | null;
  method: string;
  path: string;
  body: unknown;
}

interface MockResponse {
  status: number;
  body: unknown;
}

export interface MockFailure {
  /**
   * A status to respond with; or no response, one cut in the middle, a page instead of JSON, or JSON without the
   * fields.
   */
  kind: 400 | 401 | 404 | 422 | 429 | 500 | 503 | 302 | "slow" | "cut" | "html" | "empty";
  /** Only for this operation; by default for all. */
  operation?: MockOperation;
  /** How often; by default until `heal`. */
  times?: number;
  retryAfterSeconds?: number;
}

export interface MockElevenLabs {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly agents: Map<string, MockAgent>;
  readonly requests: MockRequest[];
  /** Sessions handed out, newest last. */
  readonly sessions: { signedUrl: string; conversationId: string; agentId: string }[];
  count(operation: MockOperation): number;
  fail(failure: MockFailure): void;
  heal(): void;
  /** Makes calls of the operation wait until the returned function is called. */
  hold(operation: MockOperation): () => void;
  /** Where signed URLs point instead of the provider's own host, for tests with a real client. */
  setSocketUrl(url: string): void;
  /** False: responds as the provider does when it is not asked for conversation ids. */
  setConversationIds(isGiven: boolean): void;
  close(): Promise<void>;
}

/** Text that must never leak: the provider's message about a failure, with what a careless provider repeats in it. */
export const leakMarker = "leaked-words-of-the-provider";

export async function startMockElevenLabs(): Promise<MockElevenLabs> {
  const apiKey = `sk_${"mock".repeat(8)}`;
  const agents = new Map<string, MockAgent>();
  const requests: MockRequest[] = [];
  const sessions: MockElevenLabs["sessions"] = [];
  let failures: MockFailure[] = [];
  const holds = new Map<MockOperation, Promise<void>>();
  let socketUrl = "wss://api.elevenlabs.io/v1/convai/conversation";
  let isConversationIdGiven = true;
  let serial = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://mock");
    const text = await readText(request);
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const operation = toOperation(request.method ?? "", url.pathname);
    requests.push({ operation, method: request.method ?? "", path: url.pathname + url.search, body });
    if (operation !== null) await holds.get(operation);

    const failure = takeFailure(operation);
    if (failure) {
      respondFailure(response, failure, text);
      return;
    }
    const isAuthorized = request.headers["xi-api-key"] === apiKey;
    const { status, body: respondBody } = isAuthorized ? run(operation, url, body) : refuseKey(request);
    answer(response, status, respondBody);
  }

  function run(operation: MockOperation | null, url: URL, body: unknown): MockResponse {
    if (operation === null) return { status: 404, body: { detail: "Not Found" } };
    if (operation === "create") return createAgent(body);
    if (operation === "session") return createSession(url.searchParams);
    if (operation === "check") return { status: 200, body: { agents: [], next_cursor: null, has_more: false } };
    const agentId = decodeURIComponent(url.pathname.split("/").at(-1) ?? "");
    const agent = agents.get(agentId);
    if (!agent) return { status: 404, body: { detail: { status: "document_not_found", message: leakMarker } } };
    if (operation === "delete") {
      agents.delete(agentId);
      return { status: 200, body: {} };
    }
    agents.set(agentId, { ...agent, ...readAgent(body) });
    return { status: 200, body: { agent_id: agentId, ...(body as object) } };
  }

  function createAgent(body: unknown): MockResponse {
    const agent = readAgent(body);
    if (!agent) return { status: 422, body: invalidBody(body) };
    serial++;
    const agentId = `agent_${String(serial).padStart(4, "0")}mock`;
    agents.set(agentId, agent);
    return { status: 200, body: { agent_id: agentId } };
  }

  function createSession(query: URLSearchParams): MockResponse {
    const agentId = query.get("agent_id") ?? "";
    if (!agents.has(agentId)) {
      return { status: 404, body: { detail: { status: "agent_not_found", message: leakMarker } } };
    }
    serial++;
    const conversationId = `conv_${serial}mock`;
    // Escapes and an order that a URL parser would not produce: only an exact copy keeps them.
    const signedUrl = `${socketUrl}?conversation_signature=cvtkn_%2fa~b+c==&agent_id=${agentId}&n=${serial}`;
    sessions.push({ signedUrl, conversationId, agentId });
    const isAsked = query.get("include_conversation_id") === "true" && isConversationIdGiven;
    return { status: 200, body: { signed_url: signedUrl, ...(isAsked ? { conversation_id: conversationId } : {}) } };
  }

  function takeFailure(operation: MockOperation | null): MockFailure | undefined {
    const failure = failures.find((entry) => entry.operation === undefined || entry.operation === operation);
    if (failure?.times !== undefined && --failure.times === 0) failures = failures.filter((entry) => entry !== failure);
    return failure;
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => answer(response, 500, { detail: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    apiKey,
    agents,
    requests,
    sessions,
    count: (operation) => requests.filter((request) => request.operation === operation).length,
    fail: (failure) => void failures.push({ ...failure }),
    heal() {
      failures = [];
    },
    hold(operation) {
      const { promise, resolve } = Promise.withResolvers<void>();
      holds.set(operation, promise);
      return () => {
        holds.delete(operation);
        resolve();
      };
    },
    setSocketUrl(url) {
      socketUrl = url;
    },
    setConversationIds(isGiven) {
      isConversationIdGiven = isGiven;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function toOperation(method: string, path: string): MockOperation | null {
  if (method === "POST" && path === "/v1/convai/agents/create") return "create";
  if (method === "GET" && path === "/v1/convai/conversation/get-signed-url") return "session";
  if (method === "GET" && path === "/v1/convai/agents") return "check";
  if (!/^\/v1\/convai\/agents\/[^/]+$/.test(path)) return null;
  if (method === "PATCH") return "update";
  return method === "DELETE" ? "delete" : null;
}

interface AgentBody {
  name?: string;
  conversation_config?: {
    agent?: { prompt?: { prompt?: string }; first_message?: string };
    tts?: { voice_id?: string };
  };
  platform_settings?: { auth?: { enable_auth?: boolean } };
}

function readAgent(body: unknown): MockAgent | null {
  const { name, conversation_config: config, platform_settings: platform } = (body ?? {}) as AgentBody;
  const prompt = config?.agent?.prompt?.prompt;
  const firstMessage = config?.agent?.first_message;
  const voiceId = config?.tts?.voice_id;
  if (name === undefined || prompt === undefined || firstMessage === undefined || voiceId === undefined) return null;
  return { name, prompt, firstMessage, voiceId, isAuthRequired: platform?.auth?.enable_auth === true };
}

/** A careless message that repeats the key, which must not reach any log. */
function refuseKey(request: IncomingMessage): MockResponse {
  const message = `${leakMarker}: ${String(request.headers["xi-api-key"])} is no valid key`;
  return { status: 401, body: { detail: { status: "invalid_api_key", message } } };
}

function respondFailure(response: ServerResponse, { kind, retryAfterSeconds }: MockFailure, sent: string): void {
  if (kind === "slow") return;
  if (kind === "cut") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"agent_id":"agent_half', () => response.destroy());
  } else if (kind === "html") {
    response.writeHead(200, { "content-type": "text/html" }).end(`<html>${leakMarker}</html>`);
  } else if (kind === "empty") {
    answer(response, 200, {});
  } else {
    if (retryAfterSeconds !== undefined) response.setHeader("retry-after", String(retryAfterSeconds));
    if (kind === 302) response.setHeader("location", "/v1/convai/agents/elsewhere");
    answer(response, kind, kind === 422 ? invalidBody(sent) : { detail: { status: "failed", message: leakMarker } });
  }
}

/** Repeats the input, as the real provider does. */
function invalidBody(input: unknown) {
  return { detail: [{ type: "missing", loc: ["body", "conversation_config"], msg: "Field required", input }] };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
