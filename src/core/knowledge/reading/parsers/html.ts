/** Web pages: their main content, without navigation, scripts and what is hidden. */
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import type { ParsedDocument } from "../../../../domain/knowledge.ts";
import { decodeText } from "../characters.ts";
import { ReadingFailure } from "../failure.ts";
import { cleanText, cleanTitle, hasWords } from "../plain-text.ts";
import { type MarkupNode, writeMarkdown } from "./markup.ts";

/** Beyond these, finding the main content takes too long or too much of the stack. */
const maxElements = 20_000;
const maxDepth = 200;

const noise =
  "script, style, noscript, template, iframe, nav, dialog, [hidden]:not([hidden=until-found]), [role=navigation], " +
  "[role=search], [role=dialog], [role=alertdialog]";
const waiting =
  /^\W*(?:loading|please wait|laden|wird geladen|chargement|cargando|caricamento|読み込み中|加载中)\W*$/iu;

type Page = ReturnType<typeof parseHTML>["document"];

interface TreeNode {
  readonly firstChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
  readonly parentNode: TreeNode | null;
}

export function readHtml(bytes: Uint8Array, charset: string | null): ParsedDocument {
  const html = decodeText(bytes, [charset, ...findDeclared(bytes)]).replaceAll("\0", "");
  const page = parsePage(html);
  const title = findTitle(page);
  const hasScript = page.querySelector("script") !== null;
  for (const element of page.querySelectorAll(noise)) element.remove();
  for (const element of page.querySelectorAll("[style]")) if (isInvisible(element)) element.remove();
  const markdown = cleanText(findMain(page));
  if (hasScript && isShell(markdown)) throw new ReadingFailure("script");
  return { title, pages: [{ number: null, markdown }] };
}

/** What converters of other formats make. */
export function markdownOfHtml(html: string): string {
  return cleanText(writeMarkdown(parsePage(html).body as unknown as MarkupNode));
}

/** With one head and one body, even where their tags are left out or stand twice: the parser builds what is written. */
function parsePage(html: string): Page {
  const written = /<html[\s>]/i.test(html) ? parseHTML(html).document : null;
  // What begins with text or some other element becomes the body of a page.
  const isRooted = written?.documentElement?.localName === "html" && written.children.length === 1;
  const page = isRooted ? written : parseHTML(`<!doctype html><html><body>${html}</body></html>`).document;
  const [head, body] = [page.createElement("head"), page.createElement("body")];
  for (const node of listContent(page.documentElement)) (inHead.has(node.localName ?? "") ? head : body).append(node);
  page.documentElement.replaceChildren(head, body);
  return page;
}

const frames: ReadonlySet<string> = new Set(["html", "head", "body"]);
const inHead: ReadonlySet<string> = new Set(["title", "meta", "link", "base"]);

function listContent(parent: Page["documentElement"]): Page["documentElement"][] {
  // Not by recursion, however deep the page nests its frame; in order, by a stack.
  const found: Page["documentElement"][] = [];
  const open = [...parent.childNodes].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (frames.has(node.localName ?? "")) for (const child of [...node.childNodes].reverse()) open.push(child);
    else found.push(node);
  }
  return found;
}

/** By `<meta>`, within the first bytes as in browsers, or by the XML declaration. */
function findDeclared(bytes: Uint8Array): string[] {
  const head = Buffer.from(bytes.subarray(0, 8192)).toString("latin1");
  const meta = /<meta\b[^>]{0,300}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1];
  const xml = /^[^<]{0,10}<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head)?.[1];
  return [meta, xml].filter((label) => label !== undefined);
}

function findTitle(page: Page): string | null {
  return (
    cleanTitle(page.querySelector("head title, html > title, title")?.textContent) ??
    cleanTitle(page.querySelector('meta[property="og:title"]')?.getAttribute("content")) ??
    cleanTitle(page.querySelector("h1")?.textContent)
  );
}

function isInvisible(element: { getAttribute(name: string): string | null }): boolean {
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(element.getAttribute("style") ?? "");
}

/** Either nothing, or that something is to come, or that JavaScript is missing. */
function isShell(markdown: string): boolean {
  if (!hasWords(markdown) || waiting.test(markdown)) return true;
  return markdown.length < 300 && /\bjavascript\b/i.test(markdown);
}

function findMain(page: Page): string {
  const whole = writeMarkdown(page.body as unknown as MarkupNode);
  const marked = page.querySelector("main, [role=main]") as unknown as MarkupNode | null;
  const main = marked === null ? "" : writeMarkdown(marked);
  if (main.length >= Math.min(200, whole.length / 2)) return main;
  // Finding the main content loses lists of prices and hours: it is believed only where it keeps most of the words.
  const article = findArticle(page);
  // Where it leaves out next to nothing, the page's own headings are better: it moves them down by one.
  return article.length >= whole.length * 0.6 && article.length < whole.length * 0.9 ? article : whole;
}

function findArticle(page: Page): string {
  if (!isModest(page)) return "";
  try {
    const found = new Readability(page as never).parse();
    return markdownOfHtml(found?.content ?? "");
  } catch {
    return "";
  }
}

function isModest(page: Page): boolean {
  let [count, depth] = [0, 0];
  // Not by recursion: what is nested too deep is what this detects.
  let node = page.documentElement as unknown as TreeNode | null;
  while (node !== null) {
    if (++count > maxElements || depth > maxDepth) return false;
    if (node.firstChild !== null) {
      node = node.firstChild;
      depth++;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      node = node.parentNode;
      depth--;
    }
    node = node?.nextSibling ?? null;
  }
  return true;
}
