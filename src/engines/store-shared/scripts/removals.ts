/** What is left to be removed in the background, as rows. */
import { insert, type Script } from "./script.ts";

/**
 * What can be left to be removed in the background: the same in every engine, since a copy takes it along.
 * `target_id` and `target_number`: of an account, a companion and a conversation its own; of an edition its number in
 * both; of an upload and a webhook its id, and 0.
 */
export type RemovalKind = "account" | "companion" | "conversation" | "edition" | "upload" | "webhook";

/** Call it inside a write, and `start` of the removals after it. */
export function* addRemoval(kind: RemovalKind, targetId: string, targetNumber: number, nowMs: number): Script<void> {
  yield* insert("removals", { kind, targetId, targetNumber, createdAt: nowMs });
}
