/** Tables of usage and of the day's quota. An empty companion is a key's own calls, an empty key the dashboard. */
import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { textColumn, wholeColumn } from "./column-types.ts";

const counts = {
  messages: wholeColumn("messages").notNull().default(0),
  requests: wholeColumn("requests").notNull().default(0),
  inputTokens: wholeColumn("input_tokens").notNull().default(0),
  outputTokens: wholeColumn("output_tokens").notNull().default(0),
  voiceSessions: wholeColumn("voice_sessions").notNull().default(0),
  errors: wholeColumn("errors").notNull().default(0),
  cachedTokens: wholeColumn("cached_tokens").notNull().default(0),
  costMicros: wholeColumn("cost_micros").notNull().default(0),
  costPicos: wholeColumn("cost_picos").notNull().default(0),
  unpriced: wholeColumn("unpriced").notNull().default(0),
  reasoningTokens: wholeColumn("reasoning_tokens").notNull().default(0),
  cacheWriteTokens: wholeColumn("cache_write_tokens").notNull().default(0),
};

/** Who replied; empty where nobody did, or where it was not kept yet. */
const answeredBy = {
  model: textColumn("model").notNull().default(""),
  provider: textColumn("provider").notNull().default(""),
};

export const usageDaily = pgTable(
  "usage_daily",
  {
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    day: textColumn("day").notNull(),
    keyId: textColumn("key_id").notNull(),
    ...counts,
    /** The metadata that the companion had, in `usage_labels`; 0 for none. */
    label: wholeColumn("label").notNull().default(0),
    ...answeredBy,
  },
  (table) => [
    primaryKey({
      name: "usage_daily_place",
      columns: [table.accountId, table.companionId, table.day, table.keyId, table.label, table.model, table.provider],
    }),
    // For exports and pages, which go from day to day.
    index("usage_daily_day").on(table.accountId, table.day, table.companionId),
  ],
);

/** The same by month, so that a year of many companions is not read day by day. */
export const usageMonthly = pgTable(
  "usage_monthly",
  {
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    month: textColumn("month").notNull(),
    keyId: textColumn("key_id").notNull(),
    ...counts,
    label: wholeColumn("label").notNull().default(0),
    ...answeredBy,
  },
  (table) => [
    primaryKey({
      name: "usage_monthly_place",
      columns: [table.accountId, table.companionId, table.month, table.keyId, table.label, table.model, table.provider],
    }),
  ],
);

/** The same summed over companions, so that an account's own figures do not read a row per companion. */
export const usageAccountDaily = pgTable(
  "usage_account_daily",
  {
    accountId: textColumn("account_id").notNull(),
    day: textColumn("day").notNull(),
    keyId: textColumn("key_id").notNull(),
    ...counts,
    ...answeredBy,
  },
  (table) => [
    primaryKey({
      name: "usage_account_daily_place",
      columns: [table.accountId, table.day, table.keyId, table.model, table.provider],
    }),
  ],
);

export const quotaDaily = pgTable(
  "quota_daily",
  {
    companionId: textColumn("companion_id").notNull(),
    day: textColumn("day").notNull(),
    messages: wholeColumn("messages").notNull(),
    voiceSessions: wholeColumn("voice_sessions").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.companionId, table.day] })],
);

/** Failed replies by day and kind; an empty companion stands for the whole account. */
export const failedReplies = pgTable(
  "failed_replies",
  {
    accountId: textColumn("account_id").notNull(),
    day: textColumn("day").notNull(),
    companionId: textColumn("companion_id").notNull(),
    kind: textColumn("kind").notNull(),
    replies: wholeColumn("replies").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.companionId, table.kind] })],
);

/** Messages of verified visitors with a daily limit of their own. */
export const visitorDaily = pgTable(
  "visitor_daily",
  {
    companionId: textColumn("companion_id").notNull(),
    day: textColumn("day").notNull(),
    visitorId: textColumn("visitor_id").notNull(),
    messages: wholeColumn("messages").notNull(),
  },
  (table) => [primaryKey({ columns: [table.companionId, table.day, table.visitorId] })],
);
