/** Markdown blocks as they stream in: a block that has not changed keeps its nodes, only the rest is drawn anew. */
import { h } from "./dom.ts";
import { renderInline } from "./markdown-inline.ts";

type Kind = "p" | "heading" | "hr" | "code" | "quote" | "list" | "table";
type Block = [kind: Kind, lines: string[]];

/** Deeper nesting is shown as text: it is never meant, and recursion must end. */
const maxDepth = 6;
const fence = /^\s*(```+|~~~+)\s*([\w+#.-]*)[^`]*$/;
const heading = /^ {0,3}#{1,6}\s+(.*?)[\s#]*$/;
const rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^(\s*)([-*+•]|\d{1,9}[.)])(\s+|$)/;
const tableRule = /^[\s|:-]*-[\s|:-]*$/;

export interface MarkdownView {
  /** `isOpen`: more text may follow. */
  update(text: string, isOpen: boolean): void;
}

/** `makeTool` makes what stands above a block of code, such as a button that copies it. */
export function createMarkdownView(into: HTMLElement, makeTool: (code: string) => HTMLElement): MarkdownView {
  let drawn: { key: string; node: Node }[] = [];

  function drawBlock([kind, lines]: Block, isOpen: boolean, depth: number): HTMLElement {
    const first = lines[0] ?? "";
    if (kind === "hr") return h("hr");
    if (kind === "quote") {
      return drawInto(
        h("blockquote"),
        lines.map((line) => line.replace(quote, "")),
        isOpen,
        depth,
      );
    }
    if (kind === "code") {
      const [, mark = "", language = ""] = fence.exec(first) ?? [];
      const isClosed = lines.length > 1 && lines.at(-1)?.trim().startsWith(mark);
      const code = lines.slice(1, isClosed ? -1 : undefined).join("\n");
      const pre = h("pre", { tabindex: 0, dir: "ltr" }, h("code", {}, code));
      return h("div", { class: "code" }, h("span", {}, language), makeTool(code), pre);
    }
    if (kind === "table") {
      const table = h("table");
      const width = cells(first).length;
      for (const line of lines) {
        if (line === lines[1]) continue;
        const row = cells(line)
          .slice(0, width)
          .map((text) => renderInline(h(line === first ? "th" : "td"), text, isOpen));
        table.append(h("tr", {}, ...row));
      }
      return h("div", { class: "table", tabindex: 0 }, table);
    }
    if (kind === "list") {
      const number = Number.parseInt(item.exec(first)?.[2] ?? "", 10);
      const list = number >= 0 ? h("ol", { start: number }) : h("ul");
      const items = splitItems(lines);
      for (const content of items) list.append(drawInto(h("li"), content, isOpen && content === items.at(-1), depth));
      return list;
    }
    // No heading elements: the outline belongs to the page around.
    const text = kind === "heading" ? (heading.exec(first)?.[1] ?? "") : lines.map((line) => line.trim()).join("\n");
    return renderInline(h("p", { class: kind }), text, isOpen);
  }

  function drawInto(element: HTMLElement, lines: string[], isOpen: boolean, depth: number): HTMLElement {
    const blocks = splitBlocks(lines, depth + 1);
    for (const block of blocks) element.append(drawBlock(block, isOpen && block === blocks.at(-1), depth + 1));
    return element;
  }

  return {
    update(text, isOpen) {
      const blocks = splitBlocks(text.split("\n"), 0);
      const next = blocks.map((block, index) => {
        const isLast = isOpen && block === blocks.at(-1);
        const key = `${isLast}${block}`;
        const known = drawn[index];
        if (known?.key === key) return known;
        const node = drawBlock(block, isLast, 0);
        if (known) into.replaceChild(node, known.node);
        else into.append(node);
        return { key, node };
      });
      for (const { node } of drawn.slice(next.length)) into.removeChild(node);
      drawn = next;
    },
  };
}

function splitBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const start = at;
    const line = lines[at++] ?? "";
    const kind = depth > maxDepth ? "p" : kindOf(line, lines[at]);
    if (!kind) continue;
    const goesOn = (next: string, following = ""): boolean => {
      const nextKind = kindOf(next, following);
      if (kind === "table") return next.includes("|");
      if (kind === "list") {
        if (!nextKind) return /^\s\s+\S/.test(following) || item.test(following);
        return nextKind === "list" || /^\s\s/.test(next) || (nextKind === "p" && !!lines[at - 1]?.trim());
      }
      return nextKind === "p" || (kind === "quote" && nextKind === kind);
    };
    if (kind === "code") {
      const mark = fence.exec(line)?.[1] ?? "";
      while (at < lines.length && !lines[at++]?.trim().startsWith(mark));
    } else if (kind !== "heading" && kind !== "hr") {
      while (at < lines.length && goesOn(lines[at] ?? "", lines[at + 1])) at++;
    }
    blocks.push([kind, lines.slice(start, at)]);
  }
  return blocks;
}

function kindOf(line: string, next = ""): Kind | null {
  if (!line.trim()) return null;
  if (fence.test(line)) return "code";
  if (heading.test(line)) return "heading";
  if (rule.test(line)) return "hr";
  if (quote.test(line)) return "quote";
  if (item.test(line)) return "list";
  return line.includes("|") && tableRule.test(next) ? "table" : "p";
}

/** Each item's lines, without their indentation. */
function splitItems(lines: string[]): string[][] {
  const items: string[][] = [];
  let offset = 0;
  for (const line of lines) {
    const [mark, indent = ""] = item.exec(line) ?? [];
    if (mark && (!items.length || indent.length < offset)) {
      offset = mark.length;
      items.push([line.slice(offset)]);
    } else {
      items.at(-1)?.push(line.slice(Math.min(offset, line.length - line.trimStart().length)));
    }
  }
  return items;
}

function cells(line: string): string[] {
  // An escaped bar belongs to the text.
  const inner = line
    .replaceAll("\\|", "\0")
    .trim()
    .replace(/^\||\|$/g, "");
  return inner.split("|").map((cell) => cell.replaceAll("\0", "|").trim());
}
