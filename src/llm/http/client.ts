/**
 * HTTP/1.1 requests to a provider over sockets of our own: any number at once, connections kept for the next request.
 *
 * Not `fetch`, which runs 256 requests at once per process, and not `node:http`, whose streams cost about twice the
 * time per read: of a chat stream there are fifty a second and visitor.
 */
import { Connection, ConnectionError, type Origin } from "./connection.ts";
import { type HttpResponse, StaleConnectionError } from "./exchange.ts";

export interface RequestHead {
  url: URL;
  method: string;
  /** Without `Host` and `Content-Length`, which are added. */
  headers: Iterable<[string, string]>;
}

/** What requests have in common that differ in their body alone, made once. */
export interface HttpTarget {
  readonly origin: Origin;
  /** All lines but the last, which tells the body's length. */
  readonly head: string;
}

export interface HttpClient {
  prepare(head: RequestHead): HttpTarget;
  /**
   * Resolves with the head, whatever the status. Rejects with `ConnectionError`, or the signal's reason: it ends the
   * request before the response's head; from then on the body's own `cancel` does.
   */
  send(target: HttpTarget, body: string, signal: AbortSignal): Promise<HttpResponse>;
  /** Closes what is kept, and keeps nothing any more. */
  close(): void;
}

export interface HttpClientOptions {
  connectTimeoutMs: number;
  /** How long an unused connection is kept. */
  idleSeconds: number;
  maxIdle: number;
  /** Before it carries another request, a connection is left alone for so long: a late surplus answer shows itself then. */
  restMs: number;
  /** For so long no connection to an origin is used again, once it has sent what nobody asked for. */
  distrustMs: number;
  /** That has happened; the origin as a host and port. Told when trust ends, and not again until it has come back. */
  onSurplus(origin: string): void;
}

export const defaults: HttpClientOptions = {
  connectTimeoutMs: 10_000,
  idleSeconds: 60,
  maxIdle: 256,
  restMs: 50,
  distrustMs: 10 * 60_000,
  onSurplus() {},
};

export function createHttpClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const { connectTimeoutMs, idleSeconds, maxIdle, restMs, distrustMs, onSurplus } = { ...defaults, ...options };
  const origins = new Map<string, Origin>();
  let isClosed = false;

  const owner = {
    onFree(connection: Connection) {
      const { idle, distrustedUntilMs } = connection.origin;
      if (isClosed || idle.length >= maxIdle || distrustedUntilMs > performance.now()) {
        connection.terminate();
        return;
      }
      connection.setIdle(idleSeconds);
      connection.restedAtMs = performance.now() + restMs;
      idle.push(connection);
    },
    onSurplus({ origin }: Connection) {
      const nowMs = performance.now();
      const isNews = origin.distrustedUntilMs <= nowMs;
      origin.distrustedUntilMs = nowMs + distrustMs;
      // Whose answer any of them would bring next is not known.
      for (const connection of origin.idle.splice(0)) connection.terminate();
      if (isNews) onSurplus(`${origin.hostname}:${origin.port}`);
    },
    onClose(connection: Connection) {
      const { idle } = connection.origin;
      const index = idle.lastIndexOf(connection);
      if (index !== -1) idle.splice(index, 1);
    },
  };

  function findOrigin(url: URL): Origin {
    let origin = origins.get(url.origin);
    if (origin === undefined) {
      origin = toOrigin(url);
      origins.set(url.origin, origin);
    }
    return origin;
  }

  async function connect(origin: Origin, signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(origin, owner);
    const timer = setTimeout(() => connection.terminate(), connectTimeoutMs);
    try {
      await unlessAborted(signal, connection, connection.open());
    } finally {
      clearTimeout(timer);
    }
    return connection;
  }

  async function sendOnAny(origin: Origin, bytes: Uint8Array, signal: AbortSignal): Promise<HttpResponse> {
    for (;;) {
      signal.throwIfAborted();
      let connection = takeRested(origin.idle);
      if (connection === undefined) connection = await connect(origin, signal);
      else connection.setBusy();
      try {
        return await unlessAborted(signal, connection, connection.send(bytes));
      } catch (error) {
        // The server had closed it while it was idle. So may the next one be, but a new one comes in the end.
        if (!(error instanceof StaleConnectionError)) throw error;
      }
    }
  }

  return {
    prepare: ({ url, method, headers }) => {
      let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`;
      for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
      return { origin: findOrigin(url), head };
    },
    send(target, body, signal) {
      if (isClosed) return Promise.reject(new ConnectionError("the client is closed"));
      return sendOnAny(target.origin, encodeRequest(target, body), signal);
    },
    close() {
      isClosed = true;
      for (const { idle } of origins.values()) for (const connection of idle.splice(0)) connection.terminate();
    },
  };
}

/** The one that has rested longest, as none has rested where it has not: the list is in the order of their last use. */
function takeRested(idle: Connection[]): Connection | undefined {
  const [longest] = idle;
  return longest === undefined || longest.restedAtMs > performance.now() ? undefined : idle.shift();
}

/** Waits for a step on a connection; an abort closes the connection, which ends the step. */
async function unlessAborted<Result>(
  signal: AbortSignal,
  connection: Connection,
  step: Promise<Result>,
): Promise<Result> {
  const onAbort = () => connection.terminate();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function toOrigin(url: URL): Origin {
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  // An IPv6 address stands in brackets in a URL, and without them everywhere else.
  return { hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"), port, isTls, idle: [], distrustedUntilMs: 0 };
}

function encodeRequest(target: HttpTarget, body: string): Uint8Array {
  const bodyBytes = Buffer.byteLength(body);
  const head = `${target.head}Content-Length: ${bodyBytes}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  bytes.write(body, head.length, "utf8");
  return bytes;
}
