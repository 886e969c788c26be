/** Replies that failed, as usage counts them: each once, under its kind. */
import type { Companion } from "../domain/companion.ts";
import { type FailureKind, findFailureKind } from "../domain/reply-failure.ts";
import type { ReplyOutcome } from "../llm/provider.ts";
import type { Services } from "./services.ts";

/** Null for a whole reply, and for one that the visitor left. */
export function kindOfOutcome({ complete, failure }: ReplyOutcome): FailureKind | null {
  return complete || failure === null ? null : (findFailureKind(failure) ?? "provider_error");
}

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
