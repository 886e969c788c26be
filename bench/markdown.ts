/** Tables and figures as the report prints them. */

export type Cell = string | number;

export function table(header: Cell[], rows: Cell[][]): string {
  const line = (cells: Cell[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

export const fixed = (value: number, digits = 2) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
export const percent = (share: number) => (Number.isFinite(share) ? `${fixed(share * 100, 0)} %` : "–");
export const MiB = (KiB: number) => fixed(KiB / 1024, 1);
