/** The frame of the documentation pages: search and navigation. No scripts, no external resources. */
import { contentSecurityPolicy, escapeHtml } from "../../http/html.ts";
import { renderInline } from "./html.ts";

/** The style sheet of the documentation pages. */
export const styleText = `
:root { color-scheme: light dark; --text: #1c1b22; --soft: #5b5966; --line: #dddbe4; --edge: #868593; --back: #fff;
  --panel: #f6f5f9; --tint: #eeedfd; --accent: #4338ca; --get: #0f766e; --post: #4338ca; --patch: #9a5b00; --delete: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #eceaf3; --soft: #a9a6b6; --line: #373544; --edge: #767486; --back: #15141b;
  --panel: #1e1d27; --tint: #26253f; --accent: #a5b4fc; --get: #5eead4; --post: #a5b4fc; --patch: #fcd34d; --delete: #fda4a4; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--accent); }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: 0.5rem 0 1rem; padding: 0.75rem 1rem; overflow-x: auto; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; padding: 0.5rem 1rem; background: var(--back); }
.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { padding: 1rem 1.5rem; border-bottom: 1px solid var(--line); }
nav form { display: flex; gap: 0.5rem; margin-bottom: 0.75rem; }
nav input { flex: 1; min-width: 0; }
nav input, nav button { padding: 0.35rem 0.7rem; border: 1px solid var(--edge); border-radius: 8px; background: var(--back);
  color: inherit; font: inherit; font-size: 0.9375rem; }
nav button { cursor: pointer; }
nav button:hover { background: var(--panel); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 0.15rem 0.6rem; border-radius: 6px; color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { background: var(--tint); color: var(--accent); font-weight: 600; }
.places { display: flex; flex-wrap: wrap; gap: 0.1rem 0.25rem; }
.group { padding: 0.6rem 0.6rem 0; color: var(--soft); font-size: 0.8125rem; font-weight: 600; }
.group, .grouped, .parts { display: none; }
main { padding: 1.5rem; min-width: 0; outline: none; }
.neighbours { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3.5rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
@media (min-width: 60rem) {
  .page { grid-template-columns: 19rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem; border: 0; border-right: 1px solid var(--line); }
  .places, .group, .grouped { display: block; }
  .contents { display: none; }
  .places > li { margin: 0.15rem 0; }
  .parts { display: block; margin: 0.25rem 0 0.75rem 0.6rem; padding-left: 0.4rem; border-left: 1px solid var(--line);
    font-size: 0.9375rem; color: var(--soft); }
  main { padding: 1.5rem 2.5rem 4rem; }
}
h1, h2, h3 { overflow-wrap: anywhere; }
h1 { margin-top: 0; line-height: 1.2; }
h2 { margin: 2.75rem 0 0.5rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 1.25rem 0 0.25rem; font-size: 0.9375rem; }
main > section + section { padding-top: 0.5rem; border-top: 1px solid var(--line); margin-top: 2rem; }
section > h2 { margin-top: 1.5rem; }
.call { display: flex; flex-wrap: wrap; gap: 0.1rem 0.5rem; align-items: baseline; }
.method { font: 600 0.8125rem/1.5 ui-monospace, monospace; }
.GET { color: var(--get); } .POST { color: var(--post); } .PATCH { color: var(--patch); } .DELETE { color: var(--delete); }
.index, .found { padding: 0; list-style: none; }
.index li, .found li { padding: 0.4rem 0; }
.found li + li { border-top: 1px solid var(--line); }
.found p { margin: 0.25rem 0 0; font-size: 0.9375rem; color: var(--soft); }
.names { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; list-style: none; }
.failures { margin: 0.5rem 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem;
  font-size: 0.875rem; color: var(--soft); }
.soft { color: var(--soft); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
td:first-child code { overflow-wrap: normal; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); font-size: 0.8125rem; }
.contents { margin: 1rem 0; }
.contents ul { padding-left: 1.25rem; }
.guide h1 a, .guide h2 > a, .guide h3 > a { color: inherit; text-decoration: none; }
.guide h2 > a:hover, .guide h3 > a:hover { text-decoration: underline; }
.guide h2 { padding-top: 0.5rem; }
.guide p, .guide li { max-width: 48rem; }
.guide pre code { overflow-wrap: normal; font-size: 1em; }
.guide td code { overflow-wrap: break-word; }
:target { background: var(--panel); outline: 0.5rem solid var(--panel); border-radius: 2px; }
`;

export interface DocsLink {
  href: string;
  /** May contain `code`. */
  text: string;
}

/** One page, as others link to it. */
export interface DocsEntry extends DocsLink {
  /** Its sections, listed beside it while it is open. */
  parts: readonly DocsLink[];
  /** The heading above it and its neighbours in the list, if they have one: such are many, and not shown on narrow screens. */
  group?: string;
}

interface FramedPage {
  title: string;
  /** The page's own address, which may not be among the entries. */
  href: string;
  entries: readonly DocsEntry[];
  body: string;
  /** The search text. */
  query?: string;
}

export function framePage({ title, href, entries, body, query = "" }: FramedPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} – companiond</title>
<style>${styleText}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="page">
<nav aria-label="Documentation">
<form role="search" action="/docs/search"><input type="search" name="q" value="${escapeHtml(query)}" maxlength="200"
aria-label="Search the reference" placeholder="Search the API" autocomplete="off" spellcheck="false"><button>Search</button></form>
<ul class="places">${entries.map((entry, at) => renderGroup(entry, entries[at - 1]) + renderEntry(entry, href)).join("\n")}
<li><a href="/openapi.json">OpenAPI document</a></li></ul>
</nav>
<main id="content" tabindex="-1">
${body}
${renderNeighbours(entries, href)}
</main>
</div>
</body>
</html>
`;
}

function renderGroup({ group }: DocsEntry, before: DocsEntry | undefined): string {
  return group === undefined || group === before?.group ? "" : `<li class="group">${group}</li>`;
}

function renderEntry({ href, text, parts, group }: DocsEntry, current: string): string {
  if (href !== current) {
    return `<li${group === undefined ? "" : ' class="grouped"'}><a href="${href}">${renderInline(text)}</a></li>`;
  }
  const list = parts.map((part) => `<li><a href="${part.href}">${renderInline(part.text)}</a></li>`).join("");
  return `<li><a href="${href}" aria-current="page">${renderInline(text)}</a>${list === "" ? "" : `<ul class="parts">${list}</ul>`}</li>`;
}

function renderNeighbours(entries: readonly DocsEntry[], href: string): string {
  const at = entries.findIndex((entry) => entry.href === href);
  const link = (entry: DocsEntry | undefined, rel: "prev" | "next", words: string) =>
    entry === undefined
      ? "<span></span>"
      : `<a rel="${rel}" href="${entry.href}">${words} ${renderInline(entry.text)}</a>`;
  if (at === -1) return "";
  return `<p class="neighbours">${link(entries[at - 1], "prev", "←")}${link(entries[at + 1], "next", "→")}</p>`;
}

export function docsPolicy(): string {
  return contentSecurityPolicy({ style: styleText, isStill: true, ancestors: ["'none'"], hasForms: true });
}
