import { describe, expect, spyOn, test } from "bun:test";
import { chatReader } from "../../src/engines/openai/chat-reader.ts";
import { ReplyStream } from "../../src/engines/openai/reply-stream.ts";
import { streamLimits } from "../../src/engines/openai/stream-limits.ts";
import { dialects, readFixture } from "../support/llm-dialects.ts";
import { chunk, doneMark, event, usageChunk, wholeStream } from "../support/mock-llm-replies.ts";

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** Feeds each text as one read, and ends the body. */
function read(...reads: string[]) {
  const stream = new ReplyStream(chatReader);
  const deltas = reads.map((part) => stream.feed(latin1(part)));
  deltas.push(stream.end());
  return { stream, deltas, text: deltas.flat().join("") };
}

describe("the recorded dialects", () => {
  for (const dialect of dialects) {
    test(`${dialect.file} yields its text, usage and ending`, () => {
      const stream = new ReplyStream(chatReader);
      const deltas = [...stream.feed(readFixture(dialect.file).toString("latin1")), ...stream.end()];
      expect(deltas.join("")).toBe(dialect.text);
      expect(deltas).not.toContain("");
      expect(stream.usage).toEqual(dialect.usage === null ? null : expect.objectContaining(dialect.usage));
      expect(stream.failure === null && (stream.finishReason !== null || stream.hasDoneMark)).toBe(dialect.isComplete);
      if (dialect.failure === null) expect(stream.failure).toBeNull();
      else expect(stream.failure?.message).toMatch(dialect.failure);
    });
  }
});

