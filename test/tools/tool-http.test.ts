/** Calls of tools over real HTTP on loopback: what they are sent, what counts as a result, and what a model is told otherwise. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { createOutgoingHttp } from "../../src/engines/outgoing-http/outgoing-http.ts";
import { createHttpTools } from "../../src/engines/tool-http/tool-http.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { createManualClock } from "../support/manual-clock.ts";

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void;

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const body = '{"type":"tool.call","data":{"tool":"look_up","arguments":{"ort":"Zürich"}}}';

let server: Server;
let url: string;
let answers: Answer[];
let asked: { headers: IncomingMessage["headers"]; body: string }[];
let waits: number[];
let clock = createManualClock();

beforeAll(async () => {
  server = createServer((request, response) => {
    let sent = "";
    request.setEncoding("utf8").on("data", (piece) => {
      sent += piece;
    });
    request.on("end", () => {
      asked.push({ headers: request.headers, body: sent });
      const next = answers.length > 1 ? answers.shift() : answers[0];
      next?.(response, request, sent);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tool`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  waits = [];
  answers = [give("text")];
  clock = createManualClock(systemClock.nowMs());
});

const outgoing = createOutgoingHttp({
  allowed: [parseAllowedHost("127.0.0.0/8")].flatMap((one) => one ?? []),
  ownHosts: [],
});

function call({
  signal = new AbortController().signal,
  ...given
}: Partial<{ url: string; timeoutMs: number; headers: Record<string, string>; signal: AbortSignal }> = {}) {
  const wait = async (timeMs: number) => {
    waits.push(timeMs);
    clock.advance(timeMs);
  };
  const tools = createHttpTools({ outgoing, clock, wait });
  const target = { toolId: "tool-1", url, headers: {}, timeoutMs: 10_000, secret, ...given };
  return tools.call(target, { id: "call_1", body }, signal);
}

function give(text: string | Buffer, type: string | null = "text/plain", status = 200): Answer {
  return (response) => void response.writeHead(status, type === null ? {} : { "Content-Type": type }).end(text);
}

test("POSTs the body, signed, which the standard's own library verifies, with the owner's headers", async () => {
  answers = [give('{"ok": true}', "application/json; charset=utf-8")];
  const headers = { Authorization: "Bearer own", "Webhook-Id": "forged", "CONTENT-TYPE": "text/html" };
  expect(await call({ headers })).toEqual({ outcome: "done", result: '{"ok": true}' });
  const [sent] = asked;
  expect(sent?.headers).toMatchObject({
    authorization: "Bearer own",
    "content-type": "application/json",
    "webhook-id": "call_1",
  });
  expect(new Webhook(secret).verify(sent?.body ?? "", sent?.headers as Record<string, string>)).toEqual(
    JSON.parse(body),
  );
  expect(waits).toEqual([]);
});

test.each([
  ["JSON as its text", '{ "a":1 }', "application/json"],
  ["another kind of JSON", "[]", "application/problem+json"],
  ["text", "Grüße", "text/markdown;charset=UTF-8"],
  ["what names no type", "text", null],
])("takes %s for the result", async (_, text, type) => {
  answers = [give(text, type, 201)];
  expect(await call()).toEqual({ outcome: "done", result: text });
});

test("takes an empty answer for an empty result, and replaces what is not UTF-8, or NUL", async () => {
  answers = [(response) => void response.writeHead(204).end()];
  expect(await call()).toEqual({ outcome: "done", result: "" });
  answers = [give(Buffer.from([97, 0xff, 0, 98]))];
  expect(await call()).toEqual({ outcome: "done", result: "a\u{FFFD}\u{FFFD}b" });
});

test("takes 16 KiB, and no more", async () => {
  const tooLong = { outcome: "failed", sentence: "The tool's answer is too long to be read." };
  answers = [give("a".repeat(16 * 1024))];
  expect(await call()).toEqual({ outcome: "done", result: "a".repeat(16 * 1024) });
  answers = [give("a".repeat(16 * 1024 + 1))];
  expect(await call()).toMatchObject(tooLong);
  answers = [give(Buffer.alloc(16 * 1024, 0xff))];
  expect(await call()).toMatchObject(tooLong);
});

test.each([
  [302, "The tool could not be called: it has moved to another address."],
  [400, "The tool refused the call (status 400)."],
  [404, "The tool refused the call (status 404)."],
  [500, "The tool failed (status 500), so it is not known whether it did what it was asked to."],
])("makes a sentence of status %p, without a word of the answer, and calls once", async (status, sentence) => {
  answers = [
    (response) =>
      void response.writeHead(status, { Location: `${url}/other`, "Content-Type": "text/plain" }).end("secret"),
  ];
  expect(await call()).toEqual({ outcome: "failed", sentence, reason: `The tool answered with status ${status}.` });
  expect(asked).toHaveLength(1);
});

test("makes a sentence of every other answer, and calls nothing twice that may have been carried out", async () => {
  answers = [give("<svg/>", "image/svg+xml")];
  expect(await call()).toMatchObject({ sentence: "The tool's answer is neither JSON nor text." });
  answers = [(_, request) => void request.socket.destroy()];
  expect(await call()).toEqual({
    outcome: "failed",
    sentence: "The tool broke off its answer, so it is not known whether it did what it was asked to.",
    reason: "The host broke off its response.",
  });
  answers = [() => {}];
  expect(await call({ timeoutMs: 100 })).toEqual({
    outcome: "failed",
    sentence: "The tool did not answer in time, so it is not known whether it did what it was asked to.",
    reason: "The host did not answer within 0.1 s.",
  });
  expect(asked).toHaveLength(3);
  expect(await call({ url: "https://10.0.0.1/" })).toMatchObject({
    sentence: "The tool could not be called: its address is not allowed.",
  });
  expect(await call({ headers: { "x-a": "b\r\nc: d" } })).toMatchObject({
    sentence: "The tool could not be called: it is not set up correctly.",
  });
  expect(asked).toHaveLength(3);
  expect(waits).toEqual([]);
});

test("calls once more with the same id where the tool is busy, as soon as it says", async () => {
  for (const [status, header, waitMs] of [
    [429, {}, 500],
    [503, { "Retry-After": "2" }, 2000],
    [503, { "Retry-After": "0" }, 0],
    [429, { "Retry-After": new Date(clock.nowMs() + 5000).toUTCString() }, expect.any(Number)],
    [429, { "Retry-After": "soon" }, 500],
  ] as const) {
    asked = [];
    waits = [];
    answers = [(response) => void response.writeHead(status, header).end("a".repeat(50)), give("done")];
    expect(await call()).toEqual({ outcome: "done", result: "done" });
    expect(waits).toEqual([waitMs]);
    expect(asked.map(({ headers }) => headers["webhook-id"])).toEqual(["call_1", "call_1"]);
    for (const sent of asked) new Webhook(secret).verify(sent.body, sent.headers as Record<string, string>);
  }
  // However long the page is that says so.
  answers = [(response) => void response.writeHead(503).end("a".repeat(50_000)), give("done")];
  expect(await call()).toEqual({ outcome: "done", result: "done" });
});

test("signs the other attempt at its own time", async () => {
  answers = [give("", null, 503), give("done")];
  const startedMs = clock.nowMs();
  answers[0] = (response) => void response.writeHead(503, { "Retry-After": "3" }).end();
  await call();
  const seconds = asked.map(({ headers }) => Number(headers["webhook-timestamp"]));
  expect(seconds).toEqual([startedMs, startedMs + 3000].map((timeMs) => Math.floor(timeMs / 1000)));
});

test("calls no third time, and does not wait beyond its time", async () => {
  answers = [give("", null, 503)];
  const busy = { outcome: "failed", sentence: "The tool is busy at present; nothing was done." };
  expect(await call()).toMatchObject(busy);
  expect(asked).toHaveLength(2);
  asked = [];
  waits = [];
  answers = [(response) => void response.writeHead(503, { "Retry-After": "10" }).end()];
  expect(await call()).toMatchObject(busy);
  expect(asked).toHaveLength(1);
  expect(waits).toEqual([]);
});

test("calls once more where the first call cannot have arrived", async () => {
  const away = `http://127.0.0.1:${findFreePort()}/`;
  expect(await call({ url: away })).toEqual({
    outcome: "failed",
    sentence: "The tool could not be reached; nothing was done.",
    reason: "The host could not be reached.",
  });
  expect(waits).toEqual([500]);
});

test("only the signal rejects, while the tool works as well as before another attempt", async () => {
  const gone = new Error("gone");
  answers = [() => {}];
  const controller = new AbortController();
  const waiting = call({ signal: controller.signal });
  await eventually(() => asked.length === 1);
  controller.abort(gone);
  await expect(waiting).rejects.toBe(gone);

  answers = [give("", null, 503)];
  const left = new AbortController();
  const tools = createHttpTools({ outgoing, clock });
  const target = { toolId: "tool-1", url, headers: {}, timeoutMs: 10_000, secret };
  const busy = tools.call(target, { id: "call_2", body }, left.signal);
  await eventually(() => asked.length === 2);
  left.abort(gone);
  await expect(busy).rejects.toBe(gone);
  tools.close();
});
