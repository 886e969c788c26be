/** Tables of usage and of the day's quota. An empty companion is a key's own calls, an empty key the dashboard. */
import type { Dialect } from "./dialect.ts";

export function usageTables(dialect: Dialect) {
  const { table, text, whole, primaryKey, index } = dialect;

  const counts = () => ({
    messages: whole("messages").notNull().default(0),
    requests: whole("requests").notNull().default(0),
    inputTokens: whole("input_tokens").notNull().default(0),
    outputTokens: whole("output_tokens").notNull().default(0),
    voiceSessions: whole("voice_sessions").notNull().default(0),
    errors: whole("errors").notNull().default(0),
    cachedTokens: whole("cached_tokens").notNull().default(0),
    costMicros: whole("cost_micros").notNull().default(0),
    costPicos: whole("cost_picos").notNull().default(0),
    unpriced: whole("unpriced").notNull().default(0),
    reasoningTokens: whole("reasoning_tokens").notNull().default(0),
    cacheWriteTokens: whole("cache_write_tokens").notNull().default(0),
  });

  /** Who replied; empty where no one did, or where it was not kept yet. */
  const answeredBy = () => ({
    model: text("model").notNull().default(""),
    provider: text("provider").notNull().default(""),
  });

  const usageDaily = table(
    "usage_daily",
    () => ({
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      day: text("day").notNull(),
      keyId: text("key_id").notNull(),
      ...counts(),
      /** The metadata that the companion had, in `usage_labels`; 0 for none. */
      label: whole("label").notNull().default(0),
      ...answeredBy(),
    }),
    (row) => [
      primaryKey({
        name: "usage_daily_place",
        columns: [row.accountId, row.companionId, row.day, row.keyId, row.label, row.model, row.provider],
      }),
      // For exports and pages, which go from day to day.
      index("usage_daily_day").on(row.accountId, row.day, row.companionId),
    ],
  );

  /** The same by month, so that a year of many companions is not read day by day. */
  const usageMonthly = table(
    "usage_monthly",
    () => ({
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      month: text("month").notNull(),
      keyId: text("key_id").notNull(),
      ...counts(),
      label: whole("label").notNull().default(0),
      ...answeredBy(),
    }),
    (row) => [
      primaryKey({
        name: "usage_monthly_place",
        columns: [row.accountId, row.companionId, row.month, row.keyId, row.label, row.model, row.provider],
      }),
    ],
  );

  /** The same summed over companions, so that an account's own figures do not read a row per companion. */
  const usageAccountDaily = table(
    "usage_account_daily",
    () => ({
      accountId: text("account_id").notNull(),
      day: text("day").notNull(),
      keyId: text("key_id").notNull(),
      ...counts(),
      ...answeredBy(),
    }),
    (row) => [
      primaryKey({
        name: "usage_account_daily_place",
        columns: [row.accountId, row.day, row.keyId, row.model, row.provider],
      }),
    ],
  );

  const quotaDaily = table(
    "quota_daily",
    () => ({
      companionId: text("companion_id").notNull(),
      day: text("day").notNull(),
      messages: whole("messages").notNull(),
      voiceSessions: whole("voice_sessions").notNull().default(0),
    }),
    (row) => [primaryKey({ columns: [row.companionId, row.day] })],
  );

  /** Failed replies by day and kind; an empty companion stands for the whole account. */
  const failedReplies = table(
    "failed_replies",
    () => ({
      accountId: text("account_id").notNull(),
      day: text("day").notNull(),
      companionId: text("companion_id").notNull(),
      kind: text("kind").notNull(),
      replies: whole("replies").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.accountId, row.day, row.companionId, row.kind] })],
  );

  /** Messages of verified visitors with a daily limit of their own. */
  const visitorDaily = table(
    "visitor_daily",
    () => ({
      companionId: text("companion_id").notNull(),
      day: text("day").notNull(),
      visitorId: text("visitor_id").notNull(),
      messages: whole("messages").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.companionId, row.day, row.visitorId] })],
  );

  return { usageDaily, usageMonthly, usageAccountDaily, quotaDaily, failedReplies, visitorDaily };
}
