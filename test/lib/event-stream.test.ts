/** Events of a stream are the same, wherever its bytes are split, and as another reader of the standard has them. */
import { expect, test } from "bun:test";
import { createParser } from "eventsource-parser";
import { EventStreamReader } from "../../src/lib/event-stream.ts";

function readBy(stream: string, pieceBytes: number): string[] {
  const reader = new EventStreamReader();
  const bytes = Buffer.from(stream);
  const events: string[] = [];
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    events.push(...reader.feed(bytes.subarray(from, from + pieceBytes)));
  }
  return events;
}

test.each<[string, string, string[]]>([
  [
    "each of the line ends",
    "data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\ndata: e\n\r\n",
    ["a", "b", "c", "d", "e"],
  ],
  ["several lines of data", "data: a\ndata\ndata:b\ndata:  c\n\n", ["a\n\nb\n c"]],
  ["characters of several bytes", "data: Straße 🙂\n\n", ["Straße 🙂"]],
  ["a byte order mark, once", "\ufeffdata: \ufeffa\n\n", ["\ufeffa"]],
  ["comments and other fields", ": data: no\nid: 1\nretry: 9\ndata: a\nData: no\nother\n\n", ["a"]],
  [
    "events without data, and of other types",
    "event: other\ndata: no\n\nid: 1\n\ndata:\n\nevent: message\ndata: a\n\n",
    ["a"],
  ],
  ["the type of one event alone", "event: other\n\ndata: a\n\n", ["a"]],
  ["what is not ended", "data: a\n\ndata: no\n", ["a"]],
])("reads %s", (_, stream, expected) => {
  for (const pieceBytes of [1, 2, 3, 5, 1000]) expect(readBy(stream, pieceBytes)).toEqual(expected);
  const others: string[] = [];
  const parser = createParser({
    onEvent({ event = "message", data }) {
      if (event === "message" && data !== "") others.push(data);
    },
  });
  parser.feed(stream);
  expect(others).toEqual(expected);
});

test("replaces what is not UTF-8", () => {
  const reader = new EventStreamReader();
  expect(reader.feed(Buffer.concat([Buffer.from("data: a"), Uint8Array.of(0xff), Buffer.from("\n\n")]))).toEqual([
    "a\ufffd",
  ]);
});
