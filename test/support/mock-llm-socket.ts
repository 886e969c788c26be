/** The mock provider's response: what is written to the socket of a client, no matter how a test ends it. */
import type { Socket } from "node:net";
import type { MockResponse } from "./mock-llm-replies.ts";

export class SocketResponse implements MockResponse {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #settle: (isAborted: boolean) => void;
  #hasBegun = false;
  #isChunked = true;

  constructor(socket: Socket, onSettled: (isAborted: boolean) => void) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    let isSettled = false;
    const onClose = () => this.#settle(true);
    this.#settle = (isAborted) => {
      if (isSettled) return;
      isSettled = true;
      socket.off("close", onClose);
      onSettled(isAborted);
      resolve();
    };
    socket.once("close", onClose);
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || !this.#socket.writable;
  }

  send(status: number, headers: Record<string, string>, body: string): void {
    this.begin(status, { "Content-Length": String(Buffer.byteLength(body)), ...headers });
    this.#socket.write(body);
    this.#settle(false);
  }

  begin(status = 200, headers: Record<string, string> = {}): void {
    this.#hasBegun = true;
    this.#isChunked = !("Content-Length" in headers) && headers.Connection !== "close";
    const all = {
      "Content-Type": "text/event-stream; charset=utf-8",
      "X-Request-Id": "req_mock",
      ...(this.#isChunked ? { "Transfer-Encoding": "chunked" } : {}),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket.write(`HTTP/1.1 ${status} Mock\r\n${lines.join("")}\r\n`);
  }

  write(body: string | Uint8Array): Promise<void> {
    if (!this.#hasBegun) this.begin();
    const bytes = Buffer.from(body);
    if (bytes.length === 0 || this.isClosed) return Promise.resolve();
    const framed = this.#isChunked
      ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")])
      : bytes;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.write(framed, () => resolve());
    return Promise.race([promise, this.closed]);
  }

  end(): void {
    if (!this.#hasBegun) this.begin();
    this.#settle(false);
    if (this.#isChunked) this.#socket.write("0\r\n\r\n");
    else this.#socket.end();
  }

  cut(): void {
    this.#settle(false);
    this.#socket.end();
  }

  reset(): void {
    this.#settle(false);
    this.#socket.resetAndDestroy();
  }

  writeRaw(bytes: string): void {
    this.#hasBegun = true;
    this.#socket.write(bytes, "latin1");
  }
}
