/** The client's stream reader, against the client rule and every way in which bytes can be cut. */
import { expect, test } from "bun:test";
import { CompanionError } from "../../src/reply-reader/errors.ts";
import { createReplyReader } from "../../src/reply-reader/reply-reader.ts";
import { createRandom } from "../support/random.ts";

const encoder = new TextEncoder();

function readAll(pieces: Uint8Array[]): { text: string; isDone: boolean } {
  const reader = createReplyReader();
  const fragments = pieces.flatMap((piece) => reader.push(piece));
  fragments.push(...reader.push());
  return { text: fragments.join(""), isDone: reader.isDone };
}

const replies = {
  plain: 'data: {"text":"Hello"}\n\ndata: {"text":" world"}\n\ndata: [DONE]\n\n',
  comments:
    ': ping\n\ndata: {"text":"Hello"}\n\n: ping\n\nevent: x\nid: 7\ndata:{"text":"no"}\ndata: {"text":" world"}\n\ndata: [DONE]\n\n',
  carriageReturns: 'data: {"text":"Hello"}\r\n\r\ndata: {"text":" world"}\r\n\r\ndata: [DONE]\r\n\r\n',
  loneCarriageReturns: 'data: {"text":"Hello"}\r\rdata: {"text":" world"}\r\rdata: [DONE]\r\r',
  unknownFields:
    'data: {"text":"Hello","n":1}\n\ndata: {"other":2}\n\ndata: null\n\ndata: {"text":""}\n\ndata: {"text":5}\n\ndata: {"text":" world"}\n\ndata: [DONE]\n\n',
  noLastBreak: 'data: {"text":"Hello world"}\n\ndata: [DONE]',
  afterTheEnd: 'data: {"text":"Hello world"}\n\ndata: [DONE]\n\ndata: {"text":" and more"}\n\nnot even an event',
};

test.each(Object.entries(replies))("reads the same reply wherever its bytes are cut in two: %s", (_, stream) => {
  const bytes = encoder.encode(stream);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(readAll([bytes.slice(0, cut), bytes.slice(cut)])).toEqual({ text: "Hello world", isDone: true });
  }
});

test("reads characters of several bytes, escapes and separators wherever they are cut in three", () => {
  const text = 'é 漢字 👩‍👩‍👧‍👦 "quoted" \\ \u2028 \u0000 line\nbreak data: [DONE] \ud83d';
  const stream = `data: ${JSON.stringify({ text })}\n\ndata: {"text":"漢"}\n\ndata: [DONE]\n\n`;
  const bytes = encoder.encode(stream);
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= Math.min(bytes.length, first + 6); second++) {
      const pieces = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
      expect(readAll(pieces)).toEqual({ text: `${text}漢`, isDone: true });
    }
  }
});

test("reads random replies cut at random, and one byte at a time", () => {
  const random = createRandom(7);
  for (let round = 0; round < 300; round++) {
    const fragments = Array.from({ length: 1 + random.below(12) }, () => randomText(1 + random.below(20)));
    const ends = ["\n\n", "\r\n\r\n", "\n: ping\n\n"];
    const events = fragments.map((text) => `data: ${JSON.stringify({ text })}${ends[random.below(3)]}`);
    const bytes = encoder.encode(`${events.join("")}data: [DONE]\n\n`);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = round % 3 === 0 ? 1 : random.below(31);
      pieces.push(bytes.slice(at, at + length));
      at += length;
    }
    expect(readAll(pieces)).toEqual({ text: fragments.join(""), isDone: true });
  }

  function randomText(length: number): string {
    const alphabet = ["a", " ", "\n", "\r", '"', "\\", "é", "漢", "👍", "data: ", "[DONE]", "\u2028", "}"];
    return Array.from({ length }, () => alphabet[random.below(alphabet.length)]).join("");
  }
});

test("a reply that ends anywhere before its terminator is not done, and gives what had arrived whole", () => {
  const bytes = encoder.encode('data: {"text":"one"}\n\ndata: {"text":" two"}\n\ndata: [DONE]');
  for (let length = 0; length < bytes.length; length++) {
    const { text, isDone } = readAll([bytes.slice(0, length)]);
    expect(isDone).toBe(false);
    expect(["", "one", "one two"]).toContain(text);
  }
});

test("a payload that is no JSON is refused, with the code bad_response", () => {
  const reader = createReplyReader();
  const attempt = () => reader.push(encoder.encode("data: <html>\n\n"));
  expect(attempt).toThrow(CompanionError);
  expect(attempt).toThrow(expect.objectContaining({ code: "bad_response" }));
});
