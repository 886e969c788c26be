/** Citations of a reply: true markers stay, made-up ones go, over any split of the text. */
import { describe, expect, test } from "bun:test";
import type { ReplySink } from "../../src/contracts/llm/provider.ts";
import { CitationFilter } from "../../src/core/knowledge/citations/citation-filter.ts";
import { CitedReply } from "../../src/core/knowledge/citations/cited-reply.ts";
import type { CitationMode, NumberedPassage } from "../../src/domain/knowledge.ts";
import { createRandom } from "../support/random.ts";

const passages = 12;

/** Also checks how much is held back. */
function filter(pieces: readonly string[], mode: CitationMode = "markers") {
  const filtering = new CitationFilter(mode, passages);
  let out = "";
  for (const piece of pieces) {
    const before = out.length;
    out += filtering.pass(piece);
    if (out.length < before) throw new Error("took back");
  }
  out += filtering.end();
  return { out, cited: [...filtering.cited] };
}

const filtered = (text: string, mode?: CitationMode) => filter([text], mode).out;

/** The rule once more, slowly, on the whole text: lines, then spans of code, then markers between them. */
function filterWhole(text: string): string {
  let out = "";
  let paragraph = "";
  let fence = "";
  const flush = () => {
    out += filterParagraph(paragraph);
    paragraph = "";
  };
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const mark = /^[ \t>]*(?:[-*+][ \t]+)?[ \t>]*(`{3,}(?=[^`]*$)|~{3,})(.*)/s.exec(line);
    if (fence !== "") {
      const closes = mark?.[1]?.startsWith(fence) === true && /^[ \t\n]*$/.test(mark[2] ?? "");
      out += line;
      if (closes) fence = "";
    } else if (mark !== null && !isWithinSpan(paragraph)) {
      flush();
      fence = mark[1] ?? "";
      out += line;
    } else {
      paragraph += line;
      if (/^[ \t]*\n$/.test(line)) flush();
    }
  }
  flush();
  return out;
}

/** Pieces in turn of text and of code; a span that nothing ends goes to the end. */
function splitSpans(paragraph: string): string[] {
  const runs = [...paragraph.matchAll(/`+/g)];
  const pieces: string[] = [];
  let at = 0;
  for (let index = 0; index < runs.length; index++) {
    const begin = runs[index] as RegExpExecArray;
    const last = runs.findIndex((run, other) => other > index && run[0].length === begin[0].length);
    const end = last === -1 ? paragraph.length : (runs[last]?.index ?? 0) + begin[0].length;
    pieces.push(paragraph.slice(at, begin.index), paragraph.slice(begin.index, end));
    at = end;
    if (last === -1) return pieces;
    index = last;
  }
  return [...pieces, paragraph.slice(at)];
}

function isWithinSpan(paragraph: string): boolean {
  const pieces = splitSpans(paragraph);
  return pieces.length % 2 === 0;
}

function filterParagraph(paragraph: string): string {
  return splitSpans(paragraph)
    .map((piece, index) => (index % 2 === 1 ? piece : filterText(piece)))
    .join("");
}

const isTrue = (digits: string) =>
  String(Number(digits)) === digits && Number(digits) >= 1 && Number(digits) <= passages;

function filterText(text: string): string {
  return text.replace(/\[(\d{1,3})\](?!\()/g, (marker, digits: string) => (isTrue(digits) ? marker : ""));
}

describe("a filter of citations", () => {
  test("lets true markers stay, and takes those away that name no passage", () => {
    expect(filtered("It opens at nine [1][2], closes at six [13]. [0][012][12]")).toBe(
      "It opens at nine [1][2], closes at six . [12]",
    );
    expect(filter(["a [3] b [1] c [3] [99]"]).cited).toEqual([3, 1]);
  });

  test("leaves alone what is no marker", () => {
    const texts = ["[99](https://shop.example)", "[]", "[1234]", "[ 99 ]", "[a]", "[99", "[", "x[9]9](", "［99］"];
    for (const text of texts) expect(filtered(text)).toBe(text.replace("[9]", "[9]"));
  });

  test("takes all away where nothing is to be shown, and still knows what was cited", () => {
    expect(filter(["yes [1] and [99]"], "none")).toEqual({ out: "yes  and ", cited: [1] });
  });

  test.each([
    ["a span", "see `a[99]` and ``b`[99]`` [99]!", "see `a[99]` and ``b`[99]`` !"],
    ["a fence", "x\n```js\na[99]\n```\n[99]y", "x\n```js\na[99]\n```\ny"],
    ["a fence of tildes that shows one of backticks", "~~~\n```\n[99]\n~~~~\n[99]", "~~~\n```\n[99]\n~~~~\n"],
    ["a fence in a list", "- first\n\n  ```\n  [99]\n  ```\n\n  [99]", "- first\n\n  ```\n  [99]\n  ```\n\n  "],
    ["a span of three that begins a line", "```a[99]``` [99]", "```a[99]``` "],
    ["an escaped backtick, which begins nothing", "\\`[99]\\`", "\\`\\`"],
    ["a span without an end, up to its paragraph's", "5` [99]\n\n[99]", "5` [99]\n\n"],
  ])("knows %s", (_, text, expected) => {
    expect(filtered(text)).toBe(expected);
  });

  test("does not let a marker come together from what is left around another", () => {
    expect(filtered("[[99]88] and [[99][1]]")).toBe("[88 and [[1]]");
  });

  test("holds back at most five units, and nothing that can be no marker any more", () => {
    const filtering = new CitationFilter("footer", passages);
    for (const held of ["[", "[1", "[12", "[123", "[123]"]) {
      const one = new CitationFilter("footer", passages);
      expect([held, one.pass(`text ${held}`)]).toEqual([held, "text "]);
    }
    expect(filtering.pass("text [1x")).toBe("text [1x");
    expect(filtering.pass("[1234")).toBe("[1234");
  });

  test("gives the same text however it is split, and the one that the rule says", () => {
    const random = createRandom(20261123);
    const bits = [
      "[",
      "]",
      "1",
      "12",
      "99",
      "[3]",
      "[77]",
      "(",
      "`",
      "``",
      "```",
      "~~~",
      "\n",
      "\n\n",
      " ",
      "é",
      "𝄞",
      "- ",
      "a",
    ];
    for (let round = 0; round < 3_000; round++) {
      let text = "";
      for (let count = 1 + random.below(24); count > 0; count--) text += bits[random.below(bits.length)];
      const whole = filter([text]);
      const characters = [...text];
      expect(filter(characters)).toEqual(whole);
      const pieces: string[] = [];
      while (characters.length > 0) pieces.push(characters.splice(0, 1 + random.below(5)).join(""));
      expect(filter(pieces)).toEqual(whole);
      // Where markers stand within each other the rule alone would leave new ones.
      if (!/\[\d*\[/.test(text)) expect({ text, out: whole.out }).toEqual({ text, out: filterWhole(text) });
    }
  });
});

