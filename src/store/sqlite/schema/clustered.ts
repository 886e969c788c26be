/**
 * Tables that are their own index (WITHOUT ROWID), for the query builder: the migration generator does not support
 * them, so they are written by hand in the migrations, and `drizzle.config.ts` leaves them out.
 */
import { blob, integer, primaryKey, text } from "drizzle-orm/sqlite-core";
import { lazyTable } from "./lazy-table.ts";

/** Revoked keys stay, but are never found. */
export const apiKeys = lazyTable("api_keys", () => ({
  hash: blob("hash", { mode: "buffer" }).$type<Uint8Array>().primaryKey(),
  id: text("id").notNull().unique(),
  accountNumber: integer("account_number").notNull(),
  /** See `scope-letters.ts`. */
  scopes: text("scopes").notNull(),
  expiresAt: integer("expires_at"),
  revokedAt: integer("revoked_at"),
  name: text("name").notNull(),
  start: text("start").notNull(),
  lastUsedAt: integer("last_used_at"),
  requests: integer("requests").notNull().default(0),
  createdAt: integer("created_at").notNull(),
  /** The last four characters. */
  lastFour: text("last_four"),
  /** Null: created in the dashboard or by a command. */
  createdByKeyId: text("created_by_key_id"),
  /** Made by a rotation: the key whose place it took. */
  replacesKeyId: text("replaces_key_id"),
  /** Set by a rotation: the key that took its place last, and when. */
  replacedByKeyId: text("replaced_by_key_id"),
  replacedAt: integer("replaced_at"),
}));

/** Valid tokens only: a revoked one is deleted. */
export const embedTokens = lazyTable("embed_tokens", () => ({
  token: text("token").primaryKey(),
  id: text("id").notNull().unique(),
  companionId: text("companion_id").notNull(),
  name: text("name"),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
}));

export const quotaDaily = lazyTable(
  "quota_daily",
  () => ({
    companionId: text("companion_id").notNull(),
    day: text("day").notNull(),
    messages: integer("messages").notNull(),
    voiceSessions: integer("voice_sessions").notNull().default(0),
  }),
  (table) => [primaryKey({ columns: [table.companionId, table.day] })],
);

/** Messages of verified visitors with a daily limit of their own. */
export const visitorDaily = lazyTable(
  "visitor_daily",
  () => ({
    companionId: text("companion_id").notNull(),
    day: text("day").notNull(),
    visitorId: text("visitor_id").notNull(),
    messages: integer("messages").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.companionId, table.day, table.visitorId] })],
);

/** Failed replies by day and kind; an empty companion stands for the whole account. */
export const failedReplies = lazyTable(
  "failed_replies",
  () => ({
    accountId: text("account_id").notNull(),
    day: text("day").notNull(),
    companionId: text("companion_id").notNull(),
    kind: text("kind").notNull(),
    replies: integer("replies").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.companionId, table.kind] })],
);

export const idempotency = lazyTable(
  "idempotency",
  () => ({
    accountId: text("account_id").notNull(),
    method: text("method").notNull(),
    path: text("path").notNull(),
    key: text("key").notNull(),
    bodyHash: text("body_hash").notNull(),
    status: integer("status").notNull(),
    body: text("body").notNull(),
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.accountId, table.method, table.path, table.key] })],
);

/** Which passages of an edition have a word: one row per block of passages. */
export const knowledgePostings = lazyTable(
  "knowledge_postings",
  () => ({
    edition: integer("edition").notNull(),
    block: integer("block").notNull(),
    /** The word as a number: the index holds no words. */
    term: integer("term").notNull(),
    entries: blob("entries", { mode: "buffer" }).$type<Uint8Array>().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.edition, table.term, table.block] })],
);
