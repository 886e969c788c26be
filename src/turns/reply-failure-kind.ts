/** As what a reply counts that did not come whole. */
import { type FailureKind, findFailureKind } from "../domain/reply-failure.ts";
import type { ReplyOutcome } from "../llm/provider.ts";

/** Null for a whole reply, and for one that the visitor left. */
export function kindOfOutcome({ complete, failure }: ReplyOutcome): FailureKind | null {
  return complete || failure === null ? null : (findFailureKind(failure) ?? "provider_error");
}
