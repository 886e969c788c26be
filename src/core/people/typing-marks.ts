/** Who is writing in a conversation: a mark that lapses automatically, for clients that vanish while they write. */
import type { Typing } from "./live.ts";

type Side = Pick<Typing, "conversationId" | "by">;

export interface TypingMarks {
  note(typing: Typing): void;
  has(side: Side): boolean;
  /** Removes the mark; returns it as it now is, or null if there was none. */
  clear(side: Side): Typing | null;
  /** Removes those that were not renewed for 6 s, and returns them as they now are. */
  lapse(): Typing[];
}

const lapseMs = 6_000;
/** See `Announcements`. */
const maxAnnouncedBytes = 500;
/** Of as many listeners as an instance has. The oldest goes first: its writer is the likeliest to have stopped. */
const maxMarks = 20_000;

export function createTypingMarks(monotonicMs: () => number): TypingMarks {
  const marks = new Map<string, { readonly typing: Typing; readonly atMs: number }>();
  const nameOf = ({ conversationId, by }: Side) => `${by} ${conversationId}`;

  function clear(side: Side): Typing | null {
    const mark = marks.get(nameOf(side));
    marks.delete(nameOf(side));
    return mark === undefined ? null : { ...mark.typing, isTyping: false };
  }

  return {
    note(typing) {
      const name = nameOf(typing);
      // Deleted first: the oldest stand in front.
      marks.delete(name);
      if (!typing.isTyping) return;
      marks.set(name, { typing, atMs: monotonicMs() });
      const [oldest] = marks.keys();
      if (marks.size > maxMarks && oldest !== undefined) marks.delete(oldest);
    },
    has: (side) => marks.has(nameOf(side)),
    clear,
    lapse() {
      const lapsed: Typing[] = [];
      for (const { typing, atMs } of marks.values()) {
        if (monotonicMs() - atMs < lapseMs) break;
        lapsed.push({ ...typing, isTyping: false });
      }
      for (const typing of lapsed) clear(typing);
      return lapsed;
    },
  };
}

/** As sent to other instances: where the names are too long for that, better without them than not at all. */
export function writeTyping(typing: Typing): string {
  const text = `typing ${JSON.stringify(typing)}`;
  const isLong = Buffer.byteLength(text) > maxAnnouncedBytes;
  return isLong ? writeTyping({ ...typing, personId: null, name: null }) : text;
}
