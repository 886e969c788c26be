/** Conversations as both engines store them, and as the domain knows them. */
import type { Conversation } from "../../../domain/conversation.ts";

/** Without what only the store knows of it. */
export function toConversation({
  id,
  companionId,
  sessionId,
  visitorId,
  sealedVisitor,
  messageCount,
  createdAt,
  updatedAt,
}: Conversation & { visitorId: string }): Conversation {
  const key = { companionId, sessionId, visitorId: toVisitorId(visitorId) };
  return { id, ...key, sealedVisitor, messageCount, createdAt, updatedAt };
}

/** An empty text stands for no visitor. */
export function toVisitorId(stored: string): string | null {
  return stored === "" ? null : stored;
}

/** How many conversations `findPlace` is given. */
export const mostBefore = 50;

/**
 * Where a list goes on: the conversation of that id; if it was deleted, the newest of those with ids before it. The very
 * one before it may be that of a call, which began long before its transcript came.
 *
 * `rows` have the id or smaller ones, the greatest first.
 */
export function findPlace<Row extends { id: string; createdAt: number }>(rows: readonly Row[], id: string): Row | null {
  const [before = null] = rows;
  if (before === null || before.id === id) return before;
  return rows.reduce((newest, row) => (row.createdAt > newest.createdAt ? row : newest), before);
}
