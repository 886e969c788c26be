/** What the lines of a reply make: lists and quotes, and in them paragraphs, code and tables. Each line is taken once. */
import { h } from "./dom.ts";
import { renderInline } from "./markdown-inline.ts";
import {
  type Code,
  createCode,
  createParagraph,
  createTable,
  type Leaf,
  type Paragraph,
  saveChildren,
  type Words,
} from "./markdown-leaves.ts";
import {
  endsFence,
  isRule,
  isSpace,
  isTableRule,
  readBox,
  readFence,
  readHeading,
  readItem,
  skipSpace,
  widenTabs,
} from "./markdown-lines.ts";

/** Deeper nesting is never intended, and is shown as text. */
const maxDepth = 6;

/** A quote, or the last item of a list. */
interface Container {
  element: HTMLElement;
  /** By how much the lines of an item are indented. */
  indent: number;
  /** Null for quotes. */
  list: HTMLElement | null;
}

type Current =
  | { kind: "paragraph"; leaf: Paragraph }
  | { kind: "code"; leaf: Code }
  | { kind: "table"; leaf: Leaf }
  | null;

/** A line, as far as it is read: what it is indented by is between `from` and `start`. */
interface Cursor {
  line: string;
  from: number;
  start: number;
}

/** Gives a block of code or a table its edges and buttons; `getCode` only for code. */
export type Frame = (block: HTMLElement, getCode?: () => string) => void;

export interface Blocks {
  /** `isShort`: else it is the beginning of a line too long to be anything but text. `isOpen`: more of it may follow. */
  take(line: string, isShort: boolean, isOpen: boolean): void;
  /** More of a long line. */
  lengthen(piece: string): void;
  /** Draws what the last lines have changed. */
  draw(isOpen: boolean): void;
  /** Returns a function that undoes everything done from now on. */
  save(): () => void;
}

