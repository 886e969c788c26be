/**
 * A mock language-model provider: a real HTTP server on loopback that speaks chat completions, and the Responses API
 * wherever the path ends with `/responses`.
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
 *     [[call:look_up {"city":"Oslo"}]]
 *                          calls this tool where the request offers any, as often as it is there (then all in one
 *                          answer); arguments may be anything but "]". [[before:Let me see.]] is sent before them.
 *                          Once their results are there, the reply is `The tools said: <result>; <result>`, or
 *                          [[say:…]]; [[rounds:3]] calls so many times before. Parts of calls count as words above
 *     [[filtered]]         what Azure's filter refuses, for the models below
 *
 * Models are known by any id and take everything, but for those in `mock.models`, which behave as in `mock-models.ts`;
 * `GET …/models` lists these, counts in `mock.modelLists`, and is none of `mock.requests`.
 *
 * As a script, with all of the models, it prints its address as JSON and keeps running: `bun test/support/mock-llm.ts --port 0`.
 */
import { createServer, type Socket } from "node:net";
import { inTime } from "./eventually.ts";
import { createDirectiveResponder } from "./mock-llm-directives.ts";
import type { MockRequest, MockResponse, Responder } from "./mock-llm-replies.ts";
import { readRequests } from "./mock-llm-requests.ts";
import { SocketResponse } from "./mock-llm-socket.ts";
import { answerModels, type MockModel, mockModels } from "./mock-models.ts";

export type { MockRequest, MockResponse, Responder } from "./mock-llm-replies.ts";

export interface MockLlm {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  url: string;
  /** All requests for replies, oldest first. */
  requests: MockRequest[];
  /** Requests that are still being answered, and whose client is still connected. */
  openRequests: number;
  /** Requests whose client left before the end. */
  abortedRequests: number;
  /** Connections accepted so far. */
  connections: number;
  openConnections: number;
  /** Added by tests, before or between requests; none at first. */
  models: Map<string, MockModel>;
  /** Requests for the list of models, which a server makes automatically. */
  modelLists: MockRequest[];
  /** Answers them; by default with `models`. No responder does, since a list may be asked for in the middle of a reply. */
  answerList(response: MockResponse): unknown;
  /** Handles all requests from now on; null returns to the directives. */
  respond(responder: Responder | null): void;
  /** Resolves once the condition holds; checked whenever something happens here. */
  until(condition: () => boolean, withinMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startMockLlm({ port = 0 }: { port?: number } = {}): Promise<MockLlm> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();

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
      const isList = request.method === "GET" && request.path.endsWith("/models");
      const kept = isList ? mock.modelLists : mock.requests;
      kept.push({ ...request, index: kept.length });
      mock.openRequests++;
      notify();
      if (isList) void mock.answerList(response);
      else answer({ ...request, index: kept.length - 1 }, response);
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
    openRequests: 0,
    abortedRequests: 0,
    connections: 0,
    openConnections: 0,
    models: new Map(),
    modelLists: [],
    answerList: (response) => answerModels(mock.models, response),
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

  const directives = createDirectiveResponder(mock.models);
  let responder: Responder = directives;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", 4096, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mock has no address");
  mock.url = `http://127.0.0.1:${address.port}`;
  return mock;
}

if (import.meta.main) {
  const flag = process.argv.indexOf("--port");
  const mock = await startMockLlm({ port: flag === -1 ? 0 : Number(process.argv[flag + 1]) });
  for (const [id, model] of Object.entries(mockModels)) mock.models.set(id, model);
  console.log(JSON.stringify({ url: mock.url, baseUrl: `${mock.url}/v1` }));
}
