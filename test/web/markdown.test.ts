/** What the widget makes of markdown, in a real document: whole, and cut at every character as it streams. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, openPage } from "../support/browser.ts";
import { hostileTexts } from "../support/hostile-texts.ts";

setDefaultTimeout(30_000);

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ page } = await openPage(browser));
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/web/widget/markdown.ts")],
    target: "browser",
    format: "esm",
  });
  const module = `data:text/javascript;base64,${Buffer.from((await outputs[0]?.text()) ?? "").toString("base64")}`;
  await page.evaluate(`(async () => {
    const { createMarkdownView } = await import("${module}");
    window.render = (pieces, isOpen = false) => {
      const into = document.createElement("div");
      const view = createMarkdownView(into, () => document.createElement("button"));
      let text = "";
      for (const piece of pieces) view.update((text += piece), true);
      view.update(text, isOpen);
      into.normalize();
      return into.innerHTML;
    };
  })()`);
});
afterAll(() => browser.close());

const render = (pieces: string[], isOpen = false) =>
  page.evaluate<string>(`render(${JSON.stringify(pieces)}, ${isOpen})`);

const link = (href: string, text: string) =>
  `<a href="${href}" title="${href}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`;

const cases: [markdown: string, html: string][] = [
  ["plain", '<p class="p">plain</p>'],
  ["one\ntwo\n\nthree", '<p class="p">one<br>two</p><p class="p">three</p>'],
  [
    "**bold** *italic* ***both*** ~~gone~~",
    '<p class="p"><strong>bold</strong> <em>italic</em> <strong><em>both</em></strong> <s>gone</s></p>',
  ],
  ["**bold *and italic***", '<p class="p"><strong>bold <em>and italic</em></strong></p>'],
  ["*italic **and bold***", '<p class="p"><em>italic <strong>and bold</strong></em></p>'],
  ["2 * 3 * 4 and snake_case_name __init__", '<p class="p">2 * 3 * 4 and snake_case_name __init__</p>'],
  ["**never closed", '<p class="p">**never closed</p>'],
  ["\\*not\\* \\`code\\` \\a", '<p class="p">*not* `code` \\a</p>'],
  ["`code **as is**` ``a ` b``", '<p class="p"><code>code **as is**</code> ``a ` b``</p>'],
  ["# Title\n## Sub #\ntext", '<p class="heading">Title</p><p class="heading">Sub</p><p class="p">text</p>'],
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
  ["> quoted\n> **text**", '<blockquote><p class="p">quoted<br><strong>text</strong></p></blockquote>'],
  [
    "```js\nlet a = '<b>';\n\n  b\n```\nafter",
    '<div class="code"><span>js</span><button></button><pre tabindex="0" dir="ltr"><code>let a = \'&lt;b&gt;\';\n\n  b</code></pre></div><p class="p">after</p>',
  ],
  [
    "```\nnever closed",
    '<div class="code"><span></span><button></button><pre tabindex="0" dir="ltr"><code>never closed</code></pre></div>',
  ],
  [
    "- item\n  ```sh\n  ls\n  ```",
    '<ul><li><p class="p">item</p><div class="code"><span>sh</span><button></button><pre tabindex="0" dir="ltr"><code>ls</code></pre></div></li></ul>',
  ],
  [
    "| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| 2 |",
    '<div class="table" tabindex="0"><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x|y</td></tr><tr><td>2</td></tr></table></div>',
  ],
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
  ["<b>no</b> &amp; <script>", '<p class="p">&lt;b&gt;no&lt;/b&gt; &amp;amp; &lt;script&gt;</p>'],
  ["", ""],
];

test.each(cases)("%j", async (markdown, html) => {
  expect(await render([markdown])).toBe(html);
});

test("streamed by the character, everything ends as it would whole", async () => {
  for (const [markdown, html] of cases) expect(await render([...markdown])).toBe(html);
  const all = cases.map(([markdown]) => markdown.replace(/```\nnever closed|\*\*never closed/, "x")).join("\n\n");
  expect(await render([...all])).toBe(await render([all]));
});

test("a mark whose counterpart is still to come counts while the text streams", async () => {
  expect(await render(["some **bo"], true)).toBe('<p class="p">some <strong>bo</strong></p>');
  expect(await render(["some **bo"], false)).toBe('<p class="p">some **bo</p>');
});

test("blocks that are done keep their nodes while the next one grows", async () => {
  const kept = await page.evaluate(`(() => {
    const original = Node.prototype.replaceChild;
    let replaced = 0;
    Node.prototype.replaceChild = function (...all) { replaced++; return original.apply(this, all); };
    render([..."# Title\\n\\n- a\\n- b\\n\\n"].concat(Array.from({ length: 100 }, () => "word ")));
    Node.prototype.replaceChild = original;
    return replaced;
  })()`);
  // Each piece touches the last block alone.
  expect(kept).toBeLessThan(130);
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