export function createBlocks(into: HTMLElement, words: Words, frame?: Frame): Blocks {
  /** What the last line is in, from the outside in. */
  let containers: readonly Container[] = [];
  let current: Current = null;

  const put = (element: HTMLElement) => (containers.at(-1)?.element ?? into).append(element);

  /** Ends the words under way. */
  function end(): void {
    current?.leaf.draw(false);
    current = null;
  }

  /** Ends them, and what is deeper than this. */
  function leave(depth: number): void {
    end();
    containers = containers.slice(0, depth);
  }

  function addText(text: string, isNewLine: boolean): void {
    if (!current) {
      const element = h("p", { class: "p" });
      put(element);
      current = { kind: "paragraph", leaf: createParagraph(element) };
    }
    current.leaf.add(text, isNewLine, false);
  }

  /** How many of the containers the line goes on with. */
  function follow(cursor: Cursor): number {
    const { line } = cursor;
    let depth = 0;
    for (const { list, indent } of containers) {
      if (list) {
        // The lines of code are often indented by less than the item that it is in.
        const isInside = cursor.start - cursor.from >= indent || current?.kind === "code";
        if (!isInside && cursor.start < line.length) break;
        cursor.from = Math.min(cursor.start, cursor.from + indent);
      } else {
        if (line.charAt(cursor.start) !== ">") break;
        step(cursor, cursor.start + 1);
      }
      depth++;
    }
    return depth;
  }

  /** Opens the containers that begin with the line, inside of as many as it goes on with; returns how deep it is then. */
  function enter(cursor: Cursor, followed: number): number {
    let sibling = containers[followed]?.list;
    let depth = followed;
    for (; depth < maxDepth; depth++) {
      const { line, from, start } = cursor;
      const item = isRule(line, start) ? null : readItem(line, start);
      if (!item && line.charAt(start) !== ">") break;
      leave(depth);
      const element = h(item ? "li" : "blockquote");
      const list = item && findList(item.start, sibling);
      if (list) list.append(element);
      else put(element);
      containers = [...containers, { element, list, indent: start - from + 2 }];
      sibling = null;
      step(cursor, item?.end ?? start + 1);
      const box = item && readBox(cursor.line, cursor.start);
      if (!box) continue;
      element.className = "task";
      cursor.line = box + cursor.line.slice(cursor.start + "[ ]".length);
      cursor.from = cursor.start = 0;
    }
    return depth;
  }

  /** The list that the item goes on with, or a new one. */
  function findList(start: number | null, sibling: HTMLElement | null | undefined): HTMLElement {
    const tag = start === null ? "ul" : "ol";
    if (sibling?.localName === tag) return sibling;
    const list = h(tag, start === null ? {} : { start });
    put(list);
    return list;
  }

  /** What is neither list nor quote: the rest of the line. */
  function takeRest({ line, from, start }: Cursor, depth: number, isShort: boolean, isOpen: boolean): void {
    const isBlank = start === line.length;
    const fence = isShort ? readFence(line, start) : null;
    const heading = isShort ? readHeading(line, start) : null;
    const hasRule = isShort && isRule(line, start);
    if (isBlank || fence || heading || hasRule || !current) leave(depth);
    const head = current?.kind === "paragraph" && depth === containers.length ? current.leaf.head : null;
    if (fence) startCode(fence.mark, fence.language, start - from);
    // Half of a mark: what it is comes with its other half.
    else if (isOpen && /^(#{1,6}|--)$/.test(line.slice(start, start + 20))) return;
    // No heading elements: the outline belongs to the page around.
    else if (heading) put(renderInline(h("p", { class: `heading level-${heading.level}` }), heading.text, isOpen));
    else if (hasRule) put(h("hr"));
    else if (isShort && head && isTableRule(line, start)) {
      // While it may go on, it may still turn out to be something else.
      if (!isOpen) startTable(head, line);
    } else if (!isBlank) addText(line.slice(start).trimEnd(), true);
  }

  function startCode(mark: string, language: string, indent: number): void {
    const code = h("code");
    const pre = h("pre", { tabindex: 0, dir: "ltr", role: "group", "aria-label": words.code }, code);
    putBlock("code", pre, [h("span", {}, language)], () => code.textContent);
    current = { kind: "code", leaf: createCode(code, mark, indent) };
  }

  /** What may be wider than its column. */
  function putBlock(kind: string, scroller: HTMLElement, head: Node[], getCode?: () => string): void {
    const block = h("div", { class: kind, "aria-live": "off" }, ...head, scroller);
    put(block);
    frame?.(block, getCode);
  }

  function startTable(head: string, rule: string): void {
    if (current?.kind === "paragraph") current.leaf.cutHead();
    end();
    const table = h("table");
    const label = { role: "group", "aria-label": words.table };
    putBlock("table", h("div", { class: "scroll", tabindex: 0, ...label }, table), []);
    current = { kind: "table", leaf: createTable(table, head, rule) };
  }

  return {
    take(source, isShort, isOpen) {
      const line = containers.length > 0 || current?.kind !== "code" ? widenTabs(source) : source;
      const cursor = { line, from: 0, start: skipSpace(line, 0) };
      const depth = follow(cursor);
      const { from, start } = cursor;
      const isInside = depth === containers.length;
      if (current?.kind === "code" && isInside) {
        const { mark, indent } = current.leaf;
        if (isShort && endsFence(line, start, mark)) end();
        else addText(line.slice(Math.min(start, from + indent)), true);
      } else if (current?.kind === "table" && isInside && isShort && line.includes("|", start)) {
        current.leaf.add(line.slice(start), true, isOpen);
      } else {
        // A paragraph goes on even where the marks of its quote, or the indentation of its item, are missing.
        if (current?.kind !== "paragraph") end();
        takeRest(cursor, enter(cursor, depth), isShort, isOpen);
      }
    },
    lengthen(piece) {
      if (current || piece.trim()) addText(piece, false);
    },
    draw(isOpen) {
      current?.leaf.draw(isOpen);
    },
    save() {
      const kept = { containers, current };
      const parts = [into, ...containers.flatMap(({ element, list }) => (list ? [element, list] : [element]))];
      const undos = parts.map(saveChildren);
      const undoLeaf = current?.leaf.save();
      return () => {
        ({ containers, current } = kept);
        for (const undo of undos) undo();
        undoLeaf?.();
      };
    },
  };
}

/** Goes on behind a mark and the space that belongs to it. */
function step(cursor: Cursor, end: number): void {
  cursor.from = end + (isSpace(cursor.line.charAt(end)) ? 1 : 0);
  cursor.start = skipSpace(cursor.line, cursor.from);
}
