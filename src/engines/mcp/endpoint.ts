/** A server's one URL: a message is posted to it, and its answer read, from a document or a stream of events. */
import { type OpenedResponse, OutgoingBreak, type OutgoingHttp } from "../../contracts/outgoing-http.ts";
import type { ToolServer } from "../../contracts/tool-servers.ts";
import { isJsonObject } from "../../domain/json.ts";
import { toolTimeoutMs } from "../../domain/tool.ts";
import { EventStreamReader } from "../../lib/event-stream.ts";
import { GatheredBytes } from "../../lib/gathered-bytes.ts";
import { failOutgoing, failures } from "./failures.ts";
import {
  type Message,
  type Protocol,
  parseMessage,
  type Reply,
  readReply,
  statelessVersion,
  writeAnswer,
  writeCancellation,
  writeRequest,
} from "./messages.ts";
import { encodeHeaderValue } from "./param-headers.ts";

/** Of a response, in whole. */
const maxBytes = 1024 * 1024;
/** Of one stream; a server that asks for more is left waiting. */
const maxAnswers = 8;
/** For what is sent without anyone waiting for it. */
const asideMs = 5000;

export class Endpoint {
  readonly #outgoing: OutgoingHttp;
  readonly #server: Pick<ToolServer, "url" | "headers">;
  readonly #onListChanged: () => void;
  #lastId = 0;

  /** `onListChanged`: the server reports it along with a response. */
  constructor(outgoing: OutgoingHttp, server: Pick<ToolServer, "url" | "headers">, onListChanged: () => void) {
    this.#outgoing = outgoing;
    this.#server = server;
    this.#onListChanged = onListChanged;
  }

  /** Rejects only with the signal's reason, which also ends the request. */
  async request(message: Message, protocol: Protocol | null, signal: AbortSignal): Promise<Reply> {
    const id = ++this.#lastId;
    const headers = { ...standardHeaders(message, protocol), ...message.headers };
    try {
      const response = await this.#open("POST", writeRequest(id, message, protocol), headers, protocol, signal);
      if (response.outcome === "failed") return { kind: "failed", failure: failOutgoing(response) };
      try {
        return await this.#read(response, id, protocol, signal);
      } finally {
        response.body.close();
      }
    } catch (error) {
      if (error instanceof OutgoingBreak) return { kind: "failed", failure: failOutgoing(error.failure) };
      // With sessions, to close the connection cancels nothing.
      if (signal.aborted && protocol?.kind === "session") {
        this.notify(writeCancellation(id), protocol, AbortSignal.timeout(asideMs)).catch(() => {});
      }
      throw error;
    }
  }

  /** A notification or an answer: the status, or null where it did not come to one. */
  async notify(body: string, protocol: Protocol, signal: AbortSignal): Promise<number | null> {
    const response = await this.#open("POST", body, {}, protocol, signal);
    if (response.outcome === "failed") return null;
    response.body.close();
    return response.status;
  }

  /** Ends the server's session, if there is one and the server cares. No one waits for it. */
  endSession(protocol: Protocol): void {
    if (protocol.kind !== "session" || protocol.sessionId === null) return;
    this.#open("DELETE", undefined, {}, protocol, AbortSignal.timeout(asideMs)).then(
      (response) => {
        if (response.outcome === "opened") response.body.close();
      },
      () => {},
    );
  }

  #open(
    method: "POST" | "DELETE",
    body: string | undefined,
    extra: Readonly<Record<string, string>>,
    protocol: Protocol | null,
    signal: AbortSignal,
  ) {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#server.headers)) headers[name.toLowerCase()] = value;
    Object.assign(headers, extra);
    if (protocol !== null) {
      headers["mcp-protocol-version"] = protocol.kind === "stateless" ? statelessVersion : protocol.version;
    }
    if (protocol?.kind === "session" && protocol.sessionId !== null) headers["mcp-session-id"] = protocol.sessionId;
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      headers["accept"] = "application/json, text/event-stream";
    }
    const { url } = this.#server;
    // The signal ends it earlier, as a rule.
    const timeoutMs = toolTimeoutMs.most;
    return this.#outgoing.open({ url, method, headers, timeoutMs, ...(body === undefined ? {} : { body }) }, signal);
  }

  async #read(response: OpenedResponse, id: number, protocol: Protocol | null, signal: AbortSignal): Promise<Reply> {
    const { status, headers, body } = response;
    if ((headers.get("content-encoding") ?? "identity") !== "identity") {
      return { kind: "failed", failure: failures.compressed };
    }
    const isOk = status >= 200 && status < 300;
    const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
    if (isOk && type === "text/event-stream") return await this.#readEvents(response, id, protocol, signal);
    const gathered = new GatheredBytes();
    for await (const piece of body) {
      gathered.add(piece);
      if (gathered.length > maxBytes)
        return isOk ? { kind: "failed", failure: failures.long } : { kind: "status", status };
    }
    const message = parseMessage(Buffer.concat(gathered.blocks).toString("utf8"));
    const reply = readReply(message, id, { status, bytes: gathered.length, sessionId: sessionIdOf(response) });
    if (isOk) return reply ?? { kind: "failed", failure: failures.garbled };
    return reply?.kind === "error" ? reply : { kind: "status", status };
  }

  /** Leaves the stream with the reply: what follows would be for others. */
  async #readEvents(
    response: OpenedResponse,
    id: number,
    protocol: Protocol | null,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { status, body } = response;
    const sessionId = sessionIdOf(response);
    const reader = new EventStreamReader();
    let bytes = 0;
    let answers = 0;
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > maxBytes) return { kind: "failed", failure: failures.long };
      for (const data of reader.feed(piece)) {
        const message = parseMessage(data);
        if (message === undefined) return { kind: "failed", failure: failures.garbled };
        const reply = readReply(message, id, { status, bytes, sessionId });
        if (reply !== null) return reply;
        if (!isJsonObject(message)) continue;
        if (message["method"] === "notifications/tools/list_changed") this.#onListChanged();
        // In the stateless protocol a server must not send requests, and they cannot be answered.
        const answer = protocol?.kind === "session" && answers < maxAnswers ? writeAnswer(message) : null;
        if (answer === null || protocol === null) continue;
        answers++;
        // Aside, since the stream goes on meanwhile.
        this.notify(answer, protocol, signal).catch(() => {});
      }
    }
    return { kind: "failed", failure: failures.cut };
  }
}

function sessionIdOf({ headers }: OpenedResponse): string | null {
  return headers.get("mcp-session-id") ?? null;
}

function standardHeaders({ method, params }: Message, protocol: Protocol | null): Record<string, string> {
  if (protocol?.kind !== "stateless") return {};
  const { name } = params;
  return { "mcp-method": method, ...(typeof name === "string" ? { "mcp-name": encodeHeaderValue(name) } : {}) };
}
