/** Usage on the wire: rows, failures and quotas. */
import type { FailureRow, UsageGroup, UsageRow } from "../../contracts/store/store.ts";
import { roundToMicros } from "../../domain/money.ts";
import type { UsageCounts } from "../../domain/usage.ts";

export function toWireFailures({ kind, replies, lastDay }: FailureRow) {
  return { kind, replies, last_day: lastDay };
}

export function toWireQuota(limit: number, used: number) {
  return { limit, used, left: Math.max(0, limit - used) };
}

export type WireRow = Record<string, string | number | null>;

export function toWireUsage(row: UsageRow, groupBy: readonly UsageGroup[]): WireRow {
  return {
    ...(groupBy.includes("day") ? { day: row.day ?? null } : {}),
    ...(groupBy.includes("companion") ? { companion_id: row.companionId ?? null } : {}),
    ...(groupBy.includes("key") ? { key_id: row.keyId ?? null } : {}),
    ...(groupBy.includes("month") ? { month: row.month ?? null } : {}),
    ...(groupBy.includes("model") ? { model: row.model ?? null } : {}),
    ...(groupBy.includes("provider") ? { provider: row.provider ?? null } : {}),
    ...row.metadata,
    ...toWireCounts(row),
  };
}

export function toWireCounts(counts: UsageCounts) {
  return {
    messages: counts.messages,
    requests: counts.requests,
    input_tokens: counts.inputTokens,
    output_tokens: counts.outputTokens,
    voice_sessions: counts.voiceSessions,
    errors: counts.errors,
    cached_tokens: counts.cachedTokens,
    cost_micros: counts.unpriced > 0 ? null : roundToMicros({ micros: counts.costMicros, picos: counts.costPicos }),
    reasoning_tokens: counts.reasoningTokens,
    cache_write_tokens: counts.cacheWriteTokens,
  };
}
