/** What is sent to a server that speaks MCP, and what its answers are, in both of the protocols. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { buildInfo } from "../../lib/build-info.ts";

/** Each request is self-contained. */
export const statelessVersion = "2026-07-28";

/**
 * Those that begin with `initialize`, the one that is asked for first. The older two differ in nothing that is used here,
 * and many servers know no newer one.
 */
export const sessionVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26"];

export type Protocol =
  | { readonly kind: "stateless" }
  /** Without an id where the server keeps no sessions. */
  | { readonly kind: "session"; readonly version: string; readonly sessionId: string | null };

export const stateless: Protocol = { kind: "stateless" };

export type Method = "server/discover" | "initialize" | "tools/list" | "tools/call";

export interface Message {
  readonly method: Method;
  readonly params: JsonObject;
  /** `Mcp-Param-…`, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of the errors of JSON-RPC and MCP, those that mean something here. */
export const errorCodes = {
  headerMismatch: -32020,
  unsupportedVersion: -32022,
  methodNotFound: -32601,
  invalidParams: -32602,
} as const;

export interface ErrorReply {
  readonly kind: "error";
  readonly status: number;
  readonly code: number;
  readonly data: JsonValue;
  /** Whether it names the request. One that does not comes of a message that was not taken up. */
  readonly isOfRequest: boolean;
}

export interface ResultReply {
  readonly kind: "result";
  readonly result: JsonObject;
  /** Of the response, as far as it was read. */
  readonly bytes: number;
  /** As the server names it in this response. */
  readonly sessionId: string | null;
}

export type Reply =
  | ResultReply
  | ErrorReply
  /** Without an error that could be read. */
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "failed"; readonly failure: Failure };

/** What went wrong: for the model, and for the owner and the log. Neither has a word of the server's. */
export interface Failure {
  readonly sentence: string;
  readonly reason: string;
}

const clientInfo = { name: "companiond", version: buildInfo.version };

/** The body of a request. */
export function writeRequest(id: number, { method, params }: Message, protocol: Protocol | null): string {
  if (protocol?.kind !== "stateless") return JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": statelessVersion,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } });
}

export const initialization: Message = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

export const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** For a server with sessions, where closing the connection cancels nothing. */
export function writeCancellation(requestId: number): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
}

/** The result or error of this id, or an error without one; null for any other message. */
export function readReply(
  message: JsonValue | undefined,
  id: number,
  { status, ...facts }: { readonly status: number } & Pick<ResultReply, "bytes" | "sessionId">,
): Reply | null {
  if (!isJsonObject(message) || "method" in message) return null;
  const { error, result } = message;
  const isOfRequest = message["id"] === id;
  if (isJsonObject(error) && Number.isInteger(error["code"]) && (isOfRequest || (message["id"] ?? null) === null)) {
    return { kind: "error", status, code: Number(error["code"]), data: error["data"] ?? null, isOfRequest };
  }
  return isOfRequest && isJsonObject(result) ? { kind: "result", result, ...facts } : null;
}

type Refused = Extract<Reply, { readonly kind: "status" | "error" }>;

/** As a message of the wrong kind: not for want of access, and not by a tool. */
export function isRefused(reply: Reply): reply is Refused {
  return (reply.kind === "status" || reply.kind === "error") && reply.status >= 400 && !isTrouble(reply.status);
}

/** What can only be of a call that nothing was done with: the session or the version is gone, or headers are amiss. */
export function isUntaken(reply: Refused, protocol: Protocol): boolean {
  if (reply.status === 404 && protocol.kind === "session" && protocol.sessionId !== null) return true;
  if (reply.kind === "status" || (reply.status !== 400 && reply.status !== 404)) return false;
  const { headerMismatch, unsupportedVersion } = errorCodes;
  return !reply.isOfRequest || reply.code === headerMismatch || reply.code === unsupportedVersion;
}

/** Statuses that are no sign of the protocol version: access, too many requests, redirects, defects. */
export function isTrouble(status: number): boolean {
  return [401, 403, 407, 408, 429].includes(status) || (status >= 300 && status < 400) || status >= 500;
}

/** More than any message has; what is deeper would be too much for code that walks through it. */
const maxDepth = 100;

/** Undefined for what is no JSON, or too deep. */
export function parseMessage(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isWithin(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((child) => isWithin(child, levels - 1));
}

/** What a server asks of us, in its protocols with sessions: a ping is answered, all else politely refused. */
export function writeAnswer(request: JsonObject): string | null {
  const { id, method } = request;
  if (typeof id !== "string" && typeof id !== "number") return null;
  if (method === "ping") return JSON.stringify({ jsonrpc: "2.0", id, result: {} });
  const error = { code: errorCodes.methodNotFound, message: "This client does not offer that." };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
