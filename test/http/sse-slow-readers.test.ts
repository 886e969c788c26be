/** What a stream does for visitors who read slowly, or not any more. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { EventStream } from "../../src/http/sse.ts";
import { connectRaw, type RawVisitor } from "../support/raw-visitor.ts";

const heartbeats = createHeartbeatTicker();
let server: Bun.Server<undefined>;
let visitor: RawVisitor;
let stream: EventStream;
const write = (...deltas: string[]) => stream.take({ type: "text", deltas });

/** The texts of each of HTTP's chunks so far. */
async function readWrites(last: string): Promise<string[]> {
  const received = await visitor.until((text) => text.includes(last));
  const body = received.slice(received.indexOf("\r\n\r\n") + 4);
  return body
    .split(/\r?\n?[0-9a-f]+\r\n/)
    .map((piece) => [...piece.matchAll(/"text":"(\w+)"|\[DONE\]/g)].map(([all, text]) => text ?? all).join(" "))
    .filter((texts) => texts !== "");
}

beforeEach(async () => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      stream = new EventStream(request.signal, heartbeats);
      write("first");
      return new Response(stream.body);
    },
  });
  visitor = await connectRaw(server.url.href);
  visitor.write("GET / HTTP/1.1\r\nHost: companion.test\r\n\r\n");
  await visitor.until((text) => text.includes("first"));
});
afterEach(async () => {
  visitor.vanish();
  await server.stop(true);
});

test("each write leaves at once, and the texts of one together", async () => {
  write("a");
  await visitor.until((received) => received.includes('"a"'));
  write("b", "c");
  await visitor.until((received) => received.includes('"c"'));
  stream.take({ type: "end", outcome: "complete" });
  expect(await readWrites("[DONE]")).toEqual(["first", "a", "b c", "[DONE]"]);
});

test("what comes while the visitor does not read is kept in order, and leaves when it reads again", async () => {
  visitor.pause();
  const numbers: number[] = [];
  let stalled: Promise<void> | undefined;
  for (let number = 0; stalled === undefined && number < 10_000; number++) {
    stalled = write(`${"x".repeat(16 * 1024)}${number}`);
    numbers.push(number);
  }
  expect(stalled).toBeInstanceOf(Promise);
  // A reader who does not stop all the same.
  expect(write("more")).toBeInstanceOf(Promise);
  visitor.resume();
  await stalled;
  // The end would send it too, and must not be needed for it.
  await visitor.until((text) => text.includes('"more"'));
  stream.take({ type: "end", outcome: "complete" });
  const received = await visitor.until((text) => text.includes("[DONE]"));
  const texts = [...received.matchAll(/x(\d+)"|"(more)"|(\[DONE\])/g)].map(([, ...found]) => found.find((one) => one));
  expect(texts).toEqual([...numbers.map(String), "more", "[DONE]"]);
});

test("a text that is too much for the sockets leaves piece by piece, with every character whole", async () => {
  visitor.pause();
  const text = `x${"😀".repeat(3_000_000)}`;
  const stalled = write(text);
  expect(stalled).toBeInstanceOf(Promise);
  // The most of it waits as it is, not in a buffer of the socket's.
  expect(stream.heldUnits).toBeGreaterThan(text.length / 2);
  visitor.resume();
  await stalled;
  expect(stream.heldUnits).toBe(0);
  stream.take({ type: "end", outcome: "complete" });
  const received = await visitor.until((bytes) => bytes.endsWith("\r\n0\r\n\r\n"));
  const body = received.slice(received.indexOf("\r\n\r\n")).replace(/\r\n[0-9a-f]*\r\n/g, "");
  const shown = /\{"text":"(x[^"]*)"\}\n\ndata: \[DONE\]/.exec(Buffer.from(body, "latin1").toString())?.[1];
  expect(shown === text).toBe(true);
});

test("a visitor who leaves while something is held ends the stream", async () => {
  visitor.pause();
  while (write("x".repeat(1024 * 1024)) === undefined);
  const ended = new Promise<void>((resolve) => {
    stream.onEnd = resolve;
  });
  visitor.vanish();
  await ended;
  expect(stream.outcome).toBe("left");
});
