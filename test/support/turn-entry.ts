/** A turn that asks to be let in, and a day of which nothing is used yet. */
import type { TurnEntry } from "../../src/contracts/coordination.ts";

/** By default one without a queue, a visitor's own limit or a name, of a companion with a hundred messages a day. */
export function turnEntry(fields: Partial<TurnEntry> = {}): TurnEntry {
  return { companionId: "c", queueKey: null, messagesPerDay: 100, visitor: null, messageId: null, ...fields };
}

const none = async () => 0;

/** Durable counts of an empty store. */
export const countNothing = { countMessages: none, countVisitorMessages: none, countVoiceSessions: none };
