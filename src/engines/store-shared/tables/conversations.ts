/** Tables of conversations, their messages, and of pending deletions. */
import { sql } from "drizzle-orm";
import type { FinishReason, MessageChannel, MessageRole } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";
import type { RemovalKind } from "../scripts/removals.ts";
import type { Dialect } from "./dialect.ts";

export function conversationTables(dialect: Dialect) {
  const { table, number, lastingNumber, text, whole, small, boolean, index, uniqueIndex, inPostgres } = dialect;

  // No foreign keys: the conversations of a deleted companion are deleted in chunks, after it.
  const conversations = table(
    "conversations",
    () => ({
      number: lastingNumber(),
      id: text("id").notNull().unique(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      sessionId: text("session_id").notNull(),
      /** Empty for no visitor: in a unique index every NULL would count as a different value. */
      visitorId: text("visitor_id").notNull(),
      sealedVisitor: text("sealed_visitor"),
      messageCount: whole("message_count").notNull(),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
    }),
    (row) => [
      uniqueIndex("conversations_key").on(row.companionId, row.sessionId, row.visitorId),
      index("conversations_account").on(row.accountId, row.createdAt, ...inPostgres(row.id)),
      index("conversations_companion").on(row.companionId, row.createdAt, ...inPostgres(row.id)),
      index("conversations_visitor")
        .on(row.accountId, row.visitorId, row.createdAt, ...inPostgres(row.id))
        .where(sql`visitor_id <> ''`),
    ],
  );

  const messages = table(
    "messages",
    () => ({
      number: number(),
      /** In SQLite negative if the message was erased: its text is overwritten, and only its row is left. */
      conversationNumber: whole("conversation_number").notNull(),
      id: text("id").notNull(),
      role: text<MessageRole>("role").notNull(),
      channel: text<MessageChannel>("channel").notNull(),
      complete: boolean("complete").notNull(),
      inputTokens: whole("input_tokens"),
      outputTokens: whole("output_tokens"),
      /** Who replied; null for visitors' messages and for voice. */
      model: text("model"),
      provider: text("provider"),
      tokensEstimated: boolean("tokens_estimated").notNull(),
      createdAt: whole("created_at").notNull(),
      text: text("text").notNull(),
      /** The client's name for the exchange that the message belongs to. */
      clientId: text("client_id"),
      /** Why the exchange ended early; on its last message. */
      endCode: text<StreamErrorCode>("end_code"),
      /** Why the model stopped; null for messages that no model wrote, and where it gave none. */
      finishReason: text<FinishReason>("finish_reason"),
      /** Of the companion that replied. */
      companionVersion: small("companion_version"),
      /** Of a question without a reply: how often it ran again, as far as that matters; null for never. */
      repeats: small("repeats"),
      /** Its position in the conversation, in the order of commits: the first is 1. Rows move in SQLite, this stays. */
      seq: small("seq").notNull(),
    }),
    (row) => [
      // By time, not by number: a transcript arrives after turns that were written during the call.
      index("messages_conversation").on(row.conversationNumber, row.createdAt, ...inPostgres(row.number)),
      index("messages_client").on(row.conversationNumber, row.clientId).where(sql`client_id IS NOT NULL`),
    ],
  );

  /** Rows without an owner that are still to be deleted, in chunks; survives a restart. */
  const removals = table("removals", () => ({
    number: lastingNumber(),
    kind: text<RemovalKind>("kind").notNull(),
    targetId: text("target_id").notNull(),
    /** The account's or conversation's number. */
    targetNumber: whole("target_number").notNull(),
    createdAt: whole("created_at").notNull(),
  }));

  return { conversations, messages, removals };
}
