/** Why replies failed, in words for the companion's owner, and what may help. */
import { formatNumber } from "../lib/format.ts";
import type { FailedReplies } from "../lib/types.ts";

const forTheOperator = "The operator of this server has to fix that.";

const words: Record<string, { why: string; remedy: string }> = {
  refused_key: { why: "The provider refused the server's key", remedy: forTheOperator },
  unknown_model: { why: "The provider does not know the model", remedy: "Choose another model in the settings." },
  refused_request: {
    why: "The provider refused the request",
    remedy: "Look at the longest reply and the length of the system prompt, or choose another model.",
  },
  rate_limited: {
    why: "The provider's limit or credit is used up",
    remedy: "It may pass by itself. If not, tell the operator of this server.",
  },
  provider_error: { why: "The provider failed on its side", remedy: "It passes by itself, as a rule." },
  unreachable: { why: "The provider could not be reached", remedy: "If it lasts, tell the operator of this server." },
  timed_out: { why: "The provider took too long", remedy: "Try a faster model, or a shorter system prompt." },
  broken_off: { why: "The reply broke off midway", remedy: "It passes by itself, as a rule." },
  empty: {
    why: "The reply was empty",
    remedy: "If it happens again, choose another model.",
  },
  no_room: {
    why: "The model thought until it had no tokens left for an answer",
    remedy: "Allow a longer reply, let it think less, or choose another model.",
  },
  filtered: {
    why: "The provider's filter left nothing of the reply",
    remedy: "A message can bring that about. If many do, look at the system prompt, or choose another model.",
  },
  malformed: { why: "The provider sent something unreadable", remedy: forTheOperator },
};

export function explainFailure(kind: string): { why: string; remedy: string } {
  return words[kind] ?? { why: kind, remedy: "" };
}

/** These last until somebody does something. */
const lasting = ["refused_key", "unknown_model", "refused_request"];

/** The kind to show if there is room for one: a lasting one, however rare, or else the most frequent. */
export function pickTold(mostFirst: readonly FailedReplies[]): FailedReplies | null {
  return mostFirst.find(({ kind }) => lasting.includes(kind)) ?? mostFirst[0] ?? null;
}

export function sumFailures(rows: readonly FailedReplies[]): number {
  return rows.reduce((sum, { replies }) => sum + replies, 0);
}

/** "12 replies". */
export function countReplies(replies: number): string {
  return `${formatNumber(replies)} ${replies === 1 ? "reply" : "replies"}`;
}
