/**
 * A mock language-model provider: a real HTTP server on loopback that speaks the wire of chat completions.
 *
 *     const mock = await startMockLlm();          // mock.url + "/v1" is the base URL
 *     mock.respond((request, response) => …);      // from now on; otherwise directives and the default reply
 *     await mock.until(() => mock.openRequests === 0);
 *     await mock.close();
 *
 * Without a responder it replies `You said: <message>`, one chunk per word, with usage of 11 and 7 tokens. Directives
 * in the visitor's message change that:
 *
 *     [[fail:500]]         this status, with an error body (401 contains a secret); [[times:1]] only this often,
 *                          then the reply; [[retry-after:1]] adds this header
 *     [[hang]]             no response at all
 *     [[html]]             an HTML page with status 200
 *     [[say:Hello there]]  these words; [[words:500]] this many words
 *     [[delay:20]]         milliseconds before each word
 *     [[cut:3]] [[reset:3]] [[silence:3]] [[garbage:3]] [[error:3]]
 *                          after three words: FIN, RST, nothing more, invalid JSON, an error object
 *     [[nousage]] [[finish:length]]
 *
 * As a script it prints its address as JSON and keeps running: `bun test/support/mock-llm.ts --port 0`.
 */
import { createServer, type Socket } from "node:net";
import { inTime } from "./eventually.ts";
import { createDirectiveResponder, type MockRequest, type MockResponse, type Responder } from "./mock-llm-replies.ts";
import { readRequests } from "./mock-llm-requests.ts";

export type { MockRequest, MockResponse, Responder } from "./mock-llm-replies.ts";

export interface MockLlm {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  url: string;
  /** All requests for replies, oldest first. */
  requests: MockRequest[];
  /** Requests for the list of models, which a server makes by itself. */
  listings: MockRequest[];
  /** Requests that are still being answered, and whose client is still connected. */
  openRequests: number;
  /** Requests whose client left before the end. */
  abortedRequests: number;
  /** Connections accepted so far. */
  connections: number;
  openConnections: number;
  /** Handles all requests from now on; null returns to the directives. */
  respond(responder: Responder | null): void;
  /** Resolves once the condition holds; checked whenever something happens here. */
  until(condition: () => boolean, withinMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startMockLlm({ port = 0 }: { port?: number } = {}): Promise<MockLlm> {
  const directives = createDirectiveResponder();
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let responder: Responder = directives;

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    mock.connections++;
    mock.openConnections++;
    socket.on("close", () => {
      sockets.delete(socket);
      mock.openConnections--;
      notify();
    });
    // Clients that reset the connection are the subject of many tests.
    socket.on("error", () => {});
    readRequests(socket, (request) => {
      const response = new SocketResponse(socket, (isAborted) => {
        mock.openRequests--;
        if (isAborted) mock.abortedRequests++;
        notify();
      });
      const kept = request.method === "GET" ? mock.listings : mock.requests;
      kept.push({ ...request, index: kept.length });
      mock.openRequests++;
      notify();
      answer({ ...request, index: kept.length - 1 }, response);
    });
    notify();
  });

  function answer(request: MockRequest, response: SocketResponse): void {
    Promise.resolve(responder(request, response)).catch((error: unknown) => {
      console.error("the mock's responder failed:", error);
      response.reset();
    });
  }

  function notify(): void {
    for (const look of [...waiting]) look();
  }

  const mock: MockLlm = {
    url: "",
    requests: [],
    listings: [],
    openRequests: 0,
    abortedRequests: 0,
    connections: 0,
    openConnections: 0,
    respond(next) {
      responder = next ?? directives;
    },
    until(condition, withinMs) {
      const fulfilled = new Promise<void>((resolve) => {
        const look = () => {
          if (!condition()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
      return inTime(fulfilled, { what: String(condition), withinMs });
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", 4096, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mock has no address");
  mock.url = `http://127.0.0.1:${address.port}`;
  return mock;
}

class SocketResponse implements MockResponse {
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

if (import.meta.main) {
  const flag = process.argv.indexOf("--port");
  const mock = await startMockLlm({ port: flag === -1 ? 0 : Number(process.argv[flag + 1]) });
  console.log(JSON.stringify({ url: mock.url, baseUrl: `${mock.url}/v1` }));
}
