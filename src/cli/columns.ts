/** Text in columns. */

/** Rows of cells padded to equal widths; the last column is not padded. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Lines of at most `width` characters, as far as the words allow. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A table with a header line, or a sentence if it is empty. */
export function formatList(head: readonly string[], rows: readonly (readonly string[])[], ifEmpty: string): string {
  if (rows.length === 0) return ifEmpty;
  return formatColumns([head.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(flatten))]);
}

/** Names come from users: control characters must not reach the terminal. */
function flatten(cell: string): string {
  return cell.replace(/\p{Cc}/gu, " ");
}
