/** What the reading process reports on its standard output: one JSON object a line, each of bounded length. */
import type { FailureReason } from "./failure.ts";

export type Report =
  /** First of all, before any byte of the document is read. */
  | { is: "confined" | "unconfined" }
  | { is: "title"; title: string | null }
  /** A page comes in pieces, so that the server never parses much in one go. */
  | { is: "text"; page: number | null; text: string }
  | { is: "failed"; reason: FailureReason }
  /** Last, or the document was not read to its end. */
  | { is: "read" };

/** Characters of a piece. */
export const pieceLength = 32 * 1024;
