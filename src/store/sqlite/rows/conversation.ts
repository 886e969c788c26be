/** Conversations as rows and as the domain knows them. */
import type { Conversation } from "../../../domain/conversation.ts";
import { conversations } from "../schema/conversations.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const conversationColumns = mapColumns(conversations);

export type ConversationRow = StoredRow<typeof conversations>;

export function toConversation({
  id,
  companionId,
  sessionId,
  visitorId,
  messageCount,
  createdAt,
  updatedAt,
}: ConversationRow): Conversation {
  return { id, companionId, sessionId, visitorId: toVisitorId(visitorId), messageCount, createdAt, updatedAt };
}

/** An empty text stands for no visitor. */
export function toVisitorId(stored: string): string | null {
  return stored === "" ? null : stored;
}
