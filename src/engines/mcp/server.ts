/** One server that speaks MCP, as a tool names it: its protocol, its session and its list are kept here. */
import type { OutgoingHttp } from "../../contracts/outgoing-http.ts";
import type { CallAnswer, Listing, McpTools, ToolServer } from "../../contracts/tool-servers.ts";
import type { Clock } from "../../lib/clock.ts";
import { startDeadline, unlessAborted } from "../../lib/deadline.ts";
import type { Log } from "../../lib/log.ts";
import { Endpoint } from "./endpoint.ts";
import { failError, failLate, failStatus, failures } from "./failures.ts";
import { errorCodes, type Failure, isRefused, isUntaken, type Message, type Protocol, type Reply } from "./messages.ts";
import { type Opening, openProtocol } from "./opening.ts";
import { writeParamHeaders } from "./param-headers.ts";
import { readCallResult, toFailed } from "./results.ts";
import { readToolList, schemaOf } from "./tool-list.ts";

/** How long a server is taken to speak the protocol that it spoke; its session lasts as long. */
const protocolMs = 60 * 60_000;
/** After a list that failed: a chat does not wait for every attempt. */
const failedListMs = 15_000;

export interface ServerOptions {
  readonly outgoing: OutgoingHttp;
  readonly clock: Clock;
  readonly log: Log;
  /** What is kept has another size. */
  readonly onKept: () => void;
}

/** What went wrong because of time or the end of the program; the log and the model learn it as a failure. */
class Stopped extends Error {
  readonly isLate: boolean;

  constructor(isLate: boolean) {
    super(isLate ? "late" : "closing");
    this.isLate = isLate;
  }
}

type Call = Parameters<McpTools["call"]>[1];

export class McpServer {
  /** Of the list, about. */
  keptBytes = 0;

  readonly #server: ToolServer;
  readonly #options: ServerOptions;
  readonly #endpoint: Endpoint;
  readonly #closing = new AbortController();
  #opened: { readonly protocol: Protocol; readonly untilMs: number } | null = null;
  #opening: Promise<Opening> | null = null;
  #listing: Listing | null = null;
  #freshUntilMs = 0;
  #refreshing: Promise<Listing> | null = null;
  #passedOver = "";
  #running = 0;
  #isEnded = false;

  constructor(server: ToolServer, options: ServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#endpoint = new Endpoint(options.outgoing, server, () => this.#expireList());
  }

  /** Whether what is kept is of the same server, and was given to the same caller. */
  isOf({ url, headers, timeoutMs }: ToolServer): boolean {
    const own = this.#server;
    const names = Object.keys(headers);
    const hasSameHeaders =
      names.length === Object.keys(own.headers).length && names.every((name) => headers[name] === own.headers[name]);
    return url === own.url && timeoutMs === own.timeoutMs && hasSameHeaders;
  }

