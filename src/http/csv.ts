/** Cells of CSV files, for spreadsheets. */

/** Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function toCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
