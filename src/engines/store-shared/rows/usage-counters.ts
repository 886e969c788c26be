/** What usage counts, with its columns: the same in all tables of usage and in both engines. */
import type { Answerer, UsageCounts } from "../../../domain/usage.ts";

export interface UsageKey {
  accountId: string;
  /** Null for a key's own calls. */
  companionId: string | null;
  /** Null for the dashboard. */
  keyId: string | null;
  day: string;
  /** Null where no one replied. */
  answeredBy: Answerer | null;
}

export const counterColumns: Readonly<Record<keyof UsageCounts, string>> = {
  messages: "messages",
  requests: "requests",
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  voiceSessions: "voice_sessions",
  errors: "errors",
  cachedTokens: "cached_tokens",
  costMicros: "cost_micros",
  costPicos: "cost_picos",
  unpriced: "unpriced",
  reasoningTokens: "reasoning_tokens",
  cacheWriteTokens: "cache_write_tokens",
};
export const counters = Object.keys(counterColumns) as (keyof UsageCounts)[];
