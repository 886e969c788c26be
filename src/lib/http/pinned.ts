/** Sends one request to an address that the caller has chosen and checked, whatever the host's name resolves to now. */
import { afterAnswerable } from "../deadline.ts";
import { unlessAborted } from "./client.ts";
import { Connection } from "./connection.ts";
import type { HttpResponse } from "./exchange.ts";

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
  const cancel = afterAnswerable(connectTimeoutMs, () => connection.terminate());
  try {
    await unlessAborted(signal, connection, connection.open());
  } finally {
    cancel();
  }
  let head = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  const bytes = Buffer.from(`${head}\r\n`, "latin1");
  return await unlessAborted(signal, connection, connection.send(bytes, { takesCompressed: true }));
}
