/** A call goes to the instance that runs the reply, and what that one says comes back. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { endedStatus, proofHeader, type ReplyCall } from "../../src/core/instances/instances.ts";
import { AppError } from "../../src/domain/errors.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { type InstancePair, oneKey, openInstancePair, openLoneInstance, replyCall } from "../support/instance-pair.ts";
import { startTamperingProxy } from "../support/tampering-proxy.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

let pair: InstancePair;
const never = new AbortController().signal;

beforeEach(async () => {
  pair = await openInstancePair();
});
afterEach(() => pair[Symbol.asyncDispose]());

const pass = (call: ReplyCall, signal: AbortSignal = never) => pair.here.pass(pair.url, call, signal);

/** A stream of events, and what its reader does. */
function makeEvents(seal: (text: string) => string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const response = new Response(readable);
  const write = (text: string) => void writer.write(Buffer.from(seal(text))).catch(() => {});
  // Bun sends no head before the first bytes.
  write(": ping\n\n");
  return { response, write, end: () => void writer.close() };
}

async function refusalOf(passing: Promise<unknown>): Promise<AppError> {
  const thrown = await passing.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof AppError)) throw new Error(`no refusal, but ${thrown}`);
  return thrown;
}

const unanswered = { code: "unavailable", retryAfterSeconds: 1 };

test("a call arrives as it was sent, and its stream comes back byte by byte", async () => {
  let events: ReturnType<typeof makeEvents> | undefined;
  const arrived: ReplyCall[] = [];
  pair.answer = async (call, _, seal) => {
    arrived.push(call);
    events = makeEvents(seal);
    return events.response;
  };
  const call = replyCall({ key: { ...replyCall().key, visitorId: "sub:abc" }, message: 'Ünïcode "🦜"\n' });
  const response = await pass(call);
  expect(arrived).toEqual([call]);
  const reader = response?.body?.getReader();
  const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(await read()).toBe(": ping\n\n");
  events?.write('data: {"text":"Grüße 🦜"}\n\n');
  expect(await read()).toBe('data: {"text":"Grüße 🦜"}\n\n');
  events?.end();
  expect((await reader?.read())?.done).toBe(true);
});

test("a reply that has ended there is null, and one that was cancelled is 204", async () => {
  expect(await pass(replyCall({ action: "follow" }))).toBeNull();
  pair.answer = async () => new Response(null, { status: 204 });
  expect((await pass(replyCall({ action: "cancel" })))?.status).toBe(204);
});

test("an error there is the same error here, but for the request it belongs to", async () => {
  const details = [{ param: "offset", detail: "Is past the end." }];
  pair.answer = async () => {
    throw new AppError("conflict", "Another message has this id.");
  };
  expect(await refusalOf(pass(replyCall()))).toMatchObject({
    code: "conflict",
    message: "Another message has this id.",
    retryAfterSeconds: undefined,
  });
  pair.answer = async () => {
    throw new AppError("invalid_request", "Check offset.", { errors: details });
  };
  expect(await refusalOf(pass(replyCall()))).toMatchObject({ code: "invalid_request", errors: details });
  pair.answer = async () => {
    throw new AppError("rate_limited", "Too many wait.", { retryAfterSeconds: 7 });
  };
  expect(await refusalOf(pass(replyCall()))).toMatchObject({ code: "rate_limited", retryAfterSeconds: 7 });
  pair.answer = async () => {
    throw new Error("private");
  };
  const internal = await refusalOf(pass(replyCall()));
  expect(internal.code).toBe("internal");
  expect(internal.message).not.toContain("private");
});

test("an instance that is gone, unknown, or this one itself does not answer: unavailable, in a second", async () => {
  await pair.kill();
  expect(await refusalOf(pass(replyCall()))).toMatchObject(unanswered);
  expect(await refusalOf(pair.here.pass(null, replyCall(), never))).toMatchObject(unanswered);
  await pair.here.announce(() => "http://127.0.0.1:1");
  expect(await refusalOf(pair.here.pass("http://127.0.0.1:1", replyCall(), never))).toMatchObject(unanswered);
});

