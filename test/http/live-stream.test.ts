/** Streams without an end of their own: how they end, and what becomes of a reader who takes nothing. */
import { afterAll, expect, test } from "bun:test";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { asksJson, frameEvent, LiveStream } from "../../src/http/live-stream.ts";

const heartbeats = createHeartbeatTicker();
afterAll(() => heartbeats.stop());

const open = () => new LiveStream(new AbortController().signal, heartbeats);

test("ends with its reason as a comment, or without one, and says so once", async () => {
  const [told, silent] = [open(), open()];
  let ends = 0;
  told.whenEnded(() => ends++);
  told.send(frameEvent("state", { state: "person" }));
  told.send(frameEvent("message", { seq: 3 }, 3));
  told.end("error replaced");
  told.end("again");
  told.whenEnded(() => ends++);
  silent.end(null);
  expect(await new Response(told.body).text()).toBe(
    'event: state\ndata: {"state":"person"}\n\nid: 3\nevent: message\ndata: {"seq":3}\n\n: error replaced\n\n',
  );
  expect(await new Response(silent.body).text()).toBe("");
  expect(ends).toBe(2);
});

test("takes a message of any length, but drops a reader that leaves more than a little untaken", () => {
  const stream = open();
  stream.send("x".repeat(1024 * 1024));
  expect([stream.outcome, stream.heldUnits]).toEqual([null, 1024 * 1024]);
  stream.send("y");
  expect(stream.outcome).toBe("left");
});

test("is JSON for who accepts it and no stream", () => {
  const asks = (accept: string) => asksJson(new Request("http://localhost/", { headers: { accept } }));
  expect(["application/json", "application/json, */*", "text/event-stream, application/json", "*/*"].map(asks)).toEqual(
    [true, true, false, false],
  );
});
