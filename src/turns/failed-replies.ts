/**
 * Replies that failed before their first text: the public error, and the count in usage, once per reply under its kind.
 */
import type { Services } from "../dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { findFailureKind } from "../domain/reply-failure.ts";
import { releaseSpending } from "./spending.ts";
import type { TurnStart } from "./turn-start.ts";

export function toUpstreamError(failure: unknown): AppError {
  if (failure instanceof AppError) return failure;
  const sentence = "The language model could not answer. Try again in a moment.";
  return new AppError("upstream_error", sentence, { cause: failure });
}

/**
 * Counts the failure in usage, and ends what was reserved; stores nothing else. `day` is the UTC day of admission. Never
 * rejects.
 */
export async function countFailedReply(
  services: Pick<Services, "store" | "log">,
  { companion, keyId, requestId }: Pick<TurnStart, "companion" | "keyId" | "requestId">,
  { day, reservationId }: { day: string; reservationId: string | null },
  failure: unknown,
): Promise<void> {
  const { store, log } = services;
  const kind = findFailureKind(failure);
  if (kind === null) {
    if (reservationId !== null) await releaseSpending(services, reservationId);
    return;
  }
  const { id: companionId, accountId } = companion;
  try {
    await store.turns.recordFailure({ accountId, companionId, keyId, day, kind, reservationId });
  } catch (error) {
    log.error("failed reply not counted", { requestId, companionId, error });
  }
}
