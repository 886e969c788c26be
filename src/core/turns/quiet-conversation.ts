/** Waits until no turn of a conversation runs, for what must not happen beside one. */
import type { ConversationKey } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import type { Services } from "../dependencies.ts";
import { queueKeyOf } from "./conversation-storage.ts";

/** Shorter than browsers and proxies wait for a response. */
export const maxWaitSeconds = 20;
const retryAfterSeconds = 5;

/**
 * Does it in the conversation's queue, as if it were a turn. Rejects with `rate_limited` if too many turns are waiting
 * already, or with `unavailable` if they take too long; then nothing was done.
 */
export async function whileQuiet<Result>(
  { coordination }: Pick<Services, "coordination">,
  key: ConversationKey,
  leaving: AbortSignal,
  work: () => Promise<Result>,
  waitMs = maxWaitSeconds * 1000,
): Promise<Result> {
  const noMessage = { messagesPerDay: null, visitor: null, messageId: null };
  const entry = { companionId: key.companionId, queueKey: queueKeyOf(key), ...noMessage };
  const patience = AbortSignal.any([leaving, AbortSignal.timeout(waitMs)]);
  const verdict = await coordination.turns.enter(entry, patience).catch((error: unknown) => {
    throw patience.aborted ? stillRunning("unavailable", error) : error;
  });
  if (!verdict.isAdmitted) throw stillRunning("rate_limited");
  try {
    return await work();
  } finally {
    verdict.leave();
  }
}

function stillRunning(code: "unavailable" | "rate_limited", cause?: unknown): AppError {
  const sentence = "A reply of this conversation is still running. Try again when it has ended.";
  return new AppError(code, sentence, { retryAfterSeconds, cause });
}
