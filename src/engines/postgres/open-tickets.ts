/** The tickets and reservations that this server holds, shared by the code that acquires them and by commits. */

export interface OpenTickets {
  /** Call it before the ticket is requested: what is in the database and not held here counts as orphaned. */
  hold(id: string): void;
  isHeld(id: string): boolean;
  /** A commit has deleted it: nothing is left to release. */
  noteEnded(id: string): void;
  /** Lets go of it; returns whether the commit of its turn has deleted it. */
  takeEnded(id: string): boolean;
}

export function createOpenTickets(): OpenTickets {
  const held = new Set<string>();
  const ended = new Set<string>();
  return {
    hold: (id) => void held.add(id),
    isHeld: (id) => held.has(id),
    noteEnded(id) {
      // A commit may come after its turn has given up.
      if (held.has(id)) ended.add(id);
    },
    takeEnded(id) {
      held.delete(id);
      return ended.delete(id);
    },
  };
}
