/** What goes wrong with a server: a sentence for the model, a reason for the owner, and no word of the server's in either. */
import type { OutgoingFailure } from "../../contracts/outgoing-http.ts";
import type { Failure, Reply, ResultReply } from "./messages.ts";

const uncertain = "so it is not known whether it did what it was asked to.";

const sentences = {
  away: "The tool could not be reached; nothing was done.",
  unset: "The tool could not be called: it is not set up correctly.",
  refused: "The tool refused the call.",
  busy: "The tool is busy at present; nothing was done.",
  unknown: `The tool did not answer properly, ${uncertain}`,
  late: `The tool did not answer in time, ${uncertain}`,
  long: "The tool's answer is too long to be read.",
  asking: "The tool asks for input that is not available here, so it did not finish.",
} as const;

function fail(sentence: keyof typeof sentences, reason: string): Failure {
  return { sentence: sentences[sentence], reason };
}

export const failures = {
  garbled: fail("unknown", "The server's response is not an MCP message."),
  cut: fail("unknown", "The server's response ended before it was complete."),
  compressed: fail("unknown", "The server compressed its response without being asked to."),
  long: fail("long", "The server's response is too long."),
  asking: fail("asking", "The server asks for input (sampling, elicitation or roots), which is not supported."),
  version: fail("unset", "The server supports no MCP version that is supported here: 2026-07-28 or 2025-11-25."),
  closing: fail("unknown", "This server is stopping."),
  reported: "The tool reported an error.",
} as const;

/** Of the whole call: whether it has arrived depends on how far it came. */
export function failLate(timeoutMs: number, wasSent: boolean): Failure {
  return fail(wasSent ? "late" : "away", `The server did not answer within ${timeoutMs / 1000} s.`);
}

/** Of a server that was asked nothing yet but which protocol it speaks: nothing can be uncertain. */
export function failUnopened({ sentence, reason }: Failure): Failure {
  const isCertain = [sentences.unset, sentences.refused, sentences.busy].some((one) => one === sentence);
  return isCertain ? { sentence, reason } : fail("away", reason);
}

export function failOutgoing({ kind, reason }: OutgoingFailure): Failure {
  const sentenceOf = {
    url: "unset",
    headers: "unset",
    not_connected: "away",
    timeout: "late",
    broken: "unknown",
    too_large: "long",
  } as const;
  return fail(sentenceOf[kind], reason);
}

export function failReply(reply: Exclude<Reply, ResultReply>): Failure {
  if (reply.kind === "failed") return reply.failure;
  if (reply.kind === "status" || reply.status >= 300) return failStatus(reply.status);
  return fail("refused", `The server answered with the error ${reply.code}.`);
}

function failStatus(status: number): Failure {
  if (status === 401 || status === 403) return fail("refused", `The server refuses access (status ${status}).`);
  if (status >= 300 && status < 400)
    return fail("refused", `The server redirects (status ${status}), which is not followed.`);
  const isBusy = status === 429 || status === 503;
  return fail(isBusy ? "busy" : status < 500 ? "refused" : "unknown", `The server answered with status ${status}.`);
}
