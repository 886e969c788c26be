/** Counts messages and voice sessions of a companion's day. */
import type { Parameter, Queries } from "./queries.ts";
import { placeholders, toArrays } from "./rows/columns.ts";

export type QuotaKind = "messages" | "voice_sessions";

/** One message or voice session. */
export interface QuotaAddition {
  kind: QuotaKind;
  companionId: string;
  day: string;
}

/** Of the parameters of `add_quota`. */
export const quotaTypes = ["text[]", "text[]", "bigint[]", "bigint[]"];

export const toQuotaArrays = (additions: readonly QuotaAddition[]): Parameter[] =>
  toArrays(additions, [
    ({ companionId }) => companionId,
    ({ day }) => day,
    ({ kind }) => (kind === "messages" ? 1 : 0),
    ({ kind }) => (kind === "messages" ? 0 : 1),
  ]);

const addQuota = `SELECT add_quota(${placeholders(quotaTypes)})`;
const selectCounts = `SELECT messages::float8 AS messages, voice_sessions::float8 AS voice_sessions FROM quota_daily
  WHERE companion_id = $1 AND day = $2`;

export type QuotaCounts = ReturnType<typeof createQuotaCounts>;

export function createQuotaCounts() {
  return {
    /** All in one statement; what belongs to deleted companions is not counted. Call it inside a write. */
    async add(transaction: Queries, additions: readonly QuotaAddition[]): Promise<void> {
      if (additions.length > 0) await transaction.run(addQuota, toQuotaArrays(additions));
    },

    async count(queries: Queries, kind: QuotaKind, companionId: string, day: string): Promise<number> {
      return (await queries.get<Record<QuotaKind, number>>(selectCounts, [companionId, day]))?.[kind] ?? 0;
    },
  };
}
