/** The frame of the documentation pages: search and navigation. No scripts, no external resources. */
import { contentSecurityPolicy, escapeHtml } from "../../http/html.ts";
import { renderInline } from "./html.ts";
import { styleText } from "./style.ts";

export interface DocsLink {
  href: string;
  /** May contain `code`. */
  text: string;
}

/** One page, as others link to it. */
export interface DocsPlace extends DocsLink {
  /** Its sections, listed beside it while it is open. */
  parts: readonly DocsLink[];
  /** The heading above it and its neighbours in the list, if they have one: such are many, and not shown on narrow screens. */
  group?: string;
}

interface FramedPage {
  title: string;
  /** The page's own address, which may not be among the places. */
  href: string;
  places: readonly DocsPlace[];
  body: string;
  /** The search text. */
  query?: string;
}

export function framePage({ title, href, places, body, query = "" }: FramedPage): string {
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
<ul class="places">${places.map((place, at) => renderGroup(place, places[at - 1]) + renderPlace(place, href)).join("\n")}
<li><a href="/openapi.json">OpenAPI document</a></li></ul>
</nav>
<main id="content" tabindex="-1">
${body}
${renderNeighbours(places, href)}
</main>
</div>
</body>
</html>
`;
}

function renderGroup({ group }: DocsPlace, before: DocsPlace | undefined): string {
  return group === undefined || group === before?.group ? "" : `<li class="group">${group}</li>`;
}

function renderPlace({ href, text, parts, group }: DocsPlace, current: string): string {
  if (href !== current) {
    return `<li${group === undefined ? "" : ' class="grouped"'}><a href="${href}">${renderInline(text)}</a></li>`;
  }
  const list = parts.map((part) => `<li><a href="${part.href}">${renderInline(part.text)}</a></li>`).join("");
  return `<li><a href="${href}" aria-current="page">${renderInline(text)}</a>${list === "" ? "" : `<ul class="parts">${list}</ul>`}</li>`;
}

function renderNeighbours(places: readonly DocsPlace[], href: string): string {
  const at = places.findIndex((place) => place.href === href);
  const link = (place: DocsPlace | undefined, rel: "prev" | "next", words: string) =>
    place === undefined
      ? "<span></span>"
      : `<a rel="${rel}" href="${place.href}">${words} ${renderInline(place.text)}</a>`;
  if (at === -1) return "";
  return `<p class="neighbours">${link(places[at - 1], "prev", "←")}${link(places[at + 1], "next", "→")}</p>`;
}

export function docsPolicy(): string {
  return contentSecurityPolicy({ style: styleText, isStill: true, ancestors: ["'none'"], hasForms: true });
}
