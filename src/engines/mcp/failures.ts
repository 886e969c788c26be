/** What goes wrong with a server: a sentence for the model, a reason for the owner, and no word of the server's in either. */
import type { OutgoingFailure } from "../../contracts/outgoing-http.ts";
import type { ErrorReply, Failure } from "./messages.ts";

const sentences = {
  away: "The tool could not be reached, so nothing was done.",
  refused: "The tool did not accept the call.",
  unknown: "The tool did not answer properly, and whether it did what was asked is not known.",
  late: "The tool did not answer in time, and whether it did what was asked is not known.",
  long: "The tool's answer is too long to be read.",
  asking: "The tool asks for something that cannot be given to it here, so it did not finish.",
} as const;

function fail(sentence: keyof typeof sentences, reason: string): Failure {
  return { sentence: sentences[sentence], reason };
}

export const failures = {
  garbled: fail("unknown", "The server's response is no message of MCP."),
  cut: fail("unknown", "The server's response ended before it was complete."),
  compressed: fail("unknown", "The server compressed its response, which it was not asked to."),
  long: fail("long", "The server's response is too long."),
  asking: fail(
    "asking",
    "The server asks for input of its own (sampling, elicitation or roots), which is not offered.",
  ),
  version: fail("away", "The server speaks no version of MCP that is spoken here: 2026-07-28 or 2025-11-25."),
  closing: fail("unknown", "This server is stopping."),
  reported: "The tool reported an error.",
} as const;

/** Of the whole call: whether it has arrived depends on how far it came. */
export function failLate(timeoutMs: number, wasSent: boolean): Failure {
  return fail(wasSent ? "late" : "away", `The server did not answer within ${timeoutMs / 1000} s.`);
}

export function failOutgoing({ kind, reason }: OutgoingFailure): Failure {
  if (kind === "timeout") return fail("late", reason);
  return fail(kind === "broken" || kind === "too_large" ? "unknown" : "away", reason);
}

export function failStatus(status: number): Failure {
  if (status === 401 || status === 403) return fail("refused", `The server refuses access (status ${status}).`);
  if (status >= 300 && status < 400)
    return fail("refused", `The server redirects (status ${status}), which is not followed.`);
  return fail(status < 500 ? "refused" : "unknown", `The server answered with status ${status}.`);
}

export function failError({ code, status }: ErrorReply): Failure {
  if (status >= 300) return failStatus(status);
  return fail("refused", `The server answered with the error ${code}.`);
}
