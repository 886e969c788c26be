/** Tables of conversations, their messages, and of pending deletions. */
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, uniqueIndex } from "drizzle-orm/pg-core";
import type { FinishReason, MessageChannel, MessageRole } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";
import type { RemovalKind } from "../../rows/removals.ts";
import { numberColumn, textColumn, wholeColumn } from "./column-types.ts";

// No foreign keys: the conversations of a deleted companion are deleted in chunks, after it.
export const conversations = pgTable(
  "conversations",
  {
    number: numberColumn("number").primaryKey(),
    id: textColumn("id").notNull().unique(),
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    sessionId: textColumn("session_id").notNull(),
    /** Empty for no visitor, so that the key below is unique without one too. */
    visitorId: textColumn("visitor_id").notNull(),
    sealedVisitor: textColumn("sealed_visitor"),
    messageCount: wholeColumn("message_count").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
    updatedAt: wholeColumn("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("conversations_key").on(table.companionId, table.sessionId, table.visitorId),
    index("conversations_account").on(table.accountId, table.createdAt, table.id),
    index("conversations_companion").on(table.companionId, table.createdAt, table.id),
    index("conversations_visitor")
      .on(table.accountId, table.visitorId, table.createdAt, table.id)
      .where(sql`visitor_id <> ''`),
  ],
);

export const messages = pgTable(
  "messages",
  {
    number: numberColumn("number").primaryKey(),
    conversationNumber: wholeColumn("conversation_number").notNull(),
    id: textColumn("id").notNull(),
    role: textColumn("role").$type<MessageRole>().notNull(),
    channel: textColumn("channel").$type<MessageChannel>().notNull(),
    complete: boolean("complete").notNull(),
    inputTokens: wholeColumn("input_tokens"),
    outputTokens: wholeColumn("output_tokens"),
    /** Who replied; null for visitors' messages and for voice. */
    model: textColumn("model"),
    provider: textColumn("provider"),
    tokensEstimated: boolean("tokens_estimated").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
    text: textColumn("text").notNull(),
    /** The client's name for the exchange that the message belongs to. */
    clientId: textColumn("client_id"),
    /** Why the exchange ended early; on its last message. */
    endCode: textColumn("end_code").$type<StreamErrorCode>(),
    /** Why the model stopped; null for messages that no model wrote, and where it did not say. */
    finishReason: textColumn("finish_reason").$type<FinishReason>(),
    /** Of a question without a reply: how often it ran again, as far as that matters; null for never. */
    repeats: integer("repeats"),
  },
  (table) => [
    // By time, not by number: a transcript arrives after turns that were written during the call.
    index("messages_conversation").on(table.conversationNumber, table.createdAt, table.number),
    index("messages_client").on(table.conversationNumber, table.clientId).where(sql`client_id IS NOT NULL`),
  ],
);

/** Rows without an owner that are still to be deleted, in chunks; survives a restart. */
export const removals = pgTable("removals", {
  number: numberColumn("number").primaryKey(),
  kind: textColumn("kind").$type<RemovalKind>().notNull(),
  targetId: textColumn("target_id").notNull(),
  /** The account's or conversation's number. */
  targetNumber: wholeColumn("target_number").notNull(),
  createdAt: wholeColumn("created_at").notNull(),
});
