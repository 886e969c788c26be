/** Documents of every kind, good and bad, as their text or as the sentence that says why there is none. */
import { expect, test } from "bun:test";
import { ReadingFailure } from "../../../src/core/knowledge/reading/failure.ts";
import type { DocumentKind } from "../../../src/core/knowledge/reading/kind.ts";
import { loadParser } from "../../../src/core/knowledge/reading/parse.ts";
import { docxParagraph, docxTable, makeDocx, makePdf, makeZip } from "../../support/documents.ts";

/** The Markdown of a document without pages; otherwise that of each page after its number. */
async function read(kind: DocumentKind, content: string | Uint8Array, charset: string | null = null): Promise<string> {
  const { pages } = await (await loadParser(kind))(Buffer.from(content as string), charset);
  return pages.map(({ number, markdown }) => (number === null ? markdown : `[${number}] ${markdown}`)).join("\n");
}

async function titleOf(kind: DocumentKind, content: string | Uint8Array): Promise<string | null> {
  return (await (await loadParser(kind))(Buffer.from(content as string), null)).title;
}

async function whyNot(kind: DocumentKind, content: string | Uint8Array): Promise<string> {
  const error = await read(kind, content).catch((reason: unknown) => reason);
  if (error instanceof ReadingFailure) return error.reason;
  throw new Error(`it was read: ${error}`);
}

const page = (body: string, head = "") => `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;

/** Bytes of `テスト返品` and the like, which Bun has no encoder for. */
const shiftJis = Buffer.from("83658358836795d4956982cd8e4f8f5c93fa88c893e08142", "hex");

test("a PDF is read page by page: headings, paragraphs over lines, parted words, and rows of tables", async () => {
  const filler = "The shop opens at eight on every working day of the year, and it ";
  const pdf = makePdf(
    [
      [
        ["Price list", 20],
        [`${filler}closes`, 10],
        [`${filler}is mainte-`, 10],
        ["nance that takes its time.", 10],
      ],
      [
        ["Item\tPrice", 10],
        ["Bolt XK-4711/B\t0.20", 10],
      ],
    ],
    { title: "Prices 2026" },
  );
  expect(await read("pdf", pdf)).toBe(
    `[1] # Price list\n\n${filler}closes ${filler}is maintenance that takes its time.\n` +
      "[2] | Item | Price |\n| Bolt XK-4711/B | 0.20 |",
  );
  expect(await titleOf("pdf", pdf)).toBe("Prices 2026");
});

test("pages that are pictures are passed over where others have text, and keep their numbers", async () => {
  expect(await read("pdf", makePdf([null, [["Second page", 10]], null]))).toBe("[2] Second page");
});

test("PDFs without text, with a password, broken or of another kind fail with their reasons", async () => {
  expect(await whyNot("pdf", makePdf([null, null]))).toBe("scanned");
  expect(await whyNot("pdf", makePdf([[["Secret", 10]]], { isLocked: true }))).toBe("password");
  expect(await whyNot("pdf", makePdf([[["Characters", 10]]], { lacksFont: true }))).toBe("fonts");
  expect(await whyNot("pdf", "%PDF-1.7\n1 0 obj\n<< /Type")).toBe("broken");
  expect(await whyNot("pdf", "just words")).toBe("format");
});

test("a Word document keeps headings and tables, and brings its title", async () => {
  const docx = makeDocx(
    docxParagraph("House rules", "T") +
      docxParagraph("Hours", "H1") +
      docxParagraph("Open till five &amp; later.") +
      docxTable([
        ["Day", "Closes"],
        ["Monday", "17 | 18"],
      ]),
  );
  const table = "| Day | Closes |\n| --- | --- |\n| Monday | 17 \\| 18 |";
  expect(await read("docx", docx)).toBe(`# House rules\n\n# Hours\n\nOpen till five & later.\n\n${table}`);
  expect(await titleOf("docx", docx)).toBe("Rules & hours");
});

test("Word documents that are cut, empty, locked, of another kind or without their content fail with their reasons", async () => {
  const docx = makeDocx(docxParagraph("Words"));
  expect(await whyNot("docx", docx.subarray(0, docx.length / 2))).toBe("broken");
  expect(await whyNot("docx", makeDocx(""))).toBe("empty");
  expect(await whyNot("docx", Buffer.from("d0cf11e0a1b11ae1", "hex"))).toBe("password");
  expect(await whyNot("docx", "words")).toBe("format");
  expect(await whyNot("docx", makeZip({ "word/other.xml": "<x/>" }))).toBe("broken");
  expect(await whyNot("docx", makeDocx("<w:p><w:r>"))).toBe("broken");
});

