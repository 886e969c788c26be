/** What a reply cites: a list instead of the footer, to which the markers in the text lead. Loaded with the first one. */
import type { CitedSource } from "../../reply-reader/reply-reader.ts";
import { h, textButton } from "./dom.ts";
import { makeLink } from "./markdown-inline.ts";
import { sourcesEnglish } from "./sources-strings.ts";
import { fill, type Strings } from "./strings.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(SOURCES_STYLE);

/**
 * Adds the list to a reply that is drawn already. `redraw` draws it again with another text. Does nothing where the text
 * has no marker of these sources: it is not meant to show them.
 */
export function showSources(
  body: HTMLElement,
  { text, sources: given }: { text: string; sources?: unknown },
  words: Strings,
  redraw: (text: string) => void,
): void {
  const sources = readSources(given);
  const shown = cutFooter(text, sources);
  const cited = sources.filter(({ n }) => shown.includes(`[${n}]`));
  if (!cited.length) return;
  if (shown !== text) redraw(shown);
  const root = body.getRootNode();
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);

  const strings = { ...sourcesEnglish, ...words };
  const targets = new Map<number, HTMLElement>();
  const items = groupSources(cited).map(([first, ...others]) => {
    const { title, url, page } = first;
    const name = title.trim() || url || String(first.n);
    const fillIn = (into: HTMLElement) => into.append(h("bdi", {}, name));
    const target = isWeb(url) ? makeLink(url, fillIn) : h("span", { tabindex: -1 }, h("bdi", {}, name));
    const numbers = [first, ...others].map(({ n }) => n);
    for (const n of numbers) targets.set(n, target);
    const where = page === null ? [] : [h("span", { class: "where" }, fill(strings.page, page))];
    return h("li", {}, h("span", { class: "numbers" }, numbers.join(", ")), h("div", {}, target, " ", ...where));
  });
  dressMarkers(body, targets);
  const label = h("div", { class: "label", "aria-hidden": "true" }, strings.sources);
  // Without bullets, some screen readers take it for no list.
  const list = h("ul", { role: "list", "aria-label": strings.sources }, ...items);
  body.append(h("div", { class: "sources" }, label, list));
}

/** Other scripts of the page can write where it was kept. */
function readSources(given: unknown): CitedSource[] {
  const isSource = (value: unknown): value is CitedSource => {
    const { n, title } = Object(value);
    return Number.isInteger(n) && typeof title === "string";
  };
  return (Array.isArray(given) ? given : [])
    .filter(isSource)
    .map(({ n, title, url, page }) => ({
      ...{ n, title },
      url: typeof url === "string" ? url : null,
      page: Number.isInteger(page) ? page : null,
    }))
    .sort((a, b) => a.n - b.n);
}

function isWeb(url: string | null): url is string {
  return /^https?:\/\//i.test(url ?? "");
}

/** Passages of the same page, or of a source without pages, are one entry. */
function groupSources(sources: CitedSource[]): [CitedSource, ...CitedSource[]][] {
  const groups = new Map<string, [CitedSource, ...CitedSource[]]>();
  for (const source of sources) {
    const key = JSON.stringify([source.title, source.url, source.page]);
    const group = groups.get(key);
    if (group) group.push(source);
    else groups.set(key, [source]);
  }
  return [...groups.values()];
}

/** The text without the lines at its end that only name these sources; the whole where anything else stands among them. */
function cutFooter(text: string, sources: CitedSource[]): string {
  // The server escapes what a title may have of Markdown.
  const plain = (part: string) => part.replace(/\\/g, "").replace(/\s+/g, " ").trim();
  const names = sources.map(({ n, title }) => `[${n}] ${plain(title)}`);
  const at = text.lastIndexOf("\n\n");
  const isFooter = (line: string) => names.some((name) => line === name || line.startsWith(`${name}: `));
  const lines = text.slice(at + 2).split("\n");
  return at >= 0 && lines.every((line) => isFooter(plain(line))) ? text.slice(0, at).trimEnd() : text;
}

/** Makes buttons of the markers that stand in words: not in code, nor in links, which are pressed for themselves. */
function dressMarkers(body: HTMLElement, targets: Map<number, HTMLElement>): void {
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  for (const node of nodes) {
    if (node.parentElement?.closest("code, a, button")) continue;
    const parts = node.data.split(/(\[\d{1,3}\](?!\())/);
    if (parts.length < 2) continue;
    const dressed = parts.map((part, index) => {
      const n = Number(part.slice(1, -1));
      const target = index % 2 ? targets.get(n) : undefined;
      // A button would let the line break before what ends the sentence; a word joiner does not.
      if (!target) return index && /^\p{P}/u.test(part) ? `\u2060${part}` : part;
      const button = textButton("cite", String(n), () => target.focus());
      const label = `[${n}] ${target.textContent}`;
      button.ariaLabel = button.title = label;
      return button;
    });
    node.replaceWith(...dressed.filter(Boolean));
  }
  for (const button of body.querySelectorAll(".cite")) {
    const before = button.previousSibling;
    if (before instanceof Element && before.matches(".cite")) button.classList.add("next");
  }
}