describe("lines and events", () => {
  test("returns the deltas of one read together", () => {
    const { deltas } = read(chunk({ content: "a" }) + chunk({ content: "b" }), chunk({ content: "c" }));
    expect(deltas).toEqual([["a", "b"], ["c"], []]);
  });

  test("leaves out what is empty in the middle of a run, and reads on behind what is escaped", () => {
    const { deltas } = read(
      chunk({ content: "a" }),
      ["b", "", "c", 'say "d"', "e", "f"].map((content) => chunk({ content })).join(""),
    );
    expect(deltas[1]).toEqual(["b", "c", 'say "d"', "e", "f"]);
  });

  test("shows a delta as soon as its line has ended, before the blank line", () => {
    const stream = new ReplyStream(chatReader);
    expect(stream.feed(chunk({ content: "now" }).slice(0, -1))).toEqual(["now"]);
  });

  test("reads a last line that nothing ends", () => {
    expect(read(chunk({ content: "cut" }).trimEnd()).text).toBe("cut");
    const { stream } = read(chunk({ content: "x" }), "data: [DONE]");
    expect(stream.hasDoneMark).toBe(true);
  });

  test("joins the data lines of one event", () => {
    const pretty = JSON.stringify({ choices: [{ delta: { content: "two\nlines" } }] }, null, 2);
    const lines = pretty.split("\n").map((line) => `data: ${line}\n`);
    expect(read(`${lines.join("")}\n`, chunk({ content: "!" })).text).toBe("two\nlines!");
  });

  test("takes events that single line feeds separate", () => {
    const lines = [chunk({ content: "a" }), chunk({ content: "b" })].map((line) => line.trimEnd());
    expect(read(`${lines.join("\n")}\n`).text).toBe("ab");
  });

  test("skips white space and a byte order mark in front", () => {
    expect(read(`\ufeff\n${chunk({ content: "a" })}`).text).toBe("a");
    expect(read("\r\n", " ", chunk({ content: "b" })).text).toBe("b");
  });

  test("ignores what follows [DONE], and keeps what follows a finish_reason", () => {
    const late = chunk({ content: " late" });
    expect(read(chunk({ content: "a" }), doneMark, late).text).toBe("a");
    expect(read(chunk({ content: "a" }), chunk({ finishReason: "stop" }), late).text).toBe("a late");
  });

  test("takes the last usage of several", () => {
    const { stream } = read(usageChunk(1, 1), chunk({ content: "a" }), usageChunk(1, 2), event({ usage: null }));
    expect(stream.usage).toEqual({
      inputTokens: 1,
      outputTokens: 2,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
  });

  test("takes usage only where it counts", () => {
    const counts = [
      {},
      { prompt_tokens: 1 },
      { prompt_tokens: "1", completion_tokens: 2 },
      { prompt_tokens: -1, completion_tokens: 1.5 },
    ];
    for (const usage of counts) expect(read(event({ choices: [], usage })).stream.usage).toBeNull();
  });

  test("ignores deltas of tool calls, reasoning and further choices", () => {
    const { text } = read(
      chunk({ delta: { tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] } }),
      chunk({ content: null, delta: { reasoning_content: "no", reasoning: "no", thinking: "no" } }),
      event({
        choices: [
          { index: 0, delta: { content: "yes" } },
          { index: 1, delta: { content: "other" } },
        ],
      }),
      event({ choices: null }),
      event({ choices: [null] }),
      event({ choices: [{ delta: null }] }),
      event({}),
    );
    expect(text).toBe("yes");
  });
});

describe("text", () => {
  test("puts the halves of a surrogate pair together again", () => {
    const escaped = (half: string) => `data: {"choices":[{"delta":{"content":"${half}"}}]}\n\n`;
    const { deltas } = read(escaped("a\\ud83d"), escaped(""), escaped("\\ude42b"));
    expect(deltas.flat()).toEqual(["a", "🙂b"]);
  });

  test("never yields ill-formed text", () => {
    const escaped = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;
    const { text } = read(escaped("\\ude42 \\ud83d"), escaped("x"), escaped("\\ud83d"), doneMark);
    expect(text).toBe("\ufffd \ufffdx");
  });

  test("takes NUL out", () => {
    expect(read(chunk({ content: "a\0b" }), chunk({ content: "\0" })).deltas.flat()).toEqual(["ab"]);
  });

  test("reads invalid UTF-8 as replacement characters", () => {
    const stream = new ReplyStream(chatReader);
    const line = Buffer.from(chunk({ content: "a~b" }), "utf8").toString("latin1");
    const bad = line.replace("~", "\u00e2\u0082");
    expect([...stream.feed(bad), ...stream.feed(bad)]).toEqual(["a\ufffdb", "a\ufffdb"]);
  });
});

describe("failures", () => {
  const failures: [string, string, RegExp][] = [
    ["malformed JSON", "data: {oops\n\n", /not JSON/],
    ["an event cut off by the end", 'data: {"choices":[', /not JSON/],
    ["JSON that is no object", "data: 5\n\n", /no JSON object/],
    ["an event named error", 'event: error\ndata: {"message":"overloaded"}\n\n', /overloaded/],
    ["an error that is a text", event({ error: "out of memory" }), /out of memory/],
    ["a finish_reason of error", chunk({ finishReason: "error" }), /finish_reason error/],
    ["an error in the choice", event({ choices: [{ error: { message: "inner" }, delta: {} }] }), /inner/],
  ];
  for (const [name, bytes, reason] of failures) {
    test(`${name} is one, and the text before it is kept`, () => {
      const { stream, text } = read(chunk({ content: "before" }), bytes, chunk({ content: "after" }));
      expect(stream.failure?.message).toMatch(reason);
      expect(text).toBe("before");
    });
  }

  test("an error's status decides whether it may pass", () => {
    const isTransient = (code: unknown) => read(event({ error: { message: "x", code } })).stream.failure?.isTransient;
    expect([429, "503", 502, 400, "rate_limit", null].map(isTransient)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test("an event of many lines is parsed once, at its end", () => {
    const parse = spyOn(JSON, "parse");
    try {
      const countParses = (lines: number) => {
        parse.mockClear();
        read(...Array<string>(lines).fill("data:[1,\n"), "\n");
        return parse.mock.calls.length;
      };
      expect([countParses(1000), countParses(2000)]).toEqual([2, 2]);
    } finally {
      parse.mockRestore();
    }
  });

  test.each(["ы", "\\", '"'])("an event is looked for once, also where its text (%s) is not plain ASCII", (text) => {
    const indexOf = spyOn(String.prototype, "indexOf");
    try {
      const countSearches = (events: number) => {
        const bytes = chunk({ content: "a" }) + chunk({ content: text }).repeat(events);
        indexOf.mockClear();
        expect(read(bytes).text).toBe(`a${text.repeat(events)}`);
        return indexOf.mock.calls.length;
      };
      expect(countSearches(400) / countSearches(200)).toBeLessThan(2.1);
    } finally {
      indexOf.mockRestore();
    }
  });

  test("a long line is judged, and so put together, once in however many reads it arrives", () => {
    let asked = 0;
    const stream = new ReplyStream({ ...chatReader, skips: () => ++asked === 0 });
    for (const part of ["data:", ...Array<string>(100).fill(" ".repeat(1000))]) stream.feed(part);
    expect(asked).toBe(1);
  });

  test("an event of several lines counts also where [DONE] follows without an empty line", () => {
    const lines = JSON.stringify({ choices: [{ delta: { content: "whole" } }] }, null, 2).split("\n");
    const { text, stream } = read(`${lines.map((line) => `data: ${line}\n`).join("")}data: [DONE]\n\n`);
    expect({ text, failure: stream.failure, isWhole: stream.hasDoneMark }).toEqual({
      text: "whole",
      failure: null,
      isWhole: true,
    });
  });

  test("a line, an event, a reply and a document are bounded", () => {
    const limits = { ...streamLimits, maxLineBytes: 400, maxEventLines: 3, maxTextUnits: 1000 };
    const feed = (reads: string[]) => {
      const stream = new ReplyStream(chatReader, [], limits);
      for (const bytes of reads) stream.feed(bytes);
      return stream.failure?.message;
    };
    expect(feed(["data: ", "x".repeat(500)])).toMatch(/line is too long/);
    expect(feed(Array<string>(50).fill("data: [1,2,3,4,5,\n"))).toMatch(/event is too long/);
    expect(feed(Array<string>(12).fill(chunk({ content: "y".repeat(100) })))).toMatch(/reply is too long/);
    expect(feed(["{", " ".repeat(1000)])).toMatch(/too long/);
    expect(feed(wholeStream(["fine"]))).toBeUndefined();
  });
});
