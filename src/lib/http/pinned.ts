/** Sends one request to an address that the caller has chosen and checked, whatever the host's name resolves to now. */
import { unlessAborted } from "./client.ts";
import { Connection } from "./connection.ts";
import type { HttpBody, HttpResponse } from "./exchange.ts";

export interface PinnedRequest {
  /** Its host goes into `Host` and into the check of the certificate. */
  readonly url: URL;
  /** An IP address, without brackets. */
  readonly address: string;
  readonly port: number;
  /** Without `Host` and `Connection`, which are added. */
  readonly headers: Iterable<readonly [string, string]>;
  /** Bounds the way to an open connection, TLS included. */
  readonly connectTimeoutMs: number;
}

/** Nobody else uses the connection. */
const owner = {
  onFree: (connection: Connection) => connection.terminate(),
  onSurplus() {},
  onClose() {},
};

/**
 * `GET`. Resolves with the head, whatever the status; a compressed body stays so. Rejects with `ConnectionError`, or the
 * signal's reason: the signal ends the request until the head has arrived; after that the body's own `cancel` does.
 */
export async function sendPinned(request: PinnedRequest, signal: AbortSignal): Promise<HttpResponse> {
  const { url, address, port, headers, connectTimeoutMs } = request;
  signal.throwIfAborted();
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const isTls = url.protocol === "https:";
  const connection = new Connection({ hostname, address, port, isTls, idle: [], distrustedUntilMs: 0 }, owner);
  const timer = setTimeout(() => connection.terminate(), connectTimeoutMs);
  try {
    await unlessAborted(signal, connection, connection.open());
  } finally {
    clearTimeout(timer);
  }
  let head = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  const bytes = Buffer.from(`${head}\r\n`, "latin1");
  return await unlessAborted(signal, connection, connection.send(bytes, { takesCompressed: true }));
}

/**
 * The body up to `maxBytes`; `isCut` if it goes on after them. Rejects with the error that broke it, or the signal's
 * reason. However it ends, the connection is closed.
 */
export function readPinned(
  body: HttpBody,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const leave = () => {
      signal.removeEventListener("abort", stop);
      body.cancel();
    };
    const stop = () => {
      leave();
      reject(signal.reason);
    };
    const finish = (isCut: boolean) => {
      leave();
      resolve({ bytes: Buffer.concat(pieces, Math.min(length, maxBytes)), isCut });
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    body.read({
      data(parts) {
        const piece = Buffer.from(parts.join(""), "latin1");
        pieces.push(piece);
        length += piece.length;
        if (length > maxBytes) {
          finish(true);
          return;
        }
        // A near host sends faster than others should wait: one read for each turn of the event loop.
        body.pause();
        setImmediate(() => body.resume());
      },
      end: () => finish(false),
      fail(error) {
        leave();
        reject(error);
      },
    });
  });
}
