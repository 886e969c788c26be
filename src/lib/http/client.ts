/**
 * HTTP/1.1 requests over our own sockets: any number at the same time, with connections kept for the next request.
 *
 * Not `fetch`, which runs at most 256 concurrent requests per process, and not `node:http`, whose streams cost about twice
 * the time per read: a chat stream has fifty reads a second per visitor.
 */
import { afterAnswerable } from "../deadline.ts";
import type { StopSignal } from "../stop-signal.ts";
import { Connection, ConnectionError, type Origin } from "./connection.ts";
import { type HttpResponse, StaleConnectionError } from "./exchange.ts";

export interface RequestHead {
  url: URL;
  method: string;
  /** Without `Host` and `Content-Length`, which are added. */
  headers: Iterable<[string, string]>;
}

/** The shared part of requests that differ only in their body, built once. */
export interface HttpTarget {
  readonly origin: Origin;
  /** All lines except the last, which has the body's length. */
  readonly head: string;
}

export interface HttpClient {
  prepare(head: RequestHead): HttpTarget;
  /**
   * Resolves with the head, for any status. Rejects with `ConnectionError`, or the signal's reason: the signal
   * ends the request until the response's head has arrived; after that the body's own `cancel` does.
   */
  send(target: HttpTarget, body: string, signal: StopSignal): Promise<HttpResponse>;
  /** Closes idle connections, and keeps none from then on. */
  close(): void;
}

export interface HttpClientOptions {
  connectTimeoutMs: number;
  /** How long an idle connection is kept. */
  idleSeconds: number;
  maxIdle: number;
  /** How long a connection rests before its next request, so that surplus bytes of the last response become visible. */
  restMs: number;
  /** How long no connection to an origin is reused after it has sent unrequested bytes. */
  distrustMs: number;
  /** Whom the certificate must name where the URL has an IP address; null: that address. */
  tlsNameOfAddresses: string | null;
  /** Called when that happens, with host and port of the origin; only once per distrust period. */
  onSurplus(origin: string): void;
}

export const defaults: HttpClientOptions = {
  connectTimeoutMs: 10_000,
  idleSeconds: 60,
  maxIdle: 256,
  restMs: 50,
  distrustMs: 10 * 60_000,
  tlsNameOfAddresses: null,
  onSurplus() {},
};

export function createHttpClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const { connectTimeoutMs, idleSeconds, maxIdle, restMs, distrustMs, ...more } = { ...defaults, ...options };
  const { onSurplus, tlsNameOfAddresses } = more;
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
      // It is unknown whose response any of them would bring next.
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
      origin = toOrigin(url, tlsNameOfAddresses);
      origins.set(url.origin, origin);
    }
    return origin;
  }

  async function connect(origin: Origin, signal: StopSignal): Promise<Connection> {
    const connection = new Connection(origin, owner);
    await openWithin(connectTimeoutMs, connection, signal);
    return connection;
  }

  async function sendOnAny(origin: Origin, bytes: Uint8Array, signal: StopSignal): Promise<HttpResponse> {
    for (let mayReuse = true; ; ) {
      if (signal.aborted) throw signal.reason;
      let connection = mayReuse ? takeRested(origin.idle) : undefined;
      if (connection === undefined) connection = await connect(origin, signal);
      else connection.setBusy();
      try {
        return await unlessAborted(signal, connection, connection.send(bytes));
      } catch (error) {
        if (!(error instanceof StaleConnectionError)) throw error;
        // The server closed it while it was idle; or this request made it close, and would be repeated on each that is
        // kept. So only a new connection gets it again.
        mayReuse = false;
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

/** The connection with the longest rest, if that is long enough: the list is in order of last use. */
function takeRested(idle: Connection[]): Connection | undefined {
  const [longest] = idle;
  return longest === undefined || longest.restedAtMs > performance.now() ? undefined : idle.shift();
}

/** Waits for a step on a connection; an abort closes the connection, which ends the step. */
export async function unlessAborted<Result>(
  signal: StopSignal,
  connection: Connection,
  step: Promise<Result>,
): Promise<Result> {
  signal.addEventListener("abort", connection);
  try {
    return await step;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    signal.removeEventListener("abort", connection);
  }
}

/** Opens the connection in at most `limitMs`. Rejects with a `ConnectionError`, or with the signal's reason. */
export async function openWithin(limitMs: number, connection: Connection, signal: StopSignal): Promise<void> {
  const cancel = afterAnswerable(limitMs, () => connection.terminate());
  try {
    await unlessAborted(signal, connection, connection.open());
  } finally {
    cancel();
  }
}

function toOrigin(url: URL, tlsNameOfAddresses: string | null): Origin {
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  // IPv6 addresses have brackets in URLs only.
  const address = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isAddress = address.includes(":") || /^[\d.]+$/.test(address);
  const hostname = isTls && isAddress ? (tlsNameOfAddresses ?? address) : address;
  return { hostname, address, port, isTls, idle: [], distrustedUntilMs: 0 };
}

function encodeRequest(target: HttpTarget, body: string): Uint8Array {
  const bodyBytes = Buffer.byteLength(body);
  const head = `${target.head}Content-Length: ${bodyBytes}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  bytes.write(body, head.length, "utf8");
  return bytes;
}
