/** Usage, summed by the dimensions recorded with it: day, companion, key, who replied, and the companion's metadata. */
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { UsageCounts } from "../../domain/usage.ts";
import type { MetadataFilter } from "./companions.ts";

/**
 * `metadata.<path>` is a field of the metadata that the companion had when it was counted. A dot descends, as in filters;
 * a field whose own name has the dot comes first.
 */
export type UsageGroup = "day" | "companion" | "key" | "month" | "model" | "provider" | `metadata.${string}`;

export interface UsageQuery {
  /** UTC days `YYYY-MM-DD`, both inclusive. */
  fromDay: string;
  toDay: string;
  /** Each once. */
  groupBy: readonly UsageGroup[];
  companionId: string | null;
  /** On what was recorded: later changes of companions, and their deletion, move nothing. */
  metadata: readonly MetadataFilter[];
}

/**
 * One group; dimensions that were not requested are undefined. `keyId` null is the dashboard, `companionId` null a
 * key's own calls, `model` and `provider` null where no one replied, or where that was not recorded yet.
 */
export interface UsageRow extends UsageCounts {
  day?: string;
  companionId?: string | null;
  keyId?: string | null;
  /** `YYYY-MM`. */
  month?: string;
  model?: string | null;
  provider?: string | null;
  /**
   * By group, `metadata.` included: a text as it is, anything else as its JSON text. Null where the field is absent or
   * null.
   */
  metadata?: Readonly<Record<string, string | null>>;
}

/**
 * Where a row stands in the order of rows: its value of each group, long values of metadata shortened, in the order day,
 * companion, key, month, model, provider, metadata as requested. Null comes first.
 */
export type UsagePosition = readonly (string | null)[];

export interface UsagePageRequest {
  /** At least 1. */
  limit: number;
  /** The last row of the page before; null for the first page. */
  after: UsagePosition | null;
}

export interface UsagePage {
  rows: UsageRow[];
  /** Where the next page starts (`after`), or null on the last page. */
  next: UsagePosition | null;
}

/** What a companion used in one day under one metadata, with replies of one model and provider. */
export interface UsageEvent extends UsageCounts {
  /** 64 hexadecimal digits, the same for the same account, companion, day, model, provider and metadata everywhere. */
  identifier: string;
  day: string;
  companionId: string;
  model: string | null;
  provider: string | null;
  /** JSON text of an object. */
  metadata: string;
}

/** The position of an event in the order of events: by day, companion and identifier. */
export interface UsageEventPosition {
  day: string;
  /** With `identifier` empty: the first of the day. */
  companionId: string;
  identifier: string;
}

export interface UsageEventQuery {
  /** UTC days `YYYY-MM-DD`, both inclusive. */
  fromDay: string;
  toDay: string;
  after: UsageEventPosition | null;
}

/** A few events, possibly none; `next` is where to go on (`after`), null at the end. */
export interface UsageEventSlice {
  events: UsageEvent[];
  next: UsageEventPosition | null;
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
   * Aggregates, ordered as by `UsagePosition`. Filters by companion or metadata leave out `requests`. What is counted
   * meanwhile may be missing. It gives up after `maxRows`: more rows than that mean that there are too many, and are
   * not all.
   */
  query(accountId: string, query: UsageQuery, maxRows?: number): Promise<UsageRow[]>;
  /**
   * A page of the same rows in the same order, in memory that is bounded by the page. Where rows are grouped by companion
   * it reads little more than the page; otherwise each page adds up everything.
   */
  queryPage(accountId: string, query: UsageQuery, page: UsagePageRequest): Promise<UsagePage>;
  /** The next events, after bounded work. Calls of keys are none. */
  listEvents(accountId: string, query: UsageEventQuery): Promise<UsageEventSlice>;
  /** Failed replies by kind, most frequent first. */
  queryFailures(accountId: string, query: FailureQuery): Promise<FailureRow[]>;
}
