/**
 * Tables that are their own index (WITHOUT ROWID), for queries only: the generator of migrations has no word for them,
 * so they are made and changed by hand-written migrations and must not be named in `drizzle.config.ts`.
 */
import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Valid tokens only: a revoked one is deleted. */
export const embedTokens = sqliteTable("embed_tokens", {
  token: text("token").primaryKey(),
  id: text("id").notNull().unique(),
  companionId: text("companion_id").notNull(),
  name: text("name"),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
});

/** Which companions have a value under a metadata path: one row per 4096 companion numbers. */
export const companionMetadata = sqliteTable(
  "companion_metadata",
  {
    accountNumber: integer("account_number").notNull(),
    path: text("path").notNull(),
    value: text("value").notNull(),
    block: integer("block").notNull(),
    members: blob("members", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountNumber, table.path, table.value, table.block] })],
);

const counts = {
  messages: integer("messages").notNull().default(0),
  requests: integer("requests").notNull().default(0),
  inputTokens: integer("input_tokens").notNull().default(0),
  outputTokens: integer("output_tokens").notNull().default(0),
  voiceSessions: integer("voice_sessions").notNull().default(0),
  errors: integer("errors").notNull().default(0),
};

/** Usage in full detail; an empty companion is the key's own calls, an empty key the dashboard. */
export const usageDaily = sqliteTable(
  "usage_daily",
  {
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    day: text("day").notNull(),
    keyId: text("key_id").notNull(),
    ...counts,
  },
  (table) => [primaryKey({ columns: [table.accountId, table.companionId, table.day, table.keyId] })],
);

/** The same by month, so that a year of many companions is not read day by day. */
export const usageMonthly = sqliteTable(
  "usage_monthly",
  {
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    month: text("month").notNull(),
    keyId: text("key_id").notNull(),
    ...counts,
  },
  (table) => [primaryKey({ columns: [table.accountId, table.companionId, table.month, table.keyId] })],
);

/** The same summed over companions, so that the account's own figures do not read a row per companion. */
export const usageAccountDaily = sqliteTable(
  "usage_account_daily",
  {
    accountId: text("account_id").notNull(),
    day: text("day").notNull(),
    keyId: text("key_id").notNull(),
    ...counts,
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.keyId] })],
);

export const quotaDaily = sqliteTable(
  "quota_daily",
  {
    companionId: text("companion_id").notNull(),
    day: text("day").notNull(),
    messages: integer("messages").notNull(),
  },
  (table) => [primaryKey({ columns: [table.companionId, table.day] })],
);

export const idempotency = sqliteTable(
  "idempotency",
  {
    accountId: text("account_id").notNull(),
    method: text("method").notNull(),
    path: text("path").notNull(),
    key: text("key").notNull(),
    bodyHash: text("body_hash").notNull(),
    status: integer("status").notNull(),
    body: text("body").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.method, table.path, table.key] })],
);
