/** What is left to be removed in the background, as rows. */
import type { RemovalKind } from "../rows/removals.ts";
import { insert, type Script } from "./script.ts";

/** Call it inside a write, and `start` of the removals after it. */
export function* addRemoval(kind: RemovalKind, targetId: string, targetNumber: number, nowMs: number): Script<void> {
  yield* insert("removals", { kind, targetId, targetNumber, createdAt: nowMs });
}
