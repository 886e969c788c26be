/** Adds to usage: by day, by month, and by day for the whole account. */
import type { UsageCounts } from "../../domain/usage.ts";
import { counters, type UsageKey } from "../store-shared/rows/usage-counters.ts";
import type { Parameter, Queries } from "./queries.ts";
import { placeholders, toArrays } from "./rows/columns.ts";

export interface UsageAddition extends UsageKey, Partial<UsageCounts> {}

/** Of the parameters of `add_usage`. */
export const usageTypes = [...Array(4).fill("text[]"), ...counters.map(() => "bigint[]"), "text[]", "text[]"];

export const toUsageArrays = (additions: readonly UsageAddition[]): Parameter[] =>
  toArrays(additions, [
    ({ accountId }) => accountId,
    ({ companionId }) => companionId ?? "",
    ({ day }) => day,
    ({ keyId }) => keyId ?? "",
    ...counters.map((name) => (counts: UsageAddition) => counts[name] ?? 0),
    ({ answeredBy }) => answeredBy?.model ?? "",
    ({ answeredBy }) => answeredBy?.provider ?? "",
  ]);

const addUsage = `SELECT add_usage(${placeholders(usageTypes)})`;

export type UsageWriter = ReturnType<typeof createUsageWriter>;

export function createUsageWriter() {
  return {
    /** Keeps the metadata of a companion that is about to go: its last turns may not have ended. */
    async keepLabel(transaction: Queries, companionId: string): Promise<void> {
      await transaction.run("SELECT label_usage(ARRAY[$1::text], ARRAY[''])", [companionId]);
    },

    /** All in one statement; the same key may occur several times. Call it inside a write. */
    async add(transaction: Queries, additions: readonly UsageAddition[]): Promise<void> {
      if (additions.length > 0) await transaction.run(addUsage, toUsageArrays(additions));
    },
  };
}
