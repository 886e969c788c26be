/** One HTTP/1.1 connection, plain or TLS: sends a request, reads its response, and is then free for the next. */
import type { Socket, SocketHandler } from "bun";
import { Exchange, type HttpResponse, StaleConnectionError, type Wire } from "./exchange.ts";
import { collectEarlierReads, freeRead, largeReadBytes, takeTurn } from "./large-reads.ts";
import { ResponseReader } from "./response-reader.ts";

export interface Origin {
  hostname: string;
  /** What is connected to: the host's name, or the address that was chosen for it. */
  address: string;
  port: number;
  isTls: boolean;
  /** Idle connections to it, the most recently used last. */
  idle: Connection[];
  /** Until then (by `performance.now()`) none is reused. */
  distrustedUntilMs: number;
}

/** A connection could not be made, or broke. */
export class ConnectionError extends Error {
  readonly code: string | undefined;
  /** Whether there was a connection, on which a request may have arrived. */
  readonly wasOpen: boolean;

  constructor(message: string, cause?: unknown, wasOpen = false) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ConnectionError";
    this.wasOpen = wasOpen;
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}

export interface ConnectionOwner {
  /** The connection has no request any more and may be reused. */
  onFree(connection: Connection): void;
  onClose(connection: Connection): void;
  /** It received bytes beyond the response; it is closed. */
  onSurplus(connection: Connection): void;
}

/** A fast server's read is up to 512 KiB: as one string, it would take new memory from the kernel every time. */
const partBytes = 16 * 1024;

type ClientSocket = Socket<Connection>;

const handlers: SocketHandler<Connection> = {
  open: (socket) => socket.data.onOpen(socket),
  handshake: (socket, isAuthorized, error) => socket.data.onHandshake(isAuthorized, error),
  data: (socket, bytes) => socket.data.onData(bytes),
  drain: (socket) => socket.data.onDrain(),
  timeout: (socket) => socket.data.terminate(),
  error: (socket, error) => socket.data.onClose(error),
  close: (socket, error) => socket.data.onClose(error),
  connectError: (socket, error) => socket.data.onClose(error),
};

export class Connection implements Wire {
  readonly #owner: ConnectionOwner;
  readonly origin: Origin;
  /** By `performance.now()`; set by the owner. */
  restedAtMs = 0;
  /** Pending while the connection is being opened; null once it is open. */
  #opening: PromiseWithResolvers<void> | null = null;
  #socket: ClientSocket | null = null;
  #isOpen = false;
  #isClosed = false;
  #exchange: Exchange | null = null;
  #reader = new ResponseReader();
  #unsent: Uint8Array | null = null;
  #hasServed = false;
  #isPaused = false;
  /** After a large read, until it is this connection's turn to read again. */
  #isInQueue = false;

  constructor(origin: Origin, owner: ConnectionOwner) {
    this.origin = origin;
    this.#owner = owner;
  }

  /** Resolves when a request can be sent; with TLS only after the certificate is verified for the host. */
  open(): Promise<void> {
    const { hostname, address, port, isTls } = this.origin;
    const tls = isTls ? { serverName: hostname, rejectUnauthorized: true } : false;
    this.#opening = Promise.withResolvers<void>();
    const { promise } = this.#opening;
    Bun.connect({ hostname: address, port, tls, data: this, socket: handlers }).catch((error: unknown) =>
      this.onClose(error),
    );
    return promise;
  }

