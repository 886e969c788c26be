/** Usage, summed up by day, companion and key. */
import type { UsageCounts } from "../../domain/usage.ts";
import type { MetadataFilter } from "./companions.ts";

export type UsageGroup = "day" | "companion" | "key";

export interface UsageQuery {
  /** UTC days `YYYY-MM-DD`, both included. */
  fromDay: string;
  toDay: string;
  groupBy: readonly UsageGroup[];
  companionId: string | null;
  metadata: readonly MetadataFilter[];
}

/** One group; a dimension that was not asked for is undefined. `keyId` null is the dashboard, `companionId` null a key's own calls. */
export interface UsageRow extends UsageCounts {
  day?: string;
  companionId?: string | null;
  keyId?: string | null;
}

export interface UsageStore {
  /** Aggregates, ordered by the grouped dimensions (day ascending first). Filters by companion or metadata leave out `requests`. */
  query(accountId: string, query: UsageQuery): Promise<UsageRow[]>;
}