test("a Word document that unpacks to more than it may is refused, whether it tells its size or lies", async () => {
  const huge = docxParagraph(" ".repeat(80 * 1024 * 1024));
  expect(await whyNot("docx", makeDocx(huge))).toBe("bomb");
  expect(await whyNot("docx", makeDocx(huge, 1000))).toBe("bomb");
});

test("a web page keeps its structure and loses scripts, navigation and what is hidden", async () => {
  const html = page(
    `<nav>Home</nav><h1>Bike <em>repair</em></h1><p>We repair<br>every <a href="/b">bike</a>.&nbsp;Soon.</p>
    <p hidden>never</p><div style="color:red; display : none">unseen</div><script>code()</script>
    <ul><li>One<ul><li>Inner</li></ul></li><li>Two</li></ul><ol><li>First</li></ol>
    <table><tr><th>Day</th><th>From</th></tr><tr><td rowspan=2>Mon</td><td>8</td></tr><tr><td>14</td></tr></table>
    <img alt="A red bike" src="data:image/png;base64,AAAA"><pre>a  b\n  c</pre><blockquote>Said</blockquote>
    <noscript>Turn it on</noscript>`,
    '<title> Repair &amp; more </title><meta property="og:title" content="Other">',
  );
  expect(await read("html", html)).toBe(
    [
      "# Bike repair",
      "We repair\nevery bike. Soon.",
      "- One\n  - Inner\n- Two",
      "1. First",
      "| Day | From |\n| --- | --- |\n| Mon | 8 |\n| Mon | 14 |",
      "A red bike",
      "```\na  b\n  c\n```",
      "> Said",
    ].join("\n\n"),
  );
  expect(await titleOf("html", html)).toBe("Repair & more");
  expect(await titleOf("html", page("<h1>Only this</h1>"))).toBe("Only this");
});

test("the main content is read without what surrounds it, where the page marks it", async () => {
  const words = "Returns are taken for thirty days after the purchase. ".repeat(8);
  // The tags of the frame may be left out.
  for (const frame of [
    "<!doctype html><html><head><title>T</title></head><h1>Hours</h1><p>Till five.</p></html>",
    "<html lang=en><title>T</title><h1>Hours</h1>Till five.",
    "<html><head><title>T</title><h1>Hours</h1><p>Till five.</html>",
    "<title>T</title><body class=a><h1>Hours</h1><p>Till five.</p></body>",
    "<!-- saved --><html><title>T</title><body><h1>Hours</h1></body></html><p>Till five.</p>",
  ]) {
    expect([frame, await read("html", frame), await titleOf("html", frame)]).toEqual([
      ...[frame, "# Hours\n\nTill five.", "T"],
    ]);
  }
  const html = page(`<header>Shop</header><main><h1>Returns</h1><p>${words}</p></main><footer>Imprint</footer>`);
  expect(await read("html", html)).toBe(`# Returns\n\n${words.trim()}`);
});

test("pages that show nothing without JavaScript say so; pages with both are read", async () => {
  const app = '<div id="root"></div><script src="/app.js"></script>';
  expect(await whyNot("html", page(app))).toBe("script");
  expect(await whyNot("html", page(`<p>You need to enable JavaScript to run this app.</p>${app}`))).toBe("script");
  expect(await whyNot("html", page(`<p>Loading…</p>${app}`))).toBe("script");
  expect(await whyNot("html", page("<p> </p>"))).toBe("empty");
  expect(await read("html", page(`<p>Open till five.</p>${app}`))).toBe("Open till five.");
});

test("a page nested a hundred thousand deep and a line of megabytes are read", async () => {
  const deep = "<div>".repeat(100_000);
  expect(await read("html", `<p>Above</p>${deep}Deep words${"</div>".repeat(100_000)}`)).toBe("Above\n\nDeep words");
  const spaces = " ".repeat(2_000_000);
  expect(await read("html", `<p>a${spaces}b</p>`)).toBe("a b");
  expect(await read("text", `a${spaces}b`)).toHaveLength(2_000_002);
});

