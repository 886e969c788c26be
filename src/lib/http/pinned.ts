/** Sends one request to addresses that the caller has checked, no matter what the host's name resolves to now. */
import { openWithin, unlessAborted } from "./client.ts";
import { Connection, ConnectionError } from "./connection.ts";
import type { HttpResponse } from "./exchange.ts";
import type { Target } from "./target.ts";

export interface PinnedRequest {
  /** Its host goes into `Host` and into the check of the certificate. */
  readonly target: Pick<Target, "url" | "port">;
  /** IP addresses, without brackets, in the order to try. */
  readonly addresses: readonly string[];
  readonly method: "GET" | "POST" | "DELETE";
  /** Without `Host`, `Connection` and `Content-Length`, which are added. Names and values are characters up to 255. */
  readonly headers: Iterable<readonly [string, string]>;
  /** Null for none, which a `POST` cannot have. */
  readonly body: Uint8Array | null;
}

/** Bounds the time to an open connection at one address, TLS included. */
const connectTimeoutMs = 5000;

/** No one else uses the connection. */
const owner = {
  onFree: (connection: Connection) => connection.terminate(),
  onSurplus() {},
  onClose() {},
};

/**
 * Resolves with the head, for any status; a compressed body stays so. Rejects with the `ConnectionError` of the last
 * address that was tried, or the signal's reason: the signal ends the request until the head has arrived; after that the
 * body's own `cancel` does. Each address is tried that takes no connection; what may have arrived is sent again only if it
 * is a `GET`.
 */
export async function sendPinned(request: PinnedRequest, signal: AbortSignal): Promise<HttpResponse> {
  const bytes = encode(request);
  let failure: unknown;
  for (const address of request.addresses) {
    try {
      return await sendTo(address, request, bytes, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      if (request.method !== "GET" && error instanceof ConnectionError && error.wasOpen) break;
    }
  }
  throw failure;
}

async function sendTo(
  address: string,
  { target: { url, port } }: PinnedRequest,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<HttpResponse> {
  signal.throwIfAborted();
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const isTls = url.protocol === "https:";
  const connection = new Connection({ hostname, address, port, isTls, idle: [], distrustedUntilMs: 0 }, owner);
  await openWithin(connectTimeoutMs, connection, signal);
  signal.throwIfAborted();
  return await unlessAborted(signal, connection, connection.send(bytes, { takesCompressed: true }));
}

function encode({ target: { url }, method, headers, body }: PinnedRequest): Uint8Array {
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  if (body !== null) head += `Content-Length: ${body.length}\r\n`;
  return Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), body ?? new Uint8Array(0)]);
}
