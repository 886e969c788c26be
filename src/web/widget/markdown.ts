/** Markdown blocks as they stream in: a block that has not changed keeps its nodes, only the rest is drawn anew. */
import { h } from "./dom.ts";
import { renderInline } from "./markdown-inline.ts";

interface Block {
  kind: "p" | "h" | "hr" | "code" | "quote" | "list" | "table";
  lines: string[];
}

/** Deeper nesting is shown as text: it is never meant, and recursion must end. */
const maxDepth = 6;
const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const heading = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^(\s*)([-*+•]|\d{1,9}[.)])(\s+|$)/;
const tableRule = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export interface MarkdownView {
  /** `isOpen`: more text may follow. */
  update(text: string, isOpen: boolean): void;
}

/** `addTools` may put something into a block of code, such as a button that copies it. */
export function createMarkdownView(
  into: HTMLElement,
  addTools: (pre: HTMLElement, code: string) => void,
): MarkdownView {
  let drawn: { key: string; node: Node }[] = [];
  return {
    update(text, isOpen) {
      const blocks = splitBlocks(text.split("\n"), 0);
      const next = blocks.map((block, index) => {
        const isLast = isOpen && index === blocks.length - 1;
        const key = `${block.kind}${isLast}\n${block.lines.join("\n")}`;
        const known = drawn[index];
        if (known?.key === key) return known;
        const node = drawBlock(block, isLast, 0, addTools);
        if (known) into.replaceChild(node, known.node);
        else into.appendChild(node);
        return { key, node };
      });
      for (const { node } of drawn.slice(next.length)) into.removeChild(node);
      drawn = next;
    },
  };
}

function splitBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const start = at;
    const line = lines[at] ?? "";
    const kind = depth > maxDepth ? "p" : kindOf(line, lines[at + 1]);
    at++;
    if (kind === null) continue;
    const isInside = (next: string, following: string | undefined): boolean => {
      if (kind === "p") return kindOf(next, following) === "p";
      if (kind === "quote") return quote.test(next) || kindOf(next, following) === "p";
      if (kind === "table") return next.includes("|");
      if (!next.trim()) return /^\s{2,}\S/.test(following ?? "") || item.test(following ?? "");
      return item.test(next) || /^\s{2,}/.test(next) || (kindOf(next, following) === "p" && !!lines[at - 1]?.trim());
    };
    if (kind === "code") {
      const mark = fence.exec(line)?.[1] ?? "```";
      while (at < lines.length && !lines[at]?.trim().startsWith(mark)) at++;
      at++;
    } else if (kind !== "h" && kind !== "hr") {
      while (at < lines.length && isInside(lines[at] ?? "", lines[at + 1])) at++;
    }
    blocks.push({ kind, lines: lines.slice(start, at) });
  }
  return blocks;
}

function kindOf(line: string, next: string | undefined): Block["kind"] | null {
  if (!line.trim()) return null;
  if (fence.test(line)) return "code";
  if (heading.test(line)) return "h";
  if (rule.test(line)) return "hr";
  if (quote.test(line)) return "quote";
  if (item.test(line)) return "list";
  if (line.includes("|") && next?.includes("-") && tableRule.test(next)) return "table";
  return "p";
}

type AddTools = (pre: HTMLElement, code: string) => void;

function drawBlock({ kind, lines }: Block, isOpen: boolean, depth: number, addTools: AddTools): HTMLElement {
  const first = lines[0] ?? "";
  if (kind === "hr") return h("hr");
  if (kind === "code") {
    const [, mark = "```", language] = fence.exec(first) ?? [];
    const isClosed = lines.length > 1 && !!lines.at(-1)?.trim().startsWith(mark);
    const code = lines.slice(1, isClosed ? -1 : undefined).join("\n");
    const pre = h("pre", { tabindex: 0, dir: "ltr" }, h("code", {}, code));
    const box = h("div", { class: "code" }, h("span", {}, language || ""), pre);
    addTools(box, code);
    return box;
  }
  if (kind === "quote") {
    const inner = lines.map((line) => line.replace(quote, ""));
    return drawInto(h("blockquote"), inner, isOpen, depth + 1, addTools);
  }
  if (kind === "list") return drawList(lines, isOpen, depth, addTools);
  if (kind === "table") return drawTable(lines, isOpen);
  // No heading elements: the outline belongs to the page around.
  const element = h("p", kind === "h" ? { class: "heading" } : {});
  const text = kind === "h" ? (heading.exec(first)?.[1] ?? "") : lines.map((line) => line.trim()).join("\n");
  renderInline(element, text, isOpen);
  return element;
}

function drawInto<Element extends HTMLElement>(
  element: Element,
  lines: string[],
  isOpen: boolean,
  depth: number,
  addTools: AddTools,
): Element {
  const blocks = splitBlocks(lines, depth);
  for (const [index, block] of blocks.entries()) {
    const isLast = isOpen && index === blocks.length - 1;
    // The only paragraph of a list's item needs no paragraph around it.
    if (block.kind === "p" && element.localName === "li" && index === 0) {
      renderInline(element, block.lines.map((line) => line.trim()).join("\n"), isLast);
    } else element.append(drawBlock(block, isLast, depth, addTools));
  }
  return element;
}

function drawList(lines: string[], isOpen: boolean, depth: number, addTools: AddTools): HTMLElement {
  const [, , marker = ""] = item.exec(lines[0] ?? "") ?? [];
  const number = Number.parseInt(marker, 10);
  const list = Number.isNaN(number) ? h("ul") : h("ol", number === 1 ? {} : { start: number });
  const items: string[][] = [];
  let offset = 0;
  for (const line of lines) {
    const [whole, indent = ""] = item.exec(line) ?? [];
    if (whole !== undefined && (items.length === 0 || indent.length < offset)) {
      offset = Math.min(whole.length, indent.length + 4);
      items.push([line.slice(whole.length)]);
    } else {
      const strip = Math.min(offset, line.length - line.trimStart().length);
      items.at(-1)?.push(line.slice(strip));
    }
  }
  for (const [index, content] of items.entries()) {
    list.append(drawInto(h("li"), content, isOpen && index === items.length - 1, depth + 1, addTools));
  }
  return list;
}

function drawTable(lines: string[], isOpen: boolean): HTMLElement {
  const table = h("table");
  const width = cells(lines[0] ?? "").length;
  for (const [index, line] of lines.entries()) {
    if (index === 1) continue;
    const row = h("tr");
    for (const text of cells(line).slice(0, width)) {
      const cell = index === 0 ? h("th", { scope: "col" }) : h("td");
      renderInline(cell, text, isOpen && index === lines.length - 1);
      row.append(cell);
    }
    table.append(row);
  }
  return h("div", { class: "table", tabindex: 0 }, table);
}

function cells(line: string): string[] {
  const inner = line.trim().replace(/^\||\|$/g, "");
  // An escaped bar belongs to the text; no lookbehind, which older browsers cannot even parse.
  return (inner.match(/(?:\\.|[^|\\])*(?:\||$)/g) ?? [])
    .slice(0, -1)
    .map((cell) => cell.replace(/\|$/, "").trim().replaceAll("\\|", "|"));
}