test("an instance that takes requests and says nothing is given up", async () => {
  const opened: number[] = [];
  const handlers = { open: () => void opened.push(1), data() {} };
  using hanging = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: handlers });
  const quick = await openLoneInstance(oneKey, { deadlines: { checkMs: 10, connectMs: 50 } });
  const url = `http://127.0.0.1:${hanging.port}`;
  expect(await refusalOf(quick.pass(url, replyCall(), never))).toMatchObject(unanswered);
  expect(opened.length).toBeGreaterThan(1);
});

test("what is answered at once is given up where it is not, even if something is there", async () => {
  const quick = await openLoneInstance(oneKey, { deadlines: { headMs: 50 } });
  pair.answer = () => Promise.withResolvers<null>().promise;
  for (const action of ["follow", "cancel"] as const) {
    expect(await refusalOf(quick.pass(pair.url, replyCall({ action }), never))).toMatchObject(unanswered);
  }
});

test("an instance that is there may take its time, even while it stops", async () => {
  const patient = await openLoneInstance(oneKey, { deadlines: { checkMs: 5, connectMs: 60_000 } });
  pair.answer = async () => {
    // The call itself, and looks at whether the instance is there.
    await eventually(() => pair.requests.length > 4);
    pair.refuse();
    await expect(fetch(pair.url)).rejects.toThrow();
    await turnsOfTheLoop(100);
    return new Response(null, { status: 204 });
  };
  expect((await patient.pass(pair.url, replyCall({ action: "cancel" }), never))?.status).toBe(204);
});

test("whatever else answers at the address, with another key or none, is no instance", async () => {
  const stranger = await openLoneInstance(new Uint8Array(32).fill(8));
  expect(await refusalOf(stranger.pass(pair.url, replyCall(), never))).toMatchObject(unanswered);
  const headers = { "content-type": "text/event-stream", [proofHeader]: "A".repeat(43) };
  using impostor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("data: [DONE]\n\n", { headers }),
  });
  expect(await refusalOf(pair.here.pass(impostor.url.origin, replyCall(), never))).toMatchObject(unanswered);
});

test("a client that leaves ends the request there, before its head and in the middle of its stream", async () => {
  const begin = Promise.withResolvers<void>();
  pair.answer = async (_, __, seal) => {
    await begin.promise;
    return makeEvents(seal).response;
  };
  const leaving = new AbortController();
  const waiting = pass(replyCall(), leaving.signal);
  await eventually(() => pair.requests.length === 1);
  leaving.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  await eventually(() => pair.requests[0]?.signal.aborted === true);

  begin.resolve();
  const response = await pass(replyCall());
  await response?.body?.cancel();
  await eventually(() => pair.requests[1]?.signal.aborted === true);
});

test("a reader who does not read keeps the other instance from sending", async () => {
  const piece = "x".repeat(64 * 1024);
  const total = 1024;
  let sent = 0;
  pair.answer = async (_, __, seal) => {
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent++ < total) controller.enqueue(Buffer.from(seal(piece)));
        else controller.close();
      },
    });
    return new Response(endless);
  };
  const response = await pass(replyCall());
  let before = -1;
  await eventually(async () => {
    const isStill = sent === before;
    before = sent;
    await turnsOfTheLoop(50);
    return isStill;
  });
  // What the sockets of both sides hold.
  expect(sent).toBeLessThan(total / 2);
  expect((await response?.arrayBuffer())?.byteLength).toBe(total * piece.length);
});

test("the stream breaks when the other instance does, and when it falls silent", async () => {
  pair.answer = async (_, __, seal) => makeEvents(seal).response;
  const response = await pass(replyCall());
  const reader = response?.body?.getReader();
  await reader?.read();
  await pair.kill();
  await expect(reader?.read()).rejects.toThrow("broke off");

  await using silent = await openInstancePair({ silenceMs: 50 });
  silent.answer = async (_, __, seal) => makeEvents(seal).response;
  const quiet = await silent.here.pass(silent.url, replyCall(), never);
  await expect(quiet?.text()).rejects.toThrow("fallen silent");
});

