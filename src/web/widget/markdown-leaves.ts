/** What holds the words of a reply: a paragraph, a block of code or a table, each growing by the line. */
import { h } from "./dom.ts";
import { reach, renderInline } from "./markdown-inline.ts";
import { readCells } from "./markdown-lines.ts";

/** By how much more than `reach` a mark and what is next to it may be longer. */
const margin = 20;
/** Of a table that still grows, in pixels. */
const columnWidth = 112;

/** The accessible name. */
export interface Words {
  code: string;
  table: string;
}

export interface Leaf {
  /** `isNewLine`: else it goes on with the last one. */
  add(line: string, isNewLine: boolean, isOpen: boolean): void;
  /** `isOpen`: more may follow. */
  draw(isOpen: boolean): void;
  /** Returns a function that undoes everything done from now on. */
  save(): () => void;
}

export interface Paragraph extends Leaf {
  /** The last line, where it may be the head of a table. */
  readonly head: string | null;
  cutHead(): void;
}

export interface Code extends Leaf {
  readonly mark: string;
  readonly indent: number;
}

/** Returns a function that removes the children added after this call. */
export function saveChildren(element: HTMLElement): () => void {
  const last = element.lastChild;
  return () => cutAfter(element, last);
}

function cutAfter(element: HTMLElement, last: Node | null): void {
  while (element.lastChild !== last) element.lastChild?.remove();
}

export function createParagraph(element: HTMLElement): Paragraph {
  let text = "";
  /** Where its last line begins. */
  let lineAt = 0;
  let isLineWhole = true;
  /** Where the last lines that begin with a bar begin: of a table, most likely, whose second line has yet to come. */
  let barsAt = -1;
  const drawn = { at: 0, last: null };
  /** Up to where it is drawn while more may follow: neither marks of a table, nor the list of what is cited. */
  const findHeld = () => {
    const at = /^\[\d{1,3}\] ?(?!\()/.test(text.slice(0, 7)) ? 0 : barsAt;
    // Longer than either ever is: to hold that, too, would leave all of it to the end.
    return at < 0 || text.length - at > reach ? text.length : at;
  };
  return {
    add(line, isNewLine) {
      lineAt = text.length;
      isLineWhole = isNewLine;
      if (isNewLine) barsAt = !line.startsWith("|") ? -1 : barsAt < 0 ? lineAt : barsAt;
      text += lineAt > 0 && isNewLine ? `\n${line}` : line;
    },
    draw(isOpen) {
      cutAfter(element, drawn.last);
      const shown = isOpen ? text.slice(0, findHeld()) : text;
      // The last line but one may still become the head of a table; what is further back depends on nothing that comes.
      renderInline(element, shown, isOpen, { drawn, limit: lineAt - (isLineWhole ? 2 : 1) * (reach + margin) });
    },
    save() {
      const kept = { text, lineAt, isLineWhole, barsAt };
      return () => {
        ({ text, lineAt, isLineWhole, barsAt } = kept);
      };
    },
    get head() {
      const line = isLineWhole ? text.slice(lineAt).trim() : "";
      return line.includes("|") ? line : null;
    },
    cutHead() {
      text = text.slice(0, lineAt);
      if (!text) element.remove();
    },
  };
}

export function createCode(into: HTMLElement, mark: string, indent: number): Code {
  let isEmpty = true;
  return {
    mark,
    indent,
    add(line, isNewLine) {
      // A node for each line: to lengthen one would copy all that it has.
      into.append(isNewLine && !isEmpty ? `\n${line}` : line);
      isEmpty = false;
    },
    draw() {},
    save() {
      const wasEmpty = isEmpty;
      const cut = saveChildren(into);
      return () => {
        isEmpty = wasEmpty;
        cut();
      };
    },
  };
}

export function createTable(into: HTMLElement, head: string, rule: string): Leaf {
  const aligns = readCells(rule).map((cell) => {
    if (!cell.endsWith(":")) return cell.startsWith(":") ? "left" : "";
    return cell.startsWith(":") ? "center" : "right";
  });
  const width = readCells(head).length;
  const add = (line: string, tag: "th" | "td", isOpen: boolean) => {
    const row = h("tr");
    for (const [index, text] of readCells(line).slice(0, width).entries()) {
      const align = aligns[index];
      row.append(renderInline(h(tag, align ? { align } : {}), text, isOpen));
    }
    into.append(row);
  };
  add(head, "th", false);
  return {
    add: (line, _, isOpen) => add(line, "td", isOpen),
    draw(isOpen) {
      into.toggleAttribute("data-open", isOpen);
      if (isOpen) into.setAttribute("width", String(width * columnWidth));
      else into.removeAttribute("width");
    },
    save: () => saveChildren(into),
  };
}
