/** The tickets and reservations that this server holds, shared between whoever makes them and the commit that ends them. */

export interface OpenTickets {
  /** A commit has deleted it: nothing is left to give back. */
  noteEnded(id: string): void;
  /** Whether the commit of its turn has deleted it. Forgets it. */
  takeEnded(id: string): boolean;
}

export function createOpenTickets(): OpenTickets {
  const ended = new Set<string>();
  return {
    noteEnded: (id) => void ended.add(id),
    takeEnded: (id) => ended.delete(id),
  };
}
