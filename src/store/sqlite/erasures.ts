/** Whom and what was erased of late: a turn that was under way then must not bring its words back when it settles. */
import type { ConversationKey } from "../../domain/conversation.ts";

/** No turn is under way for longer, the wait for its place in the queue included. */
const longestTurnMs = 60 * 60_000;

export type Erasures = ReturnType<typeof createErasures>;

/** In memory: a turn does not outlive its process either, and one process serves a database. */
export function createErasures() {
  /** When, by visitor or conversation; the latest last. */
  const erasedAt = new Map<string, number>();

  function note(name: string, nowMs: number): void {
    erasedAt.delete(name);
    erasedAt.set(name, nowMs);
    for (const [oldest, atMs] of erasedAt) {
      if (atMs > nowMs - longestTurnMs) break;
      erasedAt.delete(oldest);
    }
  }

  return {
    noteVisitor(companionId: string, visitorId: string, nowMs: number): void {
      note(visitorName(companionId, visitorId), nowMs);
    },
    noteConversation(key: ConversationKey, nowMs: number): void {
      note(conversationName(key), nowMs);
    },
    /** Whether what arrived then has been erased since. */
    cover(key: ConversationKey, arrivedAt: number): boolean {
      const wasErased = (name: string) => arrivedAt <= (erasedAt.get(name) ?? Number.NEGATIVE_INFINITY);
      if (erasedAt.size === 0) return false;
      return (
        wasErased(conversationName(key)) ||
        (key.visitorId !== null && wasErased(visitorName(key.companionId, key.visitorId)))
      );
    },
  };
}

function visitorName(companionId: string, visitorId: string): string {
  return `${companionId} ${visitorId}`;
}

function conversationName({ companionId, sessionId, visitorId }: ConversationKey): string {
  return `${companionId} ${visitorId ?? ""} ${sessionId}`;
}