  async list(signal: AbortSignal): Promise<Listing> {
    signal.throwIfAborted();
    if (this.#listing !== null && this.#nowMs < this.#freshUntilMs) return this.#listing;
    return await unlessAborted(signal, this.#refresh());
  }

  /**
   * The signal ends the wait, and whatever comes before the call is sent. What was sent has its whole time: in the
   * stateless protocol, to close its connection would be to cancel it.
   */
  async call(call: Call, signal: AbortSignal): Promise<CallAnswer> {
    signal.throwIfAborted();
    return await unlessAborted(signal, this.#call(call, signal));
  }

  /** Ends the session once no call needs it. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#running === 0) this.#endSession();
  }

  /** Calls that run come to an end as well. */
  close(): void {
    this.#closing.abort(new Stopped(false));
    this.end();
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  async #call({ name, arguments: args }: Call, signal: AbortSignal): Promise<CallAnswer> {
    let wasSent = false;
    const write = (protocol: Protocol): Message => {
      signal.throwIfAborted();
      wasSent = true;
      const message: Message = { method: "tools/call", params: { name, arguments: args } };
      if (protocol.kind === "session" || this.#listing?.outcome !== "listed") return message;
      return { ...message, headers: writeParamHeaders(schemaOf(this.#listing.tools, name), args) };
    };
    const reply = await this.#within(
      (deadline) => this.#send(write, deadline),
      () => failLate(this.#server.timeoutMs, wasSent),
    );
    switch (reply.kind) {
      case "result":
        return readCallResult(reply);
      case "failed":
        return toFailed(reply.failure);
      case "status":
        return toFailed(failStatus(reply.status));
      case "error":
        // The tool may have gone, or take other arguments now.
        this.#expireList();
        return toFailed(failError(reply));
    }
  }

  /** Shared by those who need it at the same time. */
  #refresh(): Promise<Listing> {
    this.#refreshing ??= this.#fetchList().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #fetchList(): Promise<Listing> {
    const { clock, onKept } = this.#options;
    const list = await this.#within(
      (deadline) => readToolList((message) => this.#send(() => message, deadline), clock.monotonicMs),
      () => failLate(this.#server.timeoutMs, true),
    );
    if (list.kind === "failed") {
      if (this.#listing?.outcome !== "listed") this.#listing = { outcome: "failed", reason: list.failure.reason };
      this.#freshUntilMs = this.#nowMs + failedListMs;
      return this.#listing;
    }
    this.#listing = { outcome: "listed", tools: list.tools };
    this.#freshUntilMs = this.#nowMs + list.freshMs;
    this.keptBytes = list.bytes;
    this.#reportPassedOver(list.passedOver);
    onKept();
    return this.#listing;
  }

  /** Once for each change of them. */
  #reportPassedOver(passedOver: readonly string[]): void {
    const all = passedOver.join("\n");
    if (all === this.#passedOver) return;
    this.#passedOver = all;
    if (passedOver.length === 0) return;
    const fields = { toolId: this.#server.toolId, count: passedOver.length, first: passedOver.slice(0, 5) };
    this.#options.log.warn("tools of an MCP server are not offered", fields);
  }

  #expireList(): void {
    if (this.#listing?.outcome === "listed") this.#freshUntilMs = 0;
  }

  /** Sent again, once, where the server has certainly not taken it up; a list also where it has refused it. */
  async #send(write: (protocol: Protocol) => Message, signal: AbortSignal): Promise<Reply> {
    for (let isLast = false; ; isLast = true) {
      const opening = await unlessAborted(signal, this.#open());
      if (opening.kind === "failed") return opening;
      const { protocol } = opening;
      const message = write(protocol);
      const reply = await this.#endpoint.request(message, protocol, signal);
      if (!isRefused(reply)) return reply;
      const isCall = message.method === "tools/call";
      const isMismatch = reply.kind === "error" && reply.code === errorCodes.headerMismatch;
      const needsList = isMismatch && isCall && protocol.kind === "stateless";
      // The server may speak another protocol by now, or know nothing of the session.
      if (!needsList && this.#opened?.protocol === protocol) this.#opened = null;
      if (isLast || (isCall && !isUntaken(reply, protocol))) return reply;
      if (needsList) await unlessAborted(signal, this.#refresh());
    }
  }

  /** Shared by those who need it at the same time. */
  async #open(): Promise<Opening> {
    if (this.#opened !== null) {
      const { protocol, untilMs } = this.#opened;
      const hasOthers = protocol.kind === "session" && this.#running > 1;
      if (this.#nowMs < untilMs || hasOthers) return { kind: "open", protocol };
      this.#endSession();
    }
    this.#opening ??= this.#within(
      async (deadline) => {
        const opening = await openProtocol(this.#endpoint, deadline);
        if (opening.kind === "open") {
          this.#opened = { protocol: opening.protocol, untilMs: this.#nowMs + protocolMs };
        }
        return opening;
      },
      () => failLate(this.#server.timeoutMs, false),
    ).finally(() => {
      this.#opening = null;
    });
    return await this.#opening;
  }

  #endSession(): void {
    if (this.#opened !== null) this.#endpoint.endSession(this.#opened.protocol);
    this.#opened = null;
  }

  /** `work` has the time of a call, and fails as the closing of the program does. */
  async #within<Result>(
    work: (deadline: AbortSignal) => Promise<Result>,
    makeLate: () => Failure,
  ): Promise<Result | { readonly kind: "failed"; readonly failure: Failure }> {
    const deadline = startDeadline(this.#closing.signal, this.#server.timeoutMs, () => new Stopped(true));
    this.#running++;
    try {
      return await work(deadline.signal);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return { kind: "failed", failure: error.isLate ? makeLate() : failures.closing };
    } finally {
      deadline.end();
      this.#running--;
      if (this.#running === 0 && this.#isEnded) this.#endSession();
    }
  }
}
