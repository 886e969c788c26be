/** Tables of values separated by commas, semicolons, tabs or bars, as one pipe table; the first row is its head. */
import type { ParsedDocument } from "../../../../domain/knowledge.ts";
import { decodeText } from "../characters.ts";
import { cleanText } from "../plain-text.ts";
import { maxColumns, writeRow, writeRule } from "../tables.ts";

const separators = [",", ";", "\t", "|"];

export function readCsv(bytes: Uint8Array, charset: string | null): ParsedDocument {
  const decoded = decodeText(bytes, [charset]).replace(/^\ufeff/, "");
  // What spreadsheets write and read to declare the separator.
  const [declaration = "", named] = /^sep=(.)\r?\n/i.exec(decoded) ?? [];
  const text = decoded.slice(declaration.length);
  const lines: string[] = [];
  let width = 0;
  // Row by row: as arrays of cells, a large table takes twenty times its size.
  for (const row of parseRows(text, named ?? findSeparator(text))) {
    if (width === 0) width = Math.min(row.length, maxColumns);
    lines.push(writeRow(row, width));
    if (lines.length === 1) lines.push(writeRule(width));
  }
  return { title: null, pages: [{ number: null, markdown: cleanText(lines.join("\n")) }] };
}

/** The one that most lines have, and equally many of. */
function findSeparator(text: string): string {
  const sample = text.slice(0, 64 * 1024);
  let best = { separator: ",", score: 0 };
  for (const separator of separators) {
    const widths = parseRows(sample, separator)
      .take(50)
      .map((row) => row.length)
      .toArray();
    const [head = 1] = widths;
    const score = head < 2 ? 0 : widths.filter((width) => width === head).length * 100 + head;
    if (score > best.score) best = { separator, score };
  }
  return best.separator;
}

/** A quote that nothing closes ends with the text. */
function* parseRows(text: string, separator: string): Generator<string[], undefined> {
  let row: string[] = [];
  let at = 0;
  const plainEnd = new RegExp(`[${RegExp.escape(separator)}\\r\\n]`, "g");
  while (at < text.length) {
    if (text[at] === '"') {
      const [cell, end] = parseQuoted(text, at + 1);
      row.push(cell);
      at = end;
    } else {
      plainEnd.lastIndex = at;
      const end = plainEnd.exec(text)?.index ?? text.length;
      row.push(text.slice(at, end));
      at = end;
    }
    // Words between a closing quote and the separator are no standard, but content.
    plainEnd.lastIndex = at;
    const end = plainEnd.exec(text)?.index ?? text.length;
    if (end > at) row.push(`${row.pop() ?? ""}${text.slice(at, end)}`);
    at = end;
    if (text[at] !== separator) {
      if (hasCells(row)) yield row;
      row = [];
    } else if (at + 1 === text.length) row.push("");
    at += text.startsWith("\r\n", at) ? 2 : 1;
  }
  if (hasCells(row)) yield row;
}

function hasCells(row: readonly string[]): boolean {
  return row.some((cell) => cell.trim() !== "");
}

function parseQuoted(text: string, start: number): [cell: string, end: number] {
  let cell = "";
  let at = start;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return [cell + text.slice(at), text.length];
    cell += text.slice(at, quote);
    if (text[quote + 1] !== '"') return [cell, quote + 1];
    cell += '"';
    at = quote + 2;
  }
}
