/** How the stream of a reply ends, in words that its reader, the log and the metrics share. */

/** How a stream ended: whole, broken off with a comment, or without a word because the visitor has gone. */
export type StreamOutcome = "complete" | "broken" | "left";

/** Why a stream ends without its terminator, in its last comment. */
export type StreamErrorCode = "upstream_error" | "unavailable" | "too_long";