const passage = (n: number, more: Partial<NumberedPassage> = {}): NumberedPassage => ({
  ...{ n, sourceId: `source-${n}`, title: `Title ${n}`, url: `https://shop.example/${n}`, page: null, heading: null },
  ...{ text: "", edition: n, ordinal: 0 },
  ...more,
});

function reply(texts: readonly string[], mode: CitationMode, found: readonly NumberedPassage[], isComplete = true) {
  let text = "";
  const sink: ReplySink = {
    emit({ deltas }) {
      text += deltas.join("");
      return undefined;
    },
  };
  const cited = new CitedReply(sink, { mode, passages: found, sayNothingFound: () => "Nothing found." });
  for (const one of texts) cited.emit({ type: "text", deltas: [one] });
  cited.end(isComplete);
  return { text, sources: cited.listSources() };
}

describe("a cited reply", () => {
  test("ends with a line for each cited source, once for several passages of it", () => {
    const same = { sourceId: "same", title: "Opening hours", url: "https://shop.example/hours" };
    const found = [passage(1, same), passage(2), passage(3, { ...same, page: 2 }), passage(4, { url: null })];
    const { text, sources } = reply(["At nine [3][1", "], or not [4][9]."], "footer", found);
    expect(text).toBe("At nine [3][1], or not [4].\n\n[1] Opening hours: https://shop.example/hours\n[4] Title 4");
    expect(sources.map(({ n, page }) => [n, page])).toEqual([
      [1, null],
      [3, 2],
      [4, null],
    ]);
  });

  test("has no footer where nothing is cited, where it broke off, and where only markers are wanted", () => {
    const found = [passage(1)];
    expect(reply(["Hello [2]"], "footer", found)).toEqual({ text: "Hello ", sources: [] });
    expect(reply(["Hello [1]"], "footer", found, false).text).toBe("Hello [1]");
    expect(reply(["Hello [1]"], "markers", found).text).toBe("Hello [1]");
    expect(reply(["Hello [1]"], "none", found)).toMatchObject({ text: "Hello ", sources: [{ n: 1 }] });
  });

  test("says that nothing was found where nothing but markers was said, unless it broke off", () => {
    expect(reply(["[", "9][8]"], "footer", [passage(1)]).text).toBe("Nothing found.");
    expect(reply(["[1]"], "none", [passage(1)]).text).toBe("Nothing found.");
    expect(reply(["[9]"], "footer", [passage(1)], false).text).toBe("");
    expect(reply(["[1]"], "markers", [passage(1)]).text).toBe("[1]");
  });

  test("ends code that was left open where it stands, in lists and quotations too", () => {
    const codeOf = (text: string) => reply([text], "footer", [passage(1, { url: null })]).text.slice(text.length);
    expect(codeOf("[1]\n- ```\n  let x")).toBe("\n  ```\n\n[1] Title 1");
    expect(codeOf("1. [1]\n   ~~~~js\n   let x")).toBe("\n   ~~~~\n\n[1] Title 1");
    expect(codeOf("[1]\n> ```\n> let x")).toBe("\n> ```\n\n[1] Title 1");
  });

  test("shows titles and addresses as text, also below code that was left open", () => {
    const address = { title: "https://a.example, www.b.example", url: null };
    expect(reply(["[1]"], "footer", [passage(1, address)]).text).toEndWith("] https\\://a.example, www\\.b.example");
    const hostile = { title: "A *bold*\u202e\n[link](x) <b> & `code`", url: "https://shop.example/a b<c>\u202e" };
    const { text } = reply(["[1]\n```js\nlet x"], "footer", [passage(1, hostile)]);
    expect(text).toBe(
      "[1]\n```js\nlet x\n```\n\n[1] A \\*bold\\* \\[link\\](x) \\<b\\> \\& \\`code\\`: https://shop.example/a%20b%3Cc%3E%E2%80%AE",
    );
  });
});
