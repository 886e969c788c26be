/** Responses that are read as they come, and requests that are left: nothing stays open, and only the signal rejects. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OpenedResponse, OutgoingRequest } from "../../src/contracts/outgoing-http.ts";
import { createOutgoingHttp } from "../../src/engines/outgoing-http/outgoing-http.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { streamBody } from "../../src/lib/http/body-stream.ts";
import type { BodyReader } from "../../src/lib/http/exchange.ts";
import { eventually } from "../support/eventually.ts";

let server: Server;
let request: OutgoingRequest;
let responses: ServerResponse[];
let connections: number;

beforeAll(async () => {
  server = createServer((_, response) => {
    responses.push(response);
  });
  server.on("connection", (socket) => {
    connections++;
    socket.on("close", () => connections--);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  request = { url: `http://127.0.0.1:${port}/`, method: "POST", headers: {}, body: "{}", timeoutMs: 20_000 };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  responses = [];
  connections = 0;
});

const outgoing = createOutgoingHttp({
  allowed: [parseAllowedHost("127.0.0.0/8")].flatMap((one) => one ?? []),
  ownHosts: [],
});
const forever = () => new AbortController().signal;

async function open(signal = forever()): Promise<{ opened: OpenedResponse; response: ServerResponse }> {
  const opening = outgoing.open(request, signal);
  await eventually(() => responses.length === 1);
  const [response] = responses;
  if (response === undefined) return expect.unreachable();
  response.writeHead(200, { "Content-Type": "text/event-stream" }).write("one");
  const opened = await opening;
  if (opened.outcome === "failed") throw new Error(opened.reason);
  return { opened, response };
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("gives each piece as it comes, to the end", async () => {
  const { opened, response } = await open();
  expect(opened.status).toBe(200);
  const pieces: string[] = [];
  for await (const piece of opened.body) {
    pieces.push(textOf(piece));
    if (pieces.length === 1) response.write("two");
    else response.end();
  }
  expect(pieces).toEqual(["one", "two"]);
  await eventually(() => connections === 0);
});

test("closes the connection of a stream that is left, or closed while it is waited for", async () => {
  const { opened } = await open();
  for await (const piece of opened.body) {
    expect(textOf(piece)).toBe("one");
    break;
  }
  await eventually(() => connections === 0);

  responses = [];
  const { opened: other } = await open();
  const iterator = other.body[Symbol.asyncIterator]();
  expect(textOf((await iterator.next()).value)).toBe("one");
  const waiting = iterator.next();
  other.body.close();
  expect(await waiting).toMatchObject({ done: true });
  other.body.close();
  await eventually(() => connections === 0);

  responses = [];
  const { opened: unread } = await open();
  unread.body.close();
  await eventually(() => connections === 0);
});

test("a body that breaks off rejects with the failure, after what came before", async () => {
  const { opened, response } = await open();
  const iterator = opened.body[Symbol.asyncIterator]();
  expect(textOf((await iterator.next()).value)).toBe("one");
  response.destroy();
  await expect(iterator.next()).rejects.toMatchObject({
    name: "OutgoingBreak",
    failure: { outcome: "failed", kind: "broken", status: 200, reason: "The host broke off its response." },
  });
});

test("the time of a request ends with its head", async () => {
  const timed = { ...request, timeoutMs: 500 };
  const opening = outgoing.open(timed, forever());
  await eventually(() => responses.length === 1);
  responses[0]?.writeHead(200).write("one");
  const opened = await opening;
  if (opened.outcome === "failed") throw new Error(opened.reason);
  expect(await outgoing.open(timed, forever())).toMatchObject({ kind: "timeout" });
  responses[0]?.end("two");
  expect(textOf(Buffer.concat(await Array.fromAsync(opened.body)))).toBe("onetwo");
});

test("the signal ends it at each stage, with its own reason", async () => {
  const gone = new Error("gone");
  const sent = { ...request, maxBytes: 1000 };
  await expect(outgoing.send(sent, AbortSignal.abort(gone))).rejects.toBe(gone);
  await expect(outgoing.open(request, AbortSignal.abort(gone))).rejects.toBe(gone);

  const lookingUp = Promise.withResolvers<void>();
  const slow = createOutgoingHttp({
    allowed: [],
    ownHosts: [],
    resolve() {
      lookingUp.resolve();
      return new Promise(() => {});
    },
  });
  const first = new AbortController();
  const lookup = slow.send({ ...sent, url: "https://slow.test/" }, first.signal);
  await lookingUp.promise;
  first.abort(gone);
  await expect(lookup).rejects.toBe(gone);

  // Of TLS, no byte comes back.
  const accepted = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const socket = { open: () => accepted.resolve(), data() {}, close: () => closed.resolve() };
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  const second = new AbortController();
  const connecting = outgoing.send({ ...sent, url: `https://127.0.0.1:${silent.port}/` }, second.signal);
  await accepted.promise;
  second.abort(gone);
  await expect(connecting).rejects.toBe(gone);
  await closed.promise;
  silent.stop(true);

  const third = new AbortController();
  const waiting = outgoing.send(sent, third.signal);
  await eventually(() => responses.length === 1);
  third.abort(gone);
  await expect(waiting).rejects.toBe(gone);
  await eventually(() => connections === 0);

  const fourth = new AbortController();
  const reading = outgoing.send(sent, fourth.signal);
  await eventually(() => responses.length === 2);
  responses[1]?.writeHead(200).write("one");
  await eventually(() => responses[1]?.headersSent === true);
  fourth.abort(gone);
  await expect(reading).rejects.toBe(gone);
  await eventually(() => connections === 0);

  responses = [];
  const fifth = new AbortController();
  const { opened } = await open(fifth.signal);
  const iterator = opened.body[Symbol.asyncIterator]();
  expect(textOf((await iterator.next()).value)).toBe("one");
  const next = iterator.next();
  fifth.abort(gone);
  await expect(next).rejects.toBe(gone);
  await eventually(() => connections === 0);
});

test("reads no further while what came is not taken", async () => {
  const calls: string[] = [];
  const readers: BodyReader[] = [];
  const body = {
    read: (reader: BodyReader) => void readers.push(reader),
    pause: () => void calls.push("pause"),
    resume: () => void calls.push("resume"),
    cancel: () => void calls.push("cancel"),
  };
  const stream = streamBody(body, forever());
  const [reader] = readers;
  reader?.data("one");
  reader?.data("two");
  expect(calls).toEqual(["pause", "pause"]);
  const iterator = stream[Symbol.asyncIterator]();
  expect(textOf((await iterator.next()).value)).toBe("onetwo");
  expect(calls).toHaveLength(2);
  const next = iterator.next();
  await Promise.resolve();
  expect(calls.at(-1)).toBe("resume");
  reader?.data("three");
  reader?.end();
  expect(textOf((await next).value)).toBe("three");
  expect(await iterator.next()).toMatchObject({ done: true });
});
