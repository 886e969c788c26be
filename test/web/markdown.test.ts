/** What the widget makes of markdown, in a real document: whole, and cut at every character as it streams. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostileTexts } from "../support/hostile-texts.ts";
import { type MarkdownPage, openMarkdownPage } from "../support/markdown-page.ts";
import { createRandom } from "../support/random.ts";

let markdown: MarkdownPage;

beforeAll(async () => {
  markdown = await openMarkdownPage();
});
afterAll(() => markdown.close());

const render: MarkdownPage["render"] = (pieces, isOpen) => markdown.render(pieces, isOpen);

const link = (href: string, text: string) =>
  `<a href="${href}" title="${href}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`;

const code = (language: string, text: string) =>
  `<div class="code" aria-live="off"><span>${language}</span><pre tabindex="0" dir="ltr" role="group" aria-label="Code block"><code>${text}</code></pre></div>`;
const table = (rows: string) =>
  `<div class="table" aria-live="off"><div class="scroll" tabindex="0" role="group" aria-label="Table"><table>${rows}</table></div></div>`;

const cases: [source: string, html: string][] = [
  ["plain", '<p class="p">plain</p>'],
  ["one\ntwo\n\nthree", '<p class="p">one<br>two</p><p class="p">three</p>'],
  [
    "**bold** *italic* ***both*** ~~gone~~",
    '<p class="p"><strong>bold</strong> <em>italic</em> <strong><em>both</em></strong> <s>gone</s></p>',
  ],
  ["**bold *and italic***", '<p class="p"><strong>bold <em>and italic</em></strong></p>'],
  ["*italic **and bold***", '<p class="p"><em>italic <strong>and bold</strong></em></p>'],
  ["2 * 3 * 4 and snake_case_name", '<p class="p">2 * 3 * 4 and snake_case_name</p>'],
  [
    "_i_ __b__ ___both___ (_in_) _a b_, _a_b no_c_d __a_b__",
    '<p class="p"><em>i</em> <strong>b</strong> <strong><em>both</em></strong> (<em>in</em>) <em>a b</em>, _a_b no_c_d <strong>a_b</strong></p>',
  ],
  ["Name: ________ and ****", '<p class="p">Name: ________ and ****</p>'],
  ["*args and **kwargs", '<p class="p">*args and **kwargs</p>'],
  ["**bold *with a star** after", '<p class="p"><strong>bold *with a star</strong> after</p>'],
  ["one<br>two<BR/>\nthree<br />four <brr>", '<p class="p">one<br>two<br>three<br>four &lt;brr&gt;</p>'],
  [
    "&lt;b&gt; &amp;lt; &#39;&#x1F600;&quot; a&nbsp;b &copy; &nope; & &#0; &#xD800; &#x110000; &constructor;",
    '<p class="p">&lt;b&gt; &amp;lt; \'😀" a&nbsp;b © &amp;nope; &amp; \uFFFD \uFFFD \uFFFD &amp;constructor;</p>',
  ],
  ["&#42;no&#42; &#96;no&#96; &#91;x](y) &#60;br>", '<p class="p">*no* `no` [x](y) &lt;br&gt;</p>'],
  ["**never closed", '<p class="p">**never closed</p>'],
  ["\\*not\\* \\`code\\` \\a", '<p class="p">*not* `code` \\a</p>'],
  ["`code **as is**` ``a ` b``", '<p class="p"><code>code **as is**</code> ``a ` b``</p>'],
  [
    "# Title\n## Sub #\n### About C#\n#none\ntext",
    '<p class="heading level-1">Title</p><p class="heading level-2">Sub</p><p class="heading level-3">About C#</p><p class="p">#none<br>text</p>',
  ],
  ["a\n\n---\n\nb", '<p class="p">a</p><hr><p class="p">b</p>'],
  ["- one\n- two", '<ul><li><p class="p">one</p></li><li><p class="p">two</p></li></ul>'],
  ["3. three\n4. four", '<ol start="3"><li><p class="p">three</p></li><li><p class="p">four</p></li></ol>'],
  [
    "1. one\n   - nested\n     more\n2. two",
    '<ol start="1"><li><p class="p">one</p><ul><li><p class="p">nested<br>more</p></li></ul></li><li><p class="p">two</p></li></ol>',
  ],
  [
    "- one\n\n  second paragraph\n\n- two\n\nafter",
    '<ul><li><p class="p">one</p><p class="p">second paragraph</p></li><li><p class="p">two</p></li></ul><p class="p">after</p>',
  ],
  [
    "- [ ] to do\n- [x] done\n- [X] *too*\n- [y] none\n- [x](https://example.com/)",
    `<ul><li class="task"><p class="p">☐ to do</p></li><li class="task"><p class="p">☑ done</p></li><li class="task"><p class="p">☑ <em>too</em></p></li><li><p class="p">[y] none</p></li><li><p class="p">${link("https://example.com/", "x")}</p></li></ul>`,
  ],
  [
    "1. one\n  - by two\n\t- by a tab\n2. two\n- other",
    '<ol start="1"><li><p class="p">one</p><ul><li><p class="p">by two</p><ul><li><p class="p">by a tab</p></li></ul></li></ul></li><li><p class="p">two</p></li></ol><ul><li><p class="p">other</p></li></ul>',
  ],
  ["- one\n\n\n- two\n***\n- - -", '<ul><li><p class="p">one</p></li><li><p class="p">two</p></li></ul><hr><hr>'],
  [
    "> - quoted\n>   > twice\nlazy\n\nafter",
    '<blockquote><ul><li><p class="p">quoted</p><blockquote><p class="p">twice<br>lazy</p></blockquote></li></ul></blockquote><p class="p">after</p>',
  ],
  ["> quoted\n> **text**", '<blockquote><p class="p">quoted<br><strong>text</strong></p></blockquote>'],
  ["```js\nlet a = '<b>';\n\n  b\n```\nafter", `${code("js", "let a = '&lt;b&gt;';\n\n  b")}<p class="p">after</p>`],
  ["```\nnever closed", code("", "never closed")],
  ["````md\n```js\n~~~\n````\nafter", `${code("md", "```js\n~~~")}<p class="p">after</p>`],
  ["- item\n  ```sh\n  ls\n  ```", `<ul><li><p class="p">item</p>${code("sh", "ls")}</li></ul>`],
  [
    "1. item\n   ```\n   a\n\n     b\nc\n```\n2. next",
    `<ol start="1"><li><p class="p">item</p>${code("", "a\n\n  b\nc")}</li><li><p class="p">next</p></li></ol>`,
  ],
  ["> ```\n> a\nb", `<blockquote>${code("", "a")}</blockquote><p class="p">b</p>`],
  [
    "| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| 2 |",
    table(
      '<tr><th>a</th><th align="center">b</th></tr><tr><td>1</td><td align="center">x|y</td></tr><tr><td>2</td></tr>',
    ),
  ],
  [
    '[t](<https://example.com/a> "t") [a\\_b](https://example.com/?a\\_b&amp;c)',
    `<p class="p">${link("https://example.com/a", "t")} ${link("https://example.com/?a_b&amp;c", "a_b")}</p>`,
  ],
  [
    "_https://example.com/a_(b)_ 看https://example.com/c。好",
    `<p class="p"><em>${link("https://example.com/a_(b)", "https://example.com/a_(b)")}</em> 看${link("https://example.com/c", "https://example.com/c")}。好</p>`,
  ],
  [
    "before\na | b | c | d\n:-- | --: | :-: | ---\n1<br>2 | `3` | **4** | &amp; | 6\nafter",
    `<p class="p">before</p>${table(
      '<tr><th align="left">a</th><th align="right">b</th><th align="center">c</th><th>d</th></tr><tr><td align="left">1<br>2</td><td align="right"><code>3</code></td><td align="center"><strong>4</strong></td><td>&amp;</td></tr>',
    )}<p class="p">after</p>`,
  ],
  ["a | b\n---", '<p class="p">a | b</p><hr>'],
  ["a | b is no table", '<p class="p">a | b is no table</p>'],
  ['[text](https://example.com/a_(b) "t")', `<p class="p">${link("https://example.com/a_(b)", "text")}</p>`],
  [
    "[**bold**](mailto:a@example.com) [call](tel:+431)",
    `<p class="p">${link("mailto:a@example.com", "<strong>bold</strong>")} ${link("tel:+431", "call")}</p>`,
  ],
  [
    "See https://example.com/x?y=1, then",
    `<p class="p">See ${link("https://example.com/x?y=1", "https://example.com/x?y=1")}, then</p>`,
  ],
  ["![alt](https://example.com/i.png)", `<p class="p">${link("https://example.com/i.png", "alt")}</p>`],
  ["[x](javascript:alert(1))", '<p class="p"><span>x</span></p>'],
  ["[x](javascript&colon;alert(1)) [y](java&#115;cript:alert(1))", '<p class="p"><span>x</span> <span>y</span></p>'],
  ["<b>no</b> &amp; <script>", '<p class="p">&lt;b&gt;no&lt;/b&gt; &amp; &lt;script&gt;</p>'],
  ["", ""],
];

test.each(cases)("%j", async (source, html) => {
  expect(await render([source])).toBe(html);
});

test("streamed by the character, everything ends as it would whole", async () => {
  for (const [source, html] of cases) expect(await render([...source])).toBe(html);
  const all = cases.map(([source]) => source.replace(/```\nnever closed|\*\*never closed/, "x")).join("\n\n");
  expect(await render([...all])).toBe(await render([all]));
});

test("however a text is cut, it ends as it would whole", async () => {
  const marks = [
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "[",
    "](",
    "](https://example.com)",
    ")",
    "!",
    "\\",
    "<br>",
    "&amp;",
    "<",
  ];
  const lines = [
    "\n",
    "\n\n",
    "```\n",
    "| a | b |\n",
    "|---|:-:|\n",
    "- ",
    "  - ",
    "1. ",
    "   ",
    "> ",
    "# ",
    "---\n",
    "- [ ] ",
    "\t",
  ];
  // Beyond the bounds of what belongs together, too.
  const words = ["a", "word ", " ", "|", "x".repeat(300), "lorem ipsum ".repeat(100)];
  const random = createRandom(8);
  for (let round = 0; round < 300; round++) {
    const makePart = () => {
      const parts = random.pick([marks, lines, words]);
      return parts[random.below(parts.length)];
    };
    const text = Array.from({ length: 5 + random.below(50) }, makePart).join("");
    const size = 1 + random.below(150);
    const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    expect([text, await render(pieces)]).toEqual([text, await render([text])]);
  }
});

test("an opening mark counts while its closing mark has yet to stream in", async () => {
  expect(await render(["some **bo"], true)).toBe('<p class="p">some <strong>bo</strong></p>');
  expect(await render(["some **bo"], false)).toBe('<p class="p">some **bo</p>');
});

test("no half of a mark is ever drawn while a reply streams in", async () => {
  const text = [
    "# Title\n\n**bold** and *it*, ~~gone~~, `code`, [a link](https://example.com/a_b) and [1][2].\n\n",
    "| Country | Days |\n|---|---:|\n| **Germany** | 2 |\n\n",
    "> quoted __text__\n\n- [x] done\n- item &amp; more<br>end\n\n---\n\n## Next\n\nlast\n\n[1] A source: https://example.com/\n[2] Another\n",
  ].join("");
  const drawn = await markdown.page.evaluate(
    `(() => {
      const [into, view] = open();
      const found = new Set();
      for (const at of Array.from(${JSON.stringify(text)}, (_, index) => index + 1)) {
        view.update(${JSON.stringify(text)}.slice(0, at), true);
        const clone = into.cloneNode(true);
        for (const marker of clone.querySelectorAll(".mark")) marker.remove();
        for (const [mark] of clone.textContent.matchAll(/[*_~\x60#|\\[]()&<\\\\-]|source|https/g)) found.add(mark + ": " + clone.textContent);
      }
      return [...found];
    })()`,
  );
  expect(drawn).toEqual([]);
});

test("what is there keeps its nodes while more streams in, in one long list as well", async () => {
  const lost = await markdown.page.evaluate(`(() => {
    const [into, view] = open();
    let text = "# Title\\n\\n";
    let known = [];
    let lost = 0;
    for (let item = 0; item < 50; item++) {
      for (const piece of ["- item ", "with **some** ", "words\\n"]) view.update((text += piece), true);
      lost += known.filter((node) => !into.contains(node)).length;
      // All but what is in the last item.
      known = [...into.querySelectorAll(".heading, ul, li:not(:last-child) *")];
    }
    return [lost, known.length];
  })()`);
  expect(lost).toEqual([0, 2 + 49 * 2]);
});

test("no text is too hostile to be drawn", async () => {
  const endless = [
    "*",
    "**a ",
    "*a",
    "`",
    "`` ` ",
    "[",
    "[a](",
    "[a](b(",
    "![",
    "> ",
    "- ",
    "| ",
    "#",
    "~~",
    "\\",
    "https://",
    "1. ",
    "```\n",
    "*a **b ",
    "  - ",
  ];
  for (const piece of endless) {
    const html = await render([piece.repeat(16_000 / piece.length)]);
    expect(html.length).toBeGreaterThan(0);
  }
  for (const text of hostileTexts) expect(typeof (await render([...text]))).toBe("string");
});
