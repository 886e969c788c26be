/** What drawing Markdown takes: twice the text takes twice the work, whatever the text is, whole and as it streams. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { isFull } from "../support/full.ts";
import { type MarkdownPage, openMarkdownPage } from "../support/markdown-page.ts";

let markdown: MarkdownPage;

beforeAll(async () => {
  markdown = await openMarkdownPage();
});
afterAll(() => markdown.close());

/** Each makes a text of so many characters, about. */
const families: Record<string, (length: number) => string> = {};
const pieces = [
  ["[", "![", "[a](", "[a](b", "[a](b(", '[a](b "', "[a](<b", "[a](b(c)", "[[a](b)", "]", "](", "[a]( ", "[a\\"],
  ["*", "**a ", "*a", "*a ", "**a** ", "*a **b ", "a*b", "a**b*", "***a", "*a _b __c ~~d ", "~~", "~~a ", "~"],
  ["_a ", "__a ", "_a_ ", "_", "`", "`a", "``a", "`` ` ", "`a` ", "<br", "<br>", "<br ", "<", "&", "&amp;", "&#"],
  ["&#1;", "&a", "\\", "\\*", "https://", "https://a.", "https://a(", "http", "h", " ", "\t", "\u2028", "\\|"],
  ["|", "| a ", "|-", "-|", ":-:|", "#", "# ", "> ", ">", "- ", "* ", "-", "---", "1. ", "1", "- [ ] ", "+ > "],
  ["```", "~~~", "``` ", "```\n", "~~~\n```\n", "- ```\n", "> ```\na\n", "`a\n", "[a\n", "**a\n\n", "\n", " \n"],
  ["- a\n", "  - a\n", "1. a\n\n", "> a\n", ">\n", "# a\n", "---\n", "a\n", "\r\n", "| a |\n|---|\n", "|\n", "a|b\n"],
  ["a | b\n---|---\nc\n"],
].flat();
for (const piece of pieces) {
  const repeat = (length: number) => piece.repeat(length / piece.length);
  families[`${JSON.stringify(piece)} repeated`] = repeat;
  families[`${JSON.stringify(piece)} repeated, then words`] = (length) =>
    `${repeat(length / 2)} ${"word ".repeat(length / 10)}`;
}
const starts = ["# ", "## x", "```", "~~~ ", "> ", "- ", "1. ", "- [ ] ", "| a |\n|---|\n| ", "a | "];
starts.push("[", "[a](", '[a](b "', "**", "*", "_", "`", "&", "https://");
const bodies = { spaces: " ", letters: "x", words: "word ", bars: "|", hashes: "#", dashes: "-", lines: "line\n" };
for (const start of starts) {
  for (const [name, body] of Object.entries(bodies)) {
    families[`${JSON.stringify(start)}, then ${name}`] = (length) =>
      `${start}${body.repeat(length / body.length)}x\u2028y`;
  }
}
families["lists within lists"] = (length) =>
  Array.from({ length: length / 20 }, (_, index) => `${" ".repeat((index % 12) * 2)}- item`).join("\n");
families["quotes within quotes"] = (length) =>
  Array.from({ length: length / 20 }, (_, index) => `${"> ".repeat(index % 12)}said`).join("\n");

/** In the gate every fifth: neighbours are of one kind, and both ways to make a text are among them. */
const examined = Object.entries(families).filter((_, index) => isFull || index % 5 === 0);

const count = async (...pieces: string[]) =>
  (await markdown.measure(pieces)).map(({ characters, nodes }) => characters + nodes);

test("everything that is read is counted", async () => {
  const text = "words **and** [more](https://example.com)\n\n- so\n\n| is |\n|---|\n| a |\n\n```\ncode\n```\n".repeat(
    20,
  );
  const [{ characters, nodes } = { characters: 0, nodes: 0 }] = await markdown.measure([text]);
  expect(characters).toBeGreaterThan(text.length);
  expect(nodes).toBeGreaterThan(20 * 15);
});

test("twice the text takes twice the steps, and few for each character", async () => {
  for (const [name, make] of examined) {
    const [[half = 0], [whole = 0]] = [await count(make(8_000)), await count(make(16_000))];
    expect([name, whole < 2.3 * half, whole / 16_000 < 80]).toEqual([name, true, true]);
  }
});

test("more text while a reply streams costs nothing for the text already there, nor does the end", async () => {
  for (const [name, make] of examined) {
    const [delta] = make(1_000).match(/.{1,20}$/s) ?? [""];
    const [[, atHalf = 0, endAtHalf = 0], [, atWhole = 0, endAtWhole = 0]] = [
      await count(make(8_000), delta),
      await count(make(16_000), delta),
    ];
    const bound = (steps: number) => 1.3 * steps + 20_000;
    expect([name, atWhole < bound(atHalf), endAtWhole < bound(endAtHalf)]).toEqual([name, true, true]);
  }
});