/** The pieces of an answer, as they travel. */
const piecesOf = (body: string) => body.split(/(?=[0-9]+ [\w-]{43}\n)/);
const said = ["one ", "two ", "three ", "data: [DONE]"];

test.each<[string, (pieces: string[], others: string[]) => string[], number]>([
  ["changed", (pieces) => pieces.map((piece) => piece.replace("two", "ten")), 1],
  ["with another length", (pieces) => pieces.map((piece) => piece.replace(/^4 (.*\ntwo)/, "5 $1")), 1],
  ["of endless length", (pieces) => ["99999", pieces[0]?.slice(1) ?? ""], 0],
  ["without a proof", ([first = "", second = ""]) => [first, second.replace(/^.*\n/, "")], 1],
  ["cut", ([first = "", second = ""]) => [first, second.slice(0, -1)], 1],
  ["left out", ([first = "", _, ...rest]) => [first, ...rest], 1],
  ["exchanged", ([first = "", second = "", ...rest]) => [second, first, ...rest], 0],
  ["repeated", ([first = "", ...rest]) => [first, first, ...rest], 1],
  ["of another answer of these two", ([first = "", _, ...rest], [__, other = ""]) => [first, other, ...rest], 1],
  ["an answer of these two before", (_, others) => others, 0],
])("a piece that is %s breaks the stream, and neither it nor what follows is delivered", async (_, change, good) => {
  using proxy = startTamperingProxy(() => pair.url);
  await pair.there.announce(() => proxy.url);
  pair.answer = async (_call, _request, seal) => new Response(said.map(seal).join(""));
  const others: string[] = [];
  const read = async () => {
    const reader = (await pair.here.pass(proxy.url, replyCall(), never))?.body?.getReader();
    let text = "";
    try {
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        text += Buffer.from(part.value).toString();
      }
      return { isBroken: false, text };
    } catch {
      return { isBroken: true, text };
    }
  };
  proxy.tamper = ({ body }) => void others.push(...piecesOf(body));
  expect(await read()).toEqual({ isBroken: false, text: said.join("") });
  proxy.tamper = (answer) => {
    answer.body = change(piecesOf(answer.body), others).join("");
  };
  const { isBroken, text } = await read();
  expect(isBroken).toBe(true);
  // What arrived together with a bad piece may be lost.
  expect(said.slice(0, good).join("")).toStartWith(text);
});

test("a head or an error that was changed on the way is no answer", async () => {
  using proxy = startTamperingProxy(() => pair.url);
  await pair.there.announce(() => proxy.url);
  const refused = () => refusalOf(pair.here.pass(proxy.url, replyCall(), never));
  pair.answer = async () => {
    throw new AppError("rate_limited", "Too many wait.", { retryAfterSeconds: 7 });
  };
  expect(await refused()).toMatchObject({ code: "rate_limited", retryAfterSeconds: 7 });
  const changes: (typeof proxy.tamper)[] = [
    (answer) => void Object.assign(answer, { status: endedStatus }),
    ({ headers }) => headers.set("retry-after", "3600"),
    (answer) => void Object.assign(answer, { body: answer.body.replace("Too many", "Go away") }),
    (answer) => void Object.assign(answer, { body: "" }),
  ];
  for (proxy.tamper of changes) expect(await refused()).toMatchObject(unanswered);
});

test("an address that could not be announced is announced again", async () => {
  const published: string[] = [];
  const log = createCapturedLog();
  const instance = await openLoneInstance(oneKey, {
    log,
    retryMs: 1,
    async publish(url) {
      published.push(url);
      if (published.length === 1) throw new Error("PostgreSQL is away");
    },
  });
  await instance.announce(() => "http://10.0.0.1:3000");
  await eventually(() => published.length === 2);
  expect(published).toEqual(["http://10.0.0.1:3000", "http://10.0.0.1:3000"]);
  expect(log.events.map(({ level }) => level)).toEqual(["warn"]);
  instance.close();
});
