/** A tree of HTML as Markdown: headings, lists, tables and code stay; links and emphasis become their words. */
import { writeTable } from "../tables.ts";

/** Only the part of the tree that is used here; the parser decides what it is. */
export interface MarkupNode {
  readonly nodeType: number;
  readonly localName?: string | null;
  readonly textContent: string | null;
  readonly childNodes: Iterable<MarkupNode>;
  getAttribute?(name: string): string | null;
}

const skipped = new Set(
  "script style noscript template head svg canvas iframe object embed audio video select datalist".split(" "),
);
const inline = new Set(
  (
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark math meter " +
    "output picture q ruby rb rt rp s samp small source span strike strong sub sup time tt u var wbr nobr slot"
  ).split(" "),
);
/** Beyond it words are kept, but no structure: hostile pages are nested as deep as a stack ends. */
const maxDepth = 200;

/** Gathers the words of a line until a block ends it. */
class Blocks {
  readonly done: string[] = [];
  #line: string[] = [];

  say(words: string): void {
    this.#line.push(words);
  }

  end(): void {
    const lines = this.#line.join("").split("\n");
    this.#line = [];
    this.push(
      lines
        .map((line) => line.replace(/[ \t\r\f\u00a0]+/g, " ").trim())
        .filter((line) => line !== "")
        .join("\n"),
    );
  }

  push(block: string): void {
    if (block !== "") this.done.push(block);
  }
}

export function writeMarkdown(root: MarkupNode): string {
  return writeBlocks(root, 0).join("\n\n");
}

function writeBlocks(node: MarkupNode, depth: number): string[] {
  const blocks = new Blocks();
  writeChildren(node, blocks, depth);
  blocks.end();
  return blocks.done;
}

function writeChildren(node: MarkupNode, blocks: Blocks, depth: number): void {
  for (const child of node.childNodes) {
    if (child.nodeType === 3) blocks.say((child.textContent ?? "").replace(/\s+/g, " "));
    if (child.nodeType === 1) writeElement(child, blocks, depth + 1);
  }
}

function writeElement(element: MarkupNode, blocks: Blocks, depth: number): void {
  const name = element.localName ?? "";
  if (skipped.has(name)) return;
  if (depth > maxDepth) blocks.say(` ${(element.textContent ?? "").replace(/\s+/g, " ")} `);
  else if (name === "br") blocks.say("\n");
  else if (name === "img") blocks.say(` ${element.getAttribute?.("alt") ?? ""} `);
  else if (inline.has(name)) writeChildren(element, blocks, depth);
  else {
    blocks.end();
    writeBlock(name, element, blocks, depth);
    blocks.end();
  }
}

function writeBlock(name: string, element: MarkupNode, blocks: Blocks, depth: number): void {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) {
    const words = writeBlocks(element, depth).join(" ").replace(/\s+/g, " ");
    if (words !== "") blocks.push(`${"#".repeat(Number(level))} ${words}`);
  } else if (name === "pre") {
    writeCode(element, blocks);
  } else if (name === "ul" || name === "ol" || name === "menu") {
    writeList(element, name === "ol", blocks, depth);
  } else if (name === "table") {
    writeTableElement(element, blocks, depth);
  } else if (name === "blockquote") {
    blocks.push(prefixLines(writeBlocks(element, depth).join("\n\n"), "> ", "> "));
  } else {
    writeChildren(element, blocks, depth);
  }
}

function writeCode(element: MarkupNode, blocks: Blocks): void {
  const code = (element.textContent ?? "").replace(/^\n+/, "").trimEnd();
  if (code === "") return;
  const longest = Math.max(2, ...(code.match(/`{3,}/g) ?? []).slice(0, 1000).map((fence) => fence.length));
  const fence = "`".repeat(longest + 1);
  blocks.push(`${fence}\n${code}\n${fence}`);
}

function writeList(element: MarkupNode, isNumbered: boolean, blocks: Blocks, depth: number): void {
  const items: string[] = [];
  for (const child of element.childNodes) {
    if (child.nodeType !== 1 || skipped.has(child.localName ?? "")) continue;
    const isNested = /^(?:ul|ol|menu)$/.test(child.localName ?? "");
    const text = isNested
      ? writeBlocks({ nodeType: 1, textContent: null, childNodes: [child] }, depth).join("\n")
      : writeBlocks(child, depth + 1).join("\n");
    if (text === "") continue;
    const marker = isNumbered ? `${items.length + 1}. ` : "- ";
    items.push(isNested ? prefixLines(text, "  ", "  ") : prefixLines(text, marker, " ".repeat(marker.length)));
  }
  blocks.push(items.join("\n"));
}

function prefixLines(text: string, first: string, rest: string): string {
  if (text === "") return "";
  return text
    .split("\n")
    .map((line, at) => (at === 0 ? first : rest) + line)
    .join("\n");
}

/** A table within a cell, or of a single column, serves for layout. */
function writeTableElement(table: MarkupNode, blocks: Blocks, depth: number): void {
  const rows: MarkupNode[][] = [];
  let isLayout = false;
  const collect = (node: MarkupNode, row: MarkupNode[] | null): void => {
    for (const child of node.childNodes) {
      const name = child.localName ?? "";
      if (child.nodeType !== 1) continue;
      if (name === "caption") blocks.push(writeBlocks(child, depth + 1).join(" "));
      else if (name === "tr") {
        const cells: MarkupNode[] = [];
        rows.push(cells);
        collect(child, cells);
      } else if (name === "td" || name === "th") {
        if (row === null) rows.push([child]);
        else row.push(child);
        isLayout ||= hasTable(child);
      } else if (/^t(?:head|body|foot)$/.test(name)) collect(child, null);
    }
  };
  collect(table, null);
  if (isLayout || rows.every((row) => row.length < 2)) {
    for (const cell of rows.flat()) for (const block of writeBlocks(cell, depth + 1)) blocks.push(block);
    return;
  }
  blocks.push(writeTable(spreadCells(rows, depth)));
}

function hasTable(cell: MarkupNode): boolean {
  return [...cell.childNodes].some(
    (child) =>
      child.localName === "table" ||
      (/^(?:div|center|p)$/.test(child.localName ?? "") &&
        [...child.childNodes].some((one) => one.localName === "table")),
  );
}

/** A cell over several rows is repeated in each of them, so that every row can stand alone. */
function spreadCells(rows: readonly MarkupNode[][], depth: number): string[][] {
  const hanging = new Map<number, { text: string; rows: number }>();
  return rows.map((cells) => {
    const row: string[] = [];
    const fillIn = () => {
      for (let above = hanging.get(row.length); above !== undefined; above = hanging.get(row.length)) {
        if (above.rows-- <= 1) hanging.delete(row.length);
        row.push(above.text);
      }
    };
    for (const cell of cells) {
      fillIn();
      const text = writeBlocks(cell, depth + 1).join(" ");
      const down = readSpan(cell, "rowspan") - 1;
      for (let across = readSpan(cell, "colspan"); across > 0; across--) {
        if (down > 0) hanging.set(row.length, { text, rows: down });
        row.push(across === 1 || down > 0 ? text : "");
      }
    }
    fillIn();
    return row;
  });
}

function readSpan(cell: MarkupNode, name: string): number {
  const span = Number.parseInt(cell.getAttribute?.(name) ?? "1", 10);
  return span > 0 ? Math.min(span, 100) : 1;
}
