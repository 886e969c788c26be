/** Whom and what was erased of late: a turn that was under way then must not bring its words back when it settles. */
import type { ConversationKey } from "../domain/conversation.ts";
import type { ErasureMarks } from "./coordination.ts";

/** No turn is under way for longer, the wait for its place in the queue included. */
const longestTurnMs = 60 * 60_000;
/** Cache one by one. */
const maxRemembered = 100_000;

/**
 * In memory: a turn does not outlive its process either, and one process serves a database. What came first is told by
 * counting, since a clock can be set back between a message and an erasure.
 */
export function createErasureMarks(limit = maxRemembered): ErasureMarks {
  /** By visitor or conversation; the latest last. */
  const erased = new Map<string, { mark: number; atMs: number }>();
  let lastMark = 0;
  /** Of the latest erasure that had to be forgotten early: of a turn from before it, nothing is known. */
  let forgottenMark = 0;

  function note(name: string): void {
    const nowMs = performance.now();
    lastMark++;
    erased.delete(name);
    erased.set(name, { mark: lastMark, atMs: nowMs });
    for (const [oldest, { mark, atMs }] of erased) {
      const isRecent = atMs > nowMs - longestTurnMs;
      if (isRecent && erased.size <= limit) break;
      if (isRecent) forgottenMark = mark;
      erased.delete(oldest);
    }
  }

  return {
    /** Erasures from now on have higher marks. */
    mark: () => lastMark,
    noteVisitor: (companionId, visitorId) => note(visitorName(companionId, visitorId)),
    noteConversation: (key) => note(conversationName(key)),
    cover(key, arrivalMark) {
      const wasErased = (name: string) => (erased.get(name)?.mark ?? 0) > arrivalMark;
      if (erased.size === 0) return false;
      if (arrivalMark < forgottenMark) return true;
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
