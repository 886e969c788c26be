/**
 * Replies that failed before their first text: the public error, and the count in usage, once per reply under its kind.
 */
import type { Services } from "../dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { findFailureKind } from "../domain/reply-failure.ts";
import type { TurnStart } from "./turn-start.ts";

export function toUpstreamError(failure: unknown): AppError {
  if (failure instanceof AppError) return failure;
  const sentence = "The language model could not answer. Try again in a moment.";
  return new AppError("upstream_error", sentence, { cause: failure });
}

/** Counts the failure in usage; stores nothing else. `day` is the UTC day of admission. Never rejects. */
export async function countFailedReply(
  { store, log }: Pick<Services, "store" | "log">,
  { companion, keyId, requestId }: Pick<TurnStart, "companion" | "keyId" | "requestId">,
  day: string,
  failure: unknown,
): Promise<void> {
  const kind = findFailureKind(failure);
  if (kind === null) return;
  const { id: companionId, accountId } = companion;
  try {
    await store.turns.recordFailure({ accountId, companionId, keyId, day, kind });
  } catch (error) {
    log.error("failed reply not counted", { requestId, companionId, error });
  }
}
