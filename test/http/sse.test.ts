/** The exact bytes of a chat stream, and what happens to it when its reader stalls or leaves. */
import { afterAll, describe, expect, test } from "bun:test";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { EventStream } from "../../src/http/sse.ts";
import { frameDeltas } from "../../src/http/sse-frames.ts";

const heartbeats = createHeartbeatTicker();
afterAll(() => heartbeats.stop());

function openStream() {
  const gone = new AbortController();
  return { stream: new EventStream(gone.signal, heartbeats), gone };
}

const textOf = (stream: EventStream) => new Response(stream.body).text();

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
    stream.write(["a"]);
    stream.write(["b", "c"]);
    stream.done();
    expect(await textOf(stream)).toBe(
      'data: {"text":"a"}\n\ndata: {"text":"b"}\n\ndata: {"text":"c"}\n\ndata: [DONE]\n\n',
    );
  });

  test("end with a comment and no terminator when the reply broke off", async () => {
    const { stream } = openStream();
    stream.write(["a"]);
    stream.fail("upstream_error");
    expect(await textOf(stream)).toBe('data: {"text":"a"}\n\n: error upstream_error\n\n');
  });

  test("begin with a comment after a long wait", async () => {
    const { stream } = openStream();
    stream.ping();
    stream.write(["late"]);
    stream.done();
    expect(await textOf(stream)).toBe(': ping\n\ndata: {"text":"late"}\n\ndata: [DONE]\n\n');
  });

  test("hold nothing after the end", async () => {
    const { stream } = openStream();
    stream.done();
    stream.write(["late"]);
    stream.fail("unavailable");
    expect(await textOf(stream)).toBe("data: [DONE]\n\n");
  });
});
