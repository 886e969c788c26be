/** Conversations as both engines store them, and as the domain knows them. */
import type { Conversation } from "../../domain/conversation.ts";

/** Without what only the store knows of it. */
export function toConversation({
  id,
  companionId,
  sessionId,
  visitorId,
  messageCount,
  createdAt,
  updatedAt,
}: Conversation & { visitorId: string }): Conversation {
  return { id, companionId, sessionId, visitorId: toVisitorId(visitorId), messageCount, createdAt, updatedAt };
}

/** An empty text stands for no visitor. */
export function toVisitorId(stored: string): string | null {
  return stored === "" ? null : stored;
}
