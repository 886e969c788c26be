/** Usage, summed by day, companion and key. */
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { UsageCounts } from "../../domain/usage.ts";
import type { MetadataFilter } from "./companions.ts";

export type UsageGroup = "day" | "companion" | "key";

export interface UsageQuery {
  /** UTC days `YYYY-MM-DD`, both inclusive. */
  fromDay: string;
  toDay: string;
  groupBy: readonly UsageGroup[];
  companionId: string | null;
  metadata: readonly MetadataFilter[];
}

/**
 * One group; dimensions that were not requested are undefined. `keyId` null is the dashboard, `companionId` null a
 * key's own calls.
 */
export interface UsageRow extends UsageCounts {
  day?: string;
  companionId?: string | null;
  keyId?: string | null;
}

export interface FailureQuery {
  /** UTC days `YYYY-MM-DD`, both inclusive. */
  fromDay: string;
  toDay: string;
  /** Null: all of the account's companions, including deleted ones. */
  companionId: string | null;
}

export interface FailureRow {
  kind: FailureKind;
  replies: number;
  /** The last day of the range on which it happened. */
  lastDay: string;
}

export interface UsageStore {
  /**
   * Aggregates, ordered by the grouped dimensions (day ascending first). Filters by companion or metadata leave out
   * `requests`.
   */
  query(accountId: string, query: UsageQuery): Promise<UsageRow[]>;
  /** Failed replies by kind, most frequent first. */
  queryFailures(accountId: string, query: FailureQuery): Promise<FailureRow[]>;
}
