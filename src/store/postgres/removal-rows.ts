/** What is to be removed later, as rows: see `removals.ts`. */
import type { RemovalKind } from "../rows/removals.ts";
import type { Queries } from "./queries.ts";

const insertRemoval = "INSERT INTO removals (kind, target_id, target_number, created_at) VALUES ($1, $2, $3, $4)";

/** Call it inside a write, and `start` of the removals after it. */
export async function addRemoval(
  transaction: Queries,
  kind: RemovalKind,
  targetId: string,
  targetNumber: number,
  nowMs: number,
): Promise<void> {
  await transaction.run(insertRemoval, [kind, targetId, targetNumber, nowMs]);
}
