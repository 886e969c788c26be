/** Replies that failed, as usage counts them: each once, under its kind. */

import type { Services } from "../dependencies.ts";
import type { Companion } from "../domain/companion.ts";
import { findFailureKind } from "../domain/reply-failure.ts";

interface FailedReply {
  companion: Companion;
  /** UTC day of admission. */
  day: string;
  requestId: string;
}

/** Counts a reply that failed before its first text, of which nothing else is kept. Never rejects. */
export async function countFailedReply(
  { store, log }: Pick<Services, "store" | "log">,
  { companion, day, requestId }: FailedReply,
  failure: unknown,
): Promise<void> {
  const kind = findFailureKind(failure);
  if (kind === null) return;
  const { id: companionId, accountId, createdByKeyId: keyId } = companion;
  try {
    await store.turns.recordFailure({ accountId, companionId, keyId, day, kind });
  } catch (error) {
    log.error("failed reply not counted", { requestId, companionId, error });
  }
}
