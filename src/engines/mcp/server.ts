/** One server that speaks MCP, as a tool names it: its protocol, its session and its list are kept here. */
import type { OutgoingHttp } from "../../contracts/outgoing-http.ts";
import type { CallAnswer, Listing, McpTools, ToolServer } from "../../contracts/tool-servers.ts";
import { toolTimeoutMs } from "../../domain/tool.ts";
import type { Clock } from "../../lib/clock.ts";
import { startDeadline, unlessAborted } from "../../lib/deadline.ts";
import type { Log } from "../../lib/log.ts";
import { Endpoint } from "./endpoint.ts";
import { failLate, failReply, failUnopened, failures } from "./failures.ts";
import { errorCodes, type Failure, isRefused, isUntaken, type Message, type Protocol, type Reply } from "./messages.ts";
import { type Opening, openProtocol } from "./opening.ts";
import { writeParamHeaders } from "./param-headers.ts";
import { readCallResult, toFailed } from "./results.ts";
import { readToolList, schemaOf } from "./tool-list.ts";

/** How long a server is assumed to speak the protocol that it spoke; its session lasts as long. */
const protocolMs = 60 * 60_000;
/** Of what several wait for, each as long as it has. */
const sharedMs = toolTimeoutMs.most;
/** After a list that failed: a chat does not wait for every attempt. */
const failedListMs = 15_000;

export interface ServerOptions {
  readonly outgoing: OutgoingHttp;
  readonly clock: Clock;
  readonly log: Log;
  /** What is kept has another size. */
  readonly onKept: () => void;
}

/** The time is over, or the program ends. */
class Stopped extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

type Call = Parameters<McpTools["call"]>[1];

export class McpServer {
  /** Of the list, about. */
  keptBytes = 0;

  readonly #server: Omit<ToolServer, "timeoutMs">;
  readonly #options: ServerOptions;
  readonly #endpoint: Endpoint;
  readonly #closing = new AbortController();
  #opened: { readonly protocol: Protocol; readonly untilMs: number } | null = null;
  #opening: Promise<Opening> | null = null;
  #listing: Listing | null = null;
  #freshUntilMs = 0;
  #refreshing: Promise<Listing> | null = null;
  #passedOver = "";
  #requests = 0;
  #running = 0;
  #isEnded = false;

  constructor(server: Omit<ToolServer, "timeoutMs">, options: ServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#endpoint = new Endpoint(options.outgoing, server, () => this.#expireList());
  }

  /** Whether what is kept is of the same server, and was given to the same caller. */
  isOf({ url, headers }: ToolServer): boolean {
    const own = this.#server;
    const names = Object.keys({ ...headers, ...own.headers });
    return url === own.url && names.every((name) => headers[name] === own.headers[name]);
  }

  async list(timeoutMs: number, signal: AbortSignal): Promise<Listing> {
    signal.throwIfAborted();
    if (this.#listing !== null && this.#nowMs < this.#freshUntilMs) return this.#listing;
    const refreshing = this.#refresh();
    const wait = (deadline: AbortSignal) => unlessAborted(deadline, refreshing);
    const listing = await unlessAborted(
      signal,
      this.#within(timeoutMs, wait, () => failLate(timeoutMs, true)),
    );
    // The next caller does not wait as well; the request goes on, and may still bring a list.
    return "outcome" in listing ? listing : this.#standIn(listing.failure);
  }

  /**
   * The signal ends the wait, and everything before the call is sent. What was sent has its whole time: in the
   * stateless protocol, to close its connection would be to cancel it.
   */
  async call(call: Call, timeoutMs: number, signal: AbortSignal): Promise<CallAnswer> {
    signal.throwIfAborted();
    return await unlessAborted(signal, this.#call(call, timeoutMs, signal));
  }

  /** Ends the session once no call needs it. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#running === 0) this.#endSession();
  }

  /** Calls that run come to an end as well. */
  close(): void {
    this.#closing.abort(new Stopped(failures.closing));
    this.end();
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  async #call({ name, arguments: args }: Call, timeoutMs: number, signal: AbortSignal): Promise<CallAnswer> {
    let wasSent = false;
    const write = (protocol: Protocol): Message => {
      signal.throwIfAborted();
      wasSent = true;
      const message: Message = { method: "tools/call", params: { name, arguments: args } };
      if (protocol.kind === "session" || this.#listing?.outcome !== "listed") return message;
      return { ...message, headers: writeParamHeaders(schemaOf(this.#listing.tools, name), args) };
    };
    const reply = await this.#within(
      timeoutMs,
      (deadline) => this.#send(write, deadline),
      () => failLate(timeoutMs, wasSent),
    );
    if (reply.kind === "result") return readCallResult(reply);
    // The tool may have gone, or take other arguments now.
    if (reply.kind === "error") this.#expireList();
    return toFailed(failReply(reply));
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
      sharedMs,
      (deadline) => readToolList((message) => this.#send(() => message, deadline), clock.monotonicMs),
      () => failLate(sharedMs, true),
    );
    if (list.kind === "failed") return this.#standIn(list.failure);
    this.#listing = { outcome: "listed", tools: list.tools };
    this.#freshUntilMs = this.#nowMs + list.freshMs;
    this.keptBytes = list.bytes;
    this.#reportPassedOver(list.passedOver);
    onKept();
    return this.#listing;
  }

  /** With what is kept, if anything is. */
  #standIn({ reason }: Failure): Listing {
    if (this.#listing?.outcome !== "listed") this.#listing = { outcome: "failed", reason };
    this.#freshUntilMs = this.#nowMs + failedListMs;
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
      if (opening.kind === "failed") return { kind: "failed", failure: failUnopened(opening.failure) };
      const { protocol } = opening;
      const message = write(protocol);
      this.#requests++;
      const reply = await this.#endpoint.request(message, protocol, signal).finally(() => this.#requests--);
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
      // A session must not end under another request.
      const isUsed = protocol.kind === "session" && this.#requests > 0;
      if (this.#nowMs < untilMs || isUsed) return { kind: "open", protocol };
      this.#endSession();
    }
    this.#opening ??= this.#within(
      sharedMs,
      async (deadline) => {
        const opening = await openProtocol(this.#endpoint, deadline);
        if (opening.kind === "open") {
          this.#opened = { protocol: opening.protocol, untilMs: this.#nowMs + protocolMs };
        }
        return opening;
      },
      () => failLate(sharedMs, false),
    ).finally(() => {
      this.#opening = null;
    });
    return await this.#opening;
  }

  #endSession(): void {
    if (this.#opened !== null) this.#endpoint.endSession(this.#opened.protocol);
    this.#opened = null;
  }

  /** Fails when the time is over, or the program ends. */
  async #within<Result>(
    timeoutMs: number,
    work: (deadline: AbortSignal) => Promise<Result>,
    makeLate: () => Failure,
  ): Promise<Result | { readonly kind: "failed"; readonly failure: Failure }> {
    const deadline = startDeadline(this.#closing.signal, timeoutMs, () => new Stopped(makeLate()));
    this.#running++;
    try {
      return await work(deadline.signal);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return { kind: "failed", failure: error.failure };
    } finally {
      deadline.end();
      this.#running--;
      if (this.#running === 0 && this.#isEnded) this.#endSession();
    }
  }
}
