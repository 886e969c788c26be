/** What screen readers are told of a reply: its words by the sentence, without marks; code and tables by name only. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MarkdownPage, openMarkdownPage } from "../support/markdown-page.ts";

let markdown: MarkdownPage;

beforeAll(async () => {
  markdown = await openMarkdownPage();
});
afterAll(() => markdown.close());

const cases: [source: string, words: string][] = [
  ["# Title\n\nSome **bold** and _slanted_ words, `code`, ~~gone~~.", "Title Some bold and slanted words, code, gone."],
  ["Before.\n\n---\n\n***\nAfter.", "Before. After."],
  ["So:\n\n```js\nlet a = 1; // Not. This.\n---\n```\n\nAnd on.", "So: Code block And on."],
  ["- one\n  ```\n  ls\n  ```\n- two", "one Code block two"],
  ["> ```\n> a\n> ```\n> said", "Code block said"],
  ["See:\n\n| a. b | c |\n|:--|--:|\n| 1 | 2. 3 |\n\nDone.", "See: Table Done."],
  ["a | b\n--|--\n1 | 2\n\nDone.", "a | b Table Done."],
  [
    "1. First. Then\n2. *Second*\n   - [x] done\n   - [ ] to do\n> > said",
    "1. First. Then 2. Second ☑ done ☐ to do said",
  ],
  ["**One. Two.** Three __four. five__ six", "One. Two. Three four. five six"],
  ["[our _shop_](https://example.com/a_b) ![cat](x.png) &amp; &lt;b&gt;<br>next", "our shop cat & <b> next"],
  ["snake_case and 2 * 3 stay", "snake_case and 2 * 3 stay"],
  ["第一句。第二句！", "第一句。 第二句！"],
];

test.each(cases)("%j is read as %j, whole and by the character", async (source, words) => {
  const heard = async (pieces: string[]) => (await markdown.speak(pieces)).filter(Boolean).join(" ");
  expect(await heard([source])).toBe(words);
  expect(await heard([...source])).toBe(words);
});

test("a sentence is read out when it ends, and only once", async () => {
  expect(await markdown.speak(["The fi", "rst **sen", "tence.** A", "nd on", "!"])).toEqual([
    "",
    "",
    "The first sentence.",
    "",
    "",
    "And on!",
  ]);
});

test("twice the reply takes twice the steps to read, whole and as it streams", async () => {
  for (const piece of [
    "word ",
    "a. ",
    "**a. ",
    "|",
    "| a |\n",
    "```\n",
    "- ",
    "> ",
    "1. ",
    ".",
    ".*",
    "*a",
    "`",
    "[a](",
    "\n",
  ]) {
    const measure = async (length: number, delta: number) => {
      const text = piece.repeat(length / piece.length);
      const cut = Array.from({ length: length / delta }, (_, index) => text.slice(index * delta, (index + 1) * delta));
      const work = await markdown.measureSpeech(cut);
      return work.reduce((sum, { characters, nodes }) => sum + characters + nodes, 0);
    };
    for (const delta of [10, Number.MAX_SAFE_INTEGER]) {
      const [half, whole] = [
        await measure(8_000, Math.min(delta, 8_000)),
        await measure(16_000, Math.min(delta, 16_000)),
      ];
      expect([piece, whole < 2.3 * half]).toEqual([piece, true]);
    }
  }
});