test("entities that would grow are not expanded", async () => {
  const bomb = `<!DOCTYPE w:document [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>`;
  const text = await read("html", `${bomb}<html><body><p>&b; Words</p></body></html>`);
  expect(text).toContain("Words");
  expect(text.length).toBeLessThan(120);
});

test("text is read in the encoding that it has, declared or not", async () => {
  const german = Buffer.from("Größe: für Straßen", "latin1");
  expect(await read("html", Buffer.concat([Buffer.from("<meta charset=iso-8859-1><p>"), german]))).toBe(
    "Größe: für Straßen",
  );
  expect(await read("text", german)).toBe("Größe: für Straßen");
  expect(await read("text", german, "utf-8")).toBe("Größe: für Straßen");
  expect(await read("text", shiftJis)).toBe("テスト返品は三十日以内。");
  expect(await read("text", shiftJis, "shift_jis")).toBe("テスト返品は三十日以内。");
  const http = '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>';
  expect(await read("html", Buffer.concat([Buffer.from(http), shiftJis]))).toBe("テスト返品は三十日以内。");
  // EUC-KR, GBK and windows-1251: "환불 안내", "退货说明" and "Возврат товара".
  expect(await read("text", Buffer.from("c8afbad220bec8b3bb", "hex"))).toBe("환불 안내");
  expect(await read("text", Buffer.from("cdcbbbf5cbb5c3f7", "hex"))).toBe("退货说明");
  expect(await read("text", Buffer.from("c2eee7e2f0e0f220f2eee2e0f0e0", "hex"))).toBe("Возврат товара");
});

test("UTF-16 is read with its mark and without one, and marks, NULs and halves of characters go", async () => {
  const wide = Buffer.from("Größe 42\r\nRot", "utf16le");
  expect(await read("text", Buffer.concat([Buffer.from([0xff, 0xfe]), wide]))).toBe("Größe 42\nRot");
  expect(await read("text", wide)).toBe("Größe 42\nRot");
  expect(await read("text", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(wide).swap16()]))).toBe(
    "Größe 42\nRot",
  );
  expect(await read("text", "\ufeffA\0B\u0007C")).toBe("ABC");
  expect(await read("html", "<p>a&#xD83D;b&#0;c&#xFEFF;</p>")).toMatch(/^a\ufffd?b\ufffd?c$/);
});

test("one wrong byte leaves the rest of a text as it is", async () => {
  const broken = Buffer.concat([
    Buffer.from("Größe und Länge, Öl, Käse, Übung, süß, Maß, groß, ".repeat(2)),
    Buffer.from([0xff]),
  ]);
  expect(await read("text", broken)).toStartWith("Größe und Länge");
});

test("Markdown stays as it is, and its title is the front matter's or the first heading", async () => {
  expect(await read("markdown", "---\ntitle: 'Hours'\n---\n# Open\n\n- till five\n")).toBe("# Open\n\n- till five");
  expect(await titleOf("markdown", "---\ntitle: 'Hours'\n---\n# Open\n")).toBe("Hours");
  expect(await titleOf("markdown", "# Open #\n")).toBe("Open");
});

test.each([
  ["commas and quotes", 'Name,Note\r\n"Bolt, M8","say ""hi""\nthere"\r\n', '| Bolt, M8 | say "hi" there |'],
  ["semicolons", "Name;Note\nBolt;0,20\n", "| Bolt | 0,20 |"],
  ["tabs", "Name\tNote\nBolt\ta, b\n", "| Bolt | a, b |"],
  ["a told separator", "sep=|\nName|Note\nBolt|x;y\n", "| Bolt | x;y |"],
  ["a told separator that means something in a pattern", "sep=^\nName^Note\nBolt^x;y\n", "| Bolt | x;y |"],
  ["short rows, empty rows and a bar", "Name,Note\n,\nBolt\nNut,a|b", "| Bolt |  |\n| Nut | a\\|b |"],
  ["a quote that nothing closes", 'Name,Note\nBolt,"open', "| Bolt | open |"],
])("a table with %s becomes a pipe table", async (_, csv, rows) => {
  expect(await read("csv", csv)).toBe(`| Name | Note |\n| --- | --- |\n${rows}`);
});

test("a document without a word in it is never read", async () => {
  for (const kind of ["text", "markdown", "csv", "html"] as const) {
    expect({ kind, why: await whyNot(kind, " \n\t\u200b ") }).toEqual({ kind, why: "empty" });
    expect({ kind, why: await whyNot(kind, "") }).toEqual({ kind, why: "empty" });
  }
});
