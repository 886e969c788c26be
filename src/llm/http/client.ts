/**
 * HTTP/1.1 requests to a provider over sockets of our own: any number at once, connections kept for the next request.
 *
 * Not `fetch`, which runs 256 requests at once per process, and not `node:http`, whose streams cost about twice the
 * time per read: of a chat stream there are fifty a second and visitor.
 */
import { Connection, ConnectionError, type Origin } from "./connection.ts";
import { type HttpResponse, StaleConnectionError } from "./exchange.ts";

export interface HttpRequest {
  url: URL;
  method: string;
  /** Without `Host` and `Content-Length`, which are added. */
  headers: Iterable<[string, string]>;
  body: string;
  /** Ends it before the response's head; from then on the body's own `cancel` does. */
  signal: AbortSignal;
}

export interface HttpClient {
  /** Resolves with the head, whatever the status. Rejects with `ConnectionError`, or the signal's reason. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Closes what is kept, and keeps nothing any more. */
  close(): void;
}

export interface HttpClientOptions {
  connectTimeoutMs: number;
  /** How long an unused connection is kept. */
  idleSeconds: number;
  maxIdle: number;
}

const defaults: HttpClientOptions = { connectTimeoutMs: 10_000, idleSeconds: 60, maxIdle: 256 };

export function createHttpClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const { connectTimeoutMs, idleSeconds, maxIdle } = { ...defaults, ...options };
  /** By origin, the most recently used last: it is the likeliest to be alive. */
  const idle = new Map<string, Connection[]>();
  const origins = new WeakMap<Connection, string>();
  let isClosed = false;

  const owner = {
    onFree(connection: Connection) {
      const kept = idle.get(origins.get(connection) ?? "");
      if (isClosed || kept === undefined || kept.length >= maxIdle) return connection.terminate();
      connection.setIdle(idleSeconds);
      kept.push(connection);
    },
    onClose(connection: Connection) {
      const kept = idle.get(origins.get(connection) ?? "");
      const index = kept?.indexOf(connection) ?? -1;
      if (index !== -1) kept?.splice(index, 1);
    },
  };

  async function connect(url: URL, signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(toOrigin(url), owner);
    origins.set(connection, url.origin);
    const timer = setTimeout(() => connection.terminate(), connectTimeoutMs);
    try {
      await unlessAborted(signal, connection, connection.open());
    } finally {
      clearTimeout(timer);
    }
    return connection;
  }

  async function sendOnAny(request: HttpRequest, bytes: Uint8Array): Promise<HttpResponse> {
    const { url, signal } = request;
    const kept = idle.get(url.origin) ?? [];
    idle.set(url.origin, kept);
    for (;;) {
      signal.throwIfAborted();
      let connection = kept.pop();
      if (connection === undefined) connection = await connect(url, signal);
      else connection.setBusy();
      try {
        return await unlessAborted(signal, connection, connection.send(bytes).response);
      } catch (error) {
        // The server had closed it while it was idle. So may the next one be, but a new one comes in the end.
        if (!(error instanceof StaleConnectionError)) throw error;
      }
    }
  }

  return {
    send(request) {
      if (isClosed) return Promise.reject(new ConnectionError("the client is closed"));
      return sendOnAny(request, encodeRequest(request));
    },
    close() {
      isClosed = true;
      for (const kept of idle.values()) for (const connection of kept.splice(0)) connection.terminate();
    },
  };
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
  return { hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"), port, isTls };
}

function encodeRequest({ url, method, headers, body }: HttpRequest): Uint8Array {
  const bodyBytes = Buffer.byteLength(body);
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: ${bodyBytes}\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  head += "\r\n";
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  bytes.write(body, head.length, "utf8");
  return bytes;
}
