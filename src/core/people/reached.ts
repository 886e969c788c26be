/** Which conversations' visitors were here, or at another instance, a moment ago, and what their polls got. */

export interface Reached {
  note(conversationId: string): void;
  /** As `LiveHub.notePoll`. */
  notePoll(conversationId: string, state: string): string | null;
  has(conversationId: string): boolean;
  /** Forgets those of long ago. */
  lapse(): void;
}

const reachedMs = 30_000;
/** Listeners of several instances; beyond them the earliest are forgotten, and count as not reached. */
const maxConversations = 100_000;

export function createReached(monotonicMs: () => number): Reached {
  /** In the order of the times. */
  const entries = new Map<string, { readonly atMs: number; readonly state: string | null }>();
  const isOver = ({ atMs }: { atMs: number }) => monotonicMs() - atMs > reachedMs;

  function put(conversationId: string, state: string | null): string | null {
    const before = entries.get(conversationId);
    const last = before === undefined || isOver(before) ? null : before.state;
    entries.delete(conversationId);
    entries.set(conversationId, { atMs: monotonicMs(), state: state ?? last });
    const [earliest] = entries.keys();
    if (entries.size > maxConversations && earliest !== undefined) entries.delete(earliest);
    return last;
  }

  return {
    note: (conversationId) => void put(conversationId, null),
    notePoll: put,
    has(conversationId) {
      const entry = entries.get(conversationId);
      return entry !== undefined && !isOver(entry);
    },
    lapse() {
      for (const [conversationId, entry] of entries) {
        if (!isOver(entry)) break;
        entries.delete(conversationId);
      }
    },
  };
}
