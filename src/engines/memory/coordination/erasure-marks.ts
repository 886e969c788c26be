/** Recent erasures: a turn that was running then must not bring its words back when it settles. */
import type { ErasureMarks } from "../../../contracts/coordination.ts";
import type { ConversationKey } from "../../../domain/conversation.ts";

/** No turn runs for longer, including the wait in the queue. */
const maxTurnMs = 60 * 60_000;
const maxErasures = 100_000;

/**
 * In memory: a turn does not outlive its process either, and one process serves a database. Order is tracked by a
 * counter, since the clock can be set back between a message and an erasure.
 */
export function createErasureMarks(limit = maxErasures): ErasureMarks {
  /** By visitor or conversation; the latest is last. */
  const erased = new Map<string, { mark: number; atMs: number }>();
  let lastMark = 0;
  /** The mark of the latest erasure that was evicted early: turns from before it cannot be checked. */
  let forgottenMark = 0;

  function note(name: string): void {
    const nowMs = performance.now();
    lastMark++;
    erased.delete(name);
    erased.set(name, { mark: lastMark, atMs: nowMs });
    for (const [oldest, { mark, atMs }] of erased) {
      const isRecent = atMs > nowMs - maxTurnMs;
      if (isRecent && erased.size <= limit) break;
      if (isRecent) forgottenMark = mark;
      erased.delete(oldest);
    }
  }

  return {
    /** Later erasures have higher marks. */
    mark: () => lastMark,
    noteVisitor: (companionId, visitorId) => note(visitorName(companionId, visitorId)),
    noteConversation: (key) => note(conversationName(key)),
    cover(key, arrivalMark) {
      const wasErased = (name: string) => (erased.get(name)?.mark ?? 0) > Number(arrivalMark);
      if (erased.size === 0) return false;
      // Better to lose a turn than to store an erased one.
      if (Number(arrivalMark) < forgottenMark) return true;
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
