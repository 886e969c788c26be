/** Writes many rows without keeping others waiting: there may be fifty thousand. */
import { pause } from "../../lib/pause.ts";

/** Some milliseconds of work. */
const rowsPerSlice = 500;

/** The rows' texts, one behind the other, as UTF-8; with `between` between two. */
export async function writeRows<Row>(
  rows: readonly Row[],
  write: (row: Row) => string,
  between = "",
): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < rows.length; at += rowsPerSlice) {
    if (at > 0) await pause();
    const text = rows
      .slice(at, at + rowsPerSlice)
      .map(write)
      .join(between);
    pieces.push(Buffer.from(at > 0 ? between + text : text));
  }
  return pieces;
}
