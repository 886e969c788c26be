/** Tables of conversations, their messages, and of pending deletions. */
import { sql } from "drizzle-orm";
import { index, integer, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { FinishReason, MessageChannel, MessageRole } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";
import type { RemovalKind } from "../../rows/removals.ts";
import { lazyTable } from "./lazy-table.ts";

// No foreign keys: the conversations of a deleted companion are deleted in chunks, after it.
export const conversations = lazyTable(
  "conversations",
  () => ({
    number: integer("number").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    sessionId: text("session_id").notNull(),
    /** Empty for no visitor: in a unique index every NULL would count as a different value. */
    visitorId: text("visitor_id").notNull(),
    sealedVisitor: text("sealed_visitor"),
    messageCount: integer("message_count").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  }),
  (table) => [
    uniqueIndex("conversations_key").on(table.companionId, table.sessionId, table.visitorId),
    index("conversations_account").on(table.accountId, table.createdAt),
    index("conversations_companion").on(table.companionId, table.createdAt),
    index("conversations_visitor").on(table.accountId, table.visitorId, table.createdAt).where(sql`visitor_id <> ''`),
  ],
);

export const messages = lazyTable(
  "messages",
  () => ({
    number: integer("number").primaryKey(),
    /** Negative if the message was erased: its text is overwritten, and only its place is left. */
    conversationNumber: integer("conversation_number").notNull(),
    id: text("id").notNull(),
    role: text("role").$type<MessageRole>().notNull(),
    channel: text("channel").$type<MessageChannel>().notNull(),
    complete: integer("complete", { mode: "boolean" }).notNull(),
    inputTokens: integer("input_tokens"),
    outputTokens: integer("output_tokens"),
    /** Who replied; null for visitors' messages and for voice. */
    model: text("model"),
    provider: text("provider"),
    tokensEstimated: integer("tokens_estimated", { mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
    text: text("text").notNull(),
    /** The client's name for the exchange that the message belongs to. */
    clientId: text("client_id"),
    /** Why the exchange ended early; on its last message. */
    endCode: text("end_code").$type<StreamErrorCode>(),
    /** Why the model stopped; null for messages that no model wrote, and where it did not say. */
    finishReason: text("finish_reason").$type<FinishReason>(),
    /** Of a question without a reply: how often it ran again, as far as that matters; null for never. */
    repeats: integer("repeats"),
  }),
  (table) => [
    // By time, not by number: a transcript arrives after turns that were written during the call.
    index("messages_conversation").on(table.conversationNumber, table.createdAt),
    index("messages_client").on(table.conversationNumber, table.clientId).where(sql`client_id IS NOT NULL`),
  ],
);

/** Stretches of numbers whose messages are all erased, including removed ones. */
export const erasedRanges = lazyTable("erased_ranges", () => ({
  first: integer("first").primaryKey(),
  last: integer("last").notNull(),
  /** Minimum size of the erased messages that still exist, in the pages that they share with others. */
  bytes: integer("bytes").notNull(),
}));

/** Rows without an owner that are still to be deleted, in chunks; survives a restart. */
export const removals = lazyTable("removals", () => ({
  number: integer("number").primaryKey({ autoIncrement: true }),
  kind: text("kind").$type<RemovalKind>().notNull(),
  targetId: text("target_id").notNull(),
  /** The account's or conversation's number. */
  targetNumber: integer("target_number").notNull(),
  createdAt: integer("created_at").notNull(),
}));
