/** Rows of cells as a pipe table in Markdown. */

/** What a table is filled up to, at most: a single long row must not multiply the others. */
export const maxColumns = 200;

/** The first row is the head. */
export function writeTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((widest, row) => Math.min(maxColumns, Math.max(widest, row.length)), 1);
  const [head = [], ...rest] = rows;
  return [writeRow(head, width), writeRule(width), ...rest.map((row) => writeRow(row, width))].join("\n");
}

/** Filled up to the width, never cut. */
export function writeRow(row: readonly string[], width: number): string {
  const cells = row.map(writeCell);
  while (cells.length < width) cells.push("");
  return `| ${cells.join(" | ")} |`;
}

/** What stands below the head. */
export function writeRule(width: number): string {
  return `|${" --- |".repeat(width)}`;
}

function writeCell(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
}
