/** Rows of cells as a pipe table in Markdown. */

/** The first row is the head; rows are filled up or, beyond 200 cells, cut to the same width. */
export function writeTable(rows: readonly (readonly string[])[]): string {
  let width = 1;
  for (const row of rows) width = Math.min(200, Math.max(width, row.length));
  const lines = rows.map(
    (row) => `| ${Array.from({ length: width }, (_, at) => writeCell(row[at] ?? "")).join(" | ")} |`,
  );
  if (lines.length > 0) lines.splice(1, 0, `|${" --- |".repeat(width)}`);
  return lines.join("\n");
}

function writeCell(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
}
