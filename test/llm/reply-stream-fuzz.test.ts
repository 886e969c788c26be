import { expect, test } from "bun:test";
import { createParser } from "eventsource-parser";
import { chatReader } from "../../src/engines/openai/chat-reader.ts";
import { ReplyStream } from "../../src/engines/openai/reply-stream.ts";
import { dialects, readFixture } from "../support/llm-dialects.ts";
import { createRandom } from "../support/random.ts";

type Random = ReturnType<typeof createRandom>;
type Some<Item> = readonly [Item, ...Item[]];

interface Reply {
  text: string;
  finishReason: string | null;
  usage: unknown;
  failure: string | undefined;
  hasDoneMark: boolean;
}

function read(reads: Iterable<string>): Reply {
  const stream = new ReplyStream(chatReader);
  let text = "";
  for (const bytes of reads) text += stream.feed(bytes).join("");
  text += stream.end().join("");
  const { finishReason, usage, failure, hasDoneMark } = stream;
  return { text, finishReason, usage, failure: failure?.message, hasDoneMark };
}

/** Another's parser of events, JSON.parse for each, and nothing clever: what the fast way must equal. */
function readPlainly(bytes: Buffer): Omit<Reply, "failure"> & { isBroken: boolean } {
  const reply = {
    text: "",
    finishReason: null as string | null,
    usage: null as unknown,
    hasDoneMark: false,
    isBroken: false,
  };
  const parser = createParser({
    onEvent({ data }) {
      if (reply.hasDoneMark || reply.isBroken) return;
      if (data === "[DONE]") {
        reply.hasDoneMark = true;
        return;
      }
      try {
        const chunk = chatReader.read(JSON.parse(data), "");
        reply.text += chunk?.text ?? "";
        reply.finishReason = chunk?.finishReason ?? reply.finishReason;
        reply.usage = chunk?.usage ?? reply.usage;
      } catch {
        reply.isBroken = true;
      }
    },
  });
  parser.feed(bytes.toString("utf8"));
  return reply;
}

function* splitAnywhere(bytes: string, random: Random, longest: number): Iterable<string> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(longest);
    yield bytes.slice(at, at + length);
    at += length;
  }
}

test("any split of a provider's bytes gives the same reply", () => {
  const random = createRandom(1);
  for (const { file } of dialects) {
    const bytes = readFixture(file).toString("latin1");
    const once = read([bytes]);
    expect({ file, ...read(bytes) }).toEqual({ file, ...once });
    for (let cut = 1; cut < bytes.length; cut++) {
      const halves = read([bytes.slice(0, cut), bytes.slice(cut)]);
      if (!Bun.deepEquals(halves, once)) expect({ file, cut, ...halves }).toEqual({ file, cut, ...once });
    }
    for (let round = 0; round < 50; round++) {
      const pieces = read(splitAnywhere(bytes, random, 1 + random.below(200)));
      if (!Bun.deepEquals(pieces, once)) expect({ file, ...pieces }).toEqual({ file, ...once });
    }
  }
});

type Shape = (content: string, other: string, count: number) => string;

/** Shapes that a stream mixes: each group is one way to lead a reader astray that looks at parts of a line only. */
const streams: Some<Some<Shape>> = [
  [(content) => `{"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]}`],
  [(content) => `{"choices": [{"index": 0, "delta": {"content":${content}, "role": null}}]}`],
  [(content) => `{"choices":[{"delta":{"role":"assistant","content":${content}},"finish_reason":""}],"usage":{}}`],
  [(content) => `{"x\\"delta\\":{\\"content\\":\\"no":1,"choices":[{"delta":{"content":${content}}}],"é":"ü"}`],
  [(content, _, count) => `{"created":${count},"choices":[{"delta":{"content":${content}}}]}`],
  [(content) => `{"choices":[{"delta":{"reasoning":${content},"content":${content}}}]}`],
  // The same text in a place that is not the reply's, before it and behind it.
  [(content, other) => `{"content":${other},"choices":[{"delta":{"content":${content}}}]}`],
  [(content, other) => `{"choices":[{"delta":{"content":${content}}}],"content":${other}}`],
  [(content, other) => `{"choices":[{"delta":{"content":${other},"content":${content}}}]}`],
  [
    (content, other) => `{"choices":[{"delta":{"content":${content}}}],"obfuscation":${other}}`,
    (content, other) => `{"obfuscation":${other},"choices":[{"delta":{"content":${content}}}]}`,
    (content) => `{"choices":[{"delta":{"content":${content}}}],"obfuscation":"}`,
    (content, other) =>
      `{"choices":[{"delta":{"content":${content}}}],"obfuscation":"","choices":[{"delta":{"content":"b"}}],"z":${other}}`,
  ],
  [
    (content) => `{"choices":[{"delta":{"content":${content}}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
    (_, __, count) => `{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":${count}}}`,
  ],
  [
    (content) => `{"choices":[{"delta":{"content":${content}}}]}`,
    (content, _, count) => `{"choices":[{"delta":{"content":${content}}}]}${count === 0 ? "}" : " "}`,
    (content, _, count) => `{"choices":[{"delta":{"content":${count === 0 ? content.slice(1) : content}}}]}`,
  ],
  [
    (content) => `{"choices":[{"delta":{"content":${content}}}]}`,
    (content, _, count) =>
      `{"choices":[{"delta":{"content":${content}},"finish_reason":${count === 0 ? '"stop"' : null}}]}`,
  ],
];

const pools: Some<Some<string>> = [
  ["a", " b", "cc.", "d e"],
  ["a", "probe of the text"],
  ["x", "", "é", "日本", "🙂", "ü ", "\u00a0", "\u2028"],
  ["a", 'say "x"', "back\\slash", "line\nfeed", "\t", "\u007f", "[DONE]", "}]}", "data: ", "</b>"],
];

test("the fast way through a stream equals parsing each line", () => {
  const random = createRandom(2);
  let compared = 0;
  for (let round = 0; round < 3000; round++) {
    const shapes = random.pick(streams);
    const pool = random.pick(pools);
    const literal = () => {
      const text = random.pick(pool);
      return random.below(10) === 0 ? escapeAll(text) : JSON.stringify(text);
    };
    const lines = Array.from({ length: 12 }, () => random.pick(shapes)(literal(), literal(), random.below(4)));
    const bytes = Buffer.from([...lines, "[DONE]", ""].map((line) => `data: ${line}\n\n`).join(""), "utf8");
    const { failure, ...reply } = read(splitAnywhere(bytes.toString("latin1"), random, 400));
    const fast = { ...reply, isBroken: failure !== undefined };
    const plain = readPlainly(bytes);
    // White space alone may stand before thoughts, and so it is held back.
    if (plain.isBroken && plain.text.trim() === "") plain.text = "";
    compared++;
    if (!Bun.deepEquals(fast, plain)) expect({ lines, ...fast }).toEqual({ lines, ...plain });
  }
  expect(compared).toBe(3000);
});

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}

test("damaged bytes end in a failure or in less text, never in an exception or in foreign text", () => {
  const random = createRandom(3);
  const bytes = readFixture("openai.sse").toString("latin1");
  for (let round = 0; round < 3000; round++) {
    const at = random.below(bytes.length);
    const damaged = bytes.slice(0, at) + String.fromCharCode(random.below(256)) + bytes.slice(at + 1 + random.below(3));
    const { text } = read([damaged]);
    expect(text.isWellFormed()).toBe(true);
    expect(text.includes("obfuscation")).toBe(false);
  }
});
