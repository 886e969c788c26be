/** The exact bytes of a chat stream, and what happens to it when its reader stalls or leaves. */
import { afterAll, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { TurnReader } from "../../src/core/turns/events.ts";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { EventStream, frameDeltas } from "../../src/http/sse.ts";

const heartbeats = createHeartbeatTicker();
afterAll(() => heartbeats.stop());

const text = (...deltas: string[]) => ({ type: "text", deltas }) as const;
const waiting = { type: "waiting" } as const;
const whole = { type: "end", outcome: "complete" } as const;

function openStream() {
  const gone = new AbortController();
  return { stream: new EventStream(gone.signal, heartbeats), gone };
}

const textOf = (stream: EventStream) => new Response(stream.body).text();

describe("a stream that follows a turn", () => {
  function followTurn() {
    const left: TurnReader[] = [];
    const { stream, gone } = openStream();
    stream.follow({ attach: () => {}, leave: (reader) => left.push(reader) });
    return { stream, gone, left };
  }

  /** What Bun does when it begins to read. */
  function beginToRead(
    stream: EventStream,
    controller: Pick<ReadableStreamDirectController, "write" | "flush" | "close">,
  ) {
    void stream.pull(controller as ReadableStreamDirectController);
  }

  test("makes bytes of its events", async () => {
    const { stream, left } = followTurn();
    stream.take(waiting);
    stream.take(text("a", "b"));
    stream.take(whole);
    expect(await textOf(stream)).toBe(': ping\n\ndata: {"text":"a"}\n\ndata: {"text":"b"}\n\ndata: [DONE]\n\n');
    expect(left).toEqual([]);
  });

  test.each([
    [{ type: "end", outcome: "broken", code: "too_long" }, ": error too_long\n\n", "broken"],
    [{ type: "end", outcome: "stopped" }, "", "left"],
  ] as const)("ends with %j", async (event, last, outcome) => {
    const { stream } = followTurn();
    stream.take(event);
    expect(await textOf(stream)).toBe(last);
    expect(stream.outcome).toBe(outcome);
  });

  test("reports once that the visitor has left, even if that was before", () => {
    const { stream, gone, left } = followTurn();
    gone.abort();
    stream.cancel();
    expect(left).toEqual([stream]);
    expect(stream.outcome).toBe("left");
    const late = openStream();
    late.gone.abort();
    late.stream.follow({ attach: () => {}, leave: (reader) => left.push(reader) });
    expect(left).toEqual([stream, late.stream]);
  });

  test("asks for more when what it had before it was opened is accepted", async () => {
    const { stream } = followTurn();
    const opened = Promise.withResolvers<void>();
    stream.onOpen = opened.resolve;
    const accepted = Promise.withResolvers<number>();
    stream.take(text("a"));
    beginToRead(stream, { write: () => accepted.promise, flush: () => 0, close: () => {} });
    expect(Bun.peek.status(opened.promise)).toBe("pending");
    accepted.resolve(1);
    await opened.promise;
  });

  test("does not throw at the turn, the heartbeats or the shutdown where a write fails", () => {
    const { stream } = followTurn();
    const broken = () => {
      throw new Error("The connection has just broken.");
    };
    beginToRead(stream, { write: broken, flush: broken, close: broken });
    expect(stream.take(text("a"))).toBeUndefined();
    stream.pingIfQuietSince(Number.POSITIVE_INFINITY);
    stream.interrupt();
    stream.take(whole);
    expect(stream.outcome).toBe("complete");
  });

  test("leaves nothing behind on the visitor's signal", () => {
    const { stream, gone } = followTurn();
    expect(getEventListeners(gone.signal, "abort")).toHaveLength(1);
    stream.take(whole);
    expect(getEventListeners(gone.signal, "abort")).toEqual([]);
  });
});

describe("the bytes of a chat stream", () => {
  test("are one data line and a blank line for each delta, JSON-escaped", () => {
    expect(frameDeltas(["Hi", ' "you"\n', "ä€😀", "\u2028"])).toBe(
      'data: {"text":"Hi"}\n\ndata: {"text":" \\"you\\"\\n"}\n\ndata: {"text":"ä€😀"}\n\ndata: {"text":"\u2028"}\n\n',
    );
  });

  test("keep a surrogate pair that was cut in two", () => {
    const [high, low] = ["\ud83d", "\ude00"];
    const events = frameDeltas([high, low]).trim().split("\n\n");
    expect(events.map((event) => JSON.parse(event.slice(6)).text).join("")).toBe("😀");
  });

  test("end with the literal terminator when the reply is whole", async () => {
    const { stream } = openStream();
    stream.take(text("a"));
    stream.take(text("b", "c"));
    stream.take(whole);
    expect(await textOf(stream)).toBe(
      'data: {"text":"a"}\n\ndata: {"text":"b"}\n\ndata: {"text":"c"}\n\ndata: [DONE]\n\n',
    );
  });

  test("end with a comment and no terminator when the reply broke off", async () => {
    const { stream } = openStream();
    stream.take(text("a"));
    stream.take({ type: "end", outcome: "broken", code: "upstream_error" });
    expect(await textOf(stream)).toBe('data: {"text":"a"}\n\n: error upstream_error\n\n');
  });

  test("begin with a comment after a long wait", async () => {
    const { stream } = openStream();
    stream.take(waiting);
    stream.take(text("late"));
    stream.take(whole);
    expect(await textOf(stream)).toBe(': ping\n\ndata: {"text":"late"}\n\ndata: [DONE]\n\n');
  });

  test("hold nothing after the end", async () => {
    const { stream } = openStream();
    stream.take(whole);
    stream.take(text("late"));
    stream.take({ type: "end", outcome: "broken", code: "unavailable" });
    expect(await textOf(stream)).toBe("data: [DONE]\n\n");
  });
});
