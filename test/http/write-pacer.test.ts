/** What a stream sends at once and what it holds back for a moment, by the chunks of HTTP that reach a visitor. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { EventStream } from "../../src/http/sse.ts";
import { WritePacer, writeGapMs } from "../../src/http/write-pacer.ts";
import { connectRaw, type RawVisitor } from "../support/raw-visitor.ts";

const heartbeats = createHeartbeatTicker();
let server: Bun.Server<undefined>;
let visitor: RawVisitor;
let stream: EventStream;
/** The pacer's clock and timer. */
let nowMs: number;
let due: (() => void)[];

const write = (...deltas: string[]) => stream.take({ type: "text", deltas });

function passGap(): void {
  nowMs += writeGapMs;
  for (const release of due.splice(0)) release();
}

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
  nowMs = 0;
  due = [];
  const pacer = new WritePacer(
    () => nowMs,
    (release) => due.push(release),
  );
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      stream = new EventStream(request.signal, heartbeats, pacer);
      write("first");
      return new Response(stream.body);
    },
  });
  visitor = await connectRaw(server.url.href);
  visitor.write("GET / HTTP/1.1\r\nHost: companion.test\r\n\r\n");
  await visitor.until((text) => text.includes("first"));
  nowMs += writeGapMs;
});
afterEach(async () => {
  visitor.vanish();
  await server.stop(true);
});

test("texts that come no faster than the gap leave at once, each in its own write", async () => {
  for (const text of ["a", "b", "c"]) {
    write(text);
    await visitor.until((received) => received.includes(`"${text}"`));
    nowMs += writeGapMs;
  }
  expect(await readWrites("c")).toEqual(["first", "a", "b", "c"]);
  expect(due).toEqual([]);
});

test("what follows sooner is held, and leaves together once the gap has passed", async () => {
  write("a");
  write("b");
  write("c", "d");
  passGap();
  write("e");
  passGap();
  expect(await readWrites('"e"')).toEqual(["first", "a", "b c d", "e"]);
  nowMs += writeGapMs;
  write("f");
  expect(await readWrites('"f"')).toEqual(["first", "a", "b c d", "e", "f"]);
});

test("the end waits for no gap, and nothing held is lost", async () => {
  write("a");
  write("b");
  stream.take({ type: "end", outcome: "complete" });
  expect(await readWrites("[DONE]")).toEqual(["first", "a", "b [DONE]"]);
  passGap();
});

test("more than a few packets' worth is not held", async () => {
  write("a");
  write("x".repeat(16 * 1024));
  expect((await readWrites("xxx")).map((texts) => texts.slice(0, 5))).toEqual(["first", "a", "xxxxx"]);
  write("b");
  passGap();
  expect((await readWrites('"b"')).at(-1)).toBe("b");
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
  passGap();
  visitor.resume();
  await stalled;
  // The drain hands what is held to the pacer again; the end would send it too, and must not be needed for it.
  passGap();
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

test("a stream that fails when it is released keeps none of the others", () => {
  const released: string[] = [];
  const release = (name: string) => ({ release: () => void released.push(name) });
  const pacer = new WritePacer(
    () => 0,
    (releaseAll) => due.push(releaseAll),
  );
  pacer.hold(release("before"));
  pacer.hold({
    release() {
      throw new Error("the connection broke");
    },
  });
  pacer.hold(release("after"));
  passGap();
  expect(released).toEqual(["before", "after"]);
});

test("a visitor who leaves while something is held ends the stream", async () => {
  write("a");
  write("b");
  const ended = new Promise<void>((resolve) => {
    stream.onEnd = resolve;
  });
  visitor.vanish();
  await ended;
  passGap();
  expect(stream.outcome).toBe("left");
});
