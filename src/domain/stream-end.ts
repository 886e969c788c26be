/** How the stream of a reply ends, in terms shared by its client, the log and the metrics. */

/** How a stream ended: complete, broken off with a comment, or silently because the visitor left. */
export type StreamOutcome = "complete" | "broken" | "left";

/**
 * Why a stream ends without its terminator, as sent in its last comment. `taken`: a person has the conversation; a
 * question without a reply that ended so was kept for people.
 */
export const streamErrorCodes = [
  "upstream_error",
  "unavailable",
  "too_long",
  "cancelled",
  "abandoned",
  "taken",
] as const;
export type StreamErrorCode = (typeof streamErrorCodes)[number];

/** A visitor who leaves or stops the reply is no failure, nor is a person who takes the conversation. */
const intendedEnds: readonly StreamErrorCode[] = ["cancelled", "abandoned", "taken"];
/** Ends of replies that failed. */
export const failedEndCodes = streamErrorCodes.filter((code) => !intendedEnds.includes(code));