  /** Resolves with the head; the body is delivered separately. */
  send(request: Uint8Array, { takesCompressed = false } = {}): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.#exchange = new Exchange(this, { resolve, reject });
      this.#reader = new ResponseReader({ takesCompressed });
      this.#write(request);
    });
  }

  /** An idle connection neither keeps the process alive nor stays open forever. */
  setIdle(timeoutSeconds: number): void {
    this.#socket?.timeout(timeoutSeconds);
    this.#socket?.unref();
  }

  setBusy(): void {
    this.#socket?.timeout(0);
    this.#socket?.ref();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isInQueue) this.#socket?.resume();
  }

  /** The signal of its request has fired. */
  handleEvent(): void {
    this.terminate();
  }

  terminate(): void {
    this.#fail(new Error("closed from this side"));
  }

  /** Records the reason first: closing the socket reports a close without one. */
  #fail(reason: unknown): void {
    this.onClose(reason);
    // While it is connecting there is no socket to close yet: `onOpen` does it.
    this.#socket?.terminate();
  }

  onOpen(socket: ClientSocket): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    if (!this.origin.isTls) this.#becomeOpen();
  }

  onHandshake(isAuthorized: boolean, error: Error | null): void {
    if (isAuthorized && error === null) this.#becomeOpen();
    else this.#fail(error ?? new Error("the certificate is not trusted"));
  }

  onData(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.#refuseSurplus();
      return;
    }
    const isLarge = bytes.length >= largeReadBytes;
    if (isLarge) {
      void this.#awaitTurn();
      collectEarlierReads(bytes.length);
    }
    for (let at = 0; at < bytes.length && this.#exchange === exchange; at += partBytes) {
      this.#takePart(exchange, bytes.toString("latin1", at, at + partBytes));
    }
    if (isLarge) freeRead(bytes);
    const reader = this.#reader;
    if (this.#exchange === exchange && reader.isDone) this.#finishExchange(exchange);
  }

  #takePart(exchange: Exchange, part: string): void {
    const reader = this.#reader;
    const body = reader.push(part);
    if (reader.head !== null) {
      exchange.takeHead(reader.head);
      // Do not keep it while the body is arriving.
      reader.head = null;
    }
    if (body !== "") exchange.takeBody(body);
    if (reader.failure !== null) this.#fail(reader.failure);
  }

  async #awaitTurn(): Promise<void> {
    this.#isInQueue = true;
    this.#socket?.pause();
    await takeTurn();
    this.#isInQueue = false;
    if (!this.#isPaused) this.#socket?.resume();
  }

  /** Unrequested bytes could pass for the next response. */
  #refuseSurplus(): void {
    this.terminate();
    this.#owner.onSurplus(this);
  }

  onDrain(): void {
    if (this.#unsent !== null) this.#write(this.#unsent);
  }

  onClose(reason: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#owner.onClose(this);
    const { hostname, port } = this.origin;
    const error = new ConnectionError(
      `the connection to ${hostname}:${port} ${this.#isOpen ? "broke off" : "could not be made"}${describe(reason)}`,
      reason,
      this.#isOpen,
    );
    this.#opening?.reject(error);
    const exchange = this.#exchange;
    this.#exchange = null;
    if (exchange === null) return;
    const isStale = this.#hasServed && this.#reader.isUntouched;
    exchange.finish(isStale ? new StaleConnectionError() : this.#reader.finish() ? null : error);
  }

  #becomeOpen(): void {
    this.#isOpen = true;
    this.#opening?.resolve();
    this.#opening = null;
  }

  #finishExchange(exchange: Exchange): void {
    this.#exchange = null;
    this.#hasServed = true;
    // The reader may still pause: its end is kept in the exchange, and the socket belongs to the next request. Nor does it
    // wait for its turn: what comes unrequested has to be seen.
    if (this.#isPaused || this.#isInQueue) {
      this.#isInQueue = false;
      this.resume();
    }
    if (this.#reader.hasSurplus) this.#refuseSurplus();
    else if (this.#reader.canReuse && this.#unsent === null) this.#owner.onFree(this);
    else this.#fail(null);
    exchange.finish(null);
  }

  #write(bytes: Uint8Array): void {
    const written = this.#socket?.write(bytes) ?? 0;
    this.#unsent = written < bytes.length ? bytes.subarray(Math.max(written, 0)) : null;
  }
}

function describe(reason: unknown): string {
  if (!(reason instanceof Error)) return "";
  const code = "code" in reason ? String(reason.code) : "";
  return `: ${reason.message}${code !== "" && !reason.message.includes(code) ? ` (${code})` : ""}`;
}
