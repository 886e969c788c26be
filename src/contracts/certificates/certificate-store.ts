/**
 * Socket: where certificates, and what was tried to obtain them, outlast the process. `file-shelf.ts` is the engine of
 * a data directory, `shared-shelf.ts` that of several servers with one database.
 */

export const shelfItems = ["account", "certificate", "attempts"] as const;
export type ShelfItem = (typeof shelfItems)[number];

/** What is there, but cannot be read, with the reason as part of a sentence. */
export interface UnreadableItem {
  readonly unreadable: string;
}

export type ShelfContents = Readonly<Record<ShelfItem, string | UnreadableItem | null>>;

/** Every method rejects with a sentence if the shelf cannot be reached; nothing has changed then. */
export interface CertificateShelf {
  /** Whether other servers read and write it too. */
  readonly isShared: boolean;
  read(): Promise<ShelfContents>;
  /** Replaces the item as a whole. Durable, and readable by nobody else, when it resolves. */
  write(item: ShelfItem, text: string): Promise<void>;
  /** Nothing happens if it is not there. */
  remove(item: ShelfItem): Promise<void>;
  /** Takes an item that is of no use out of the way. Where it is kept, or null if it is not. */
  setAside(item: ShelfItem): Promise<string | null>;
  /** For a shared shelf, so that every server can answer; any other has nothing to do. */
  putChallenge(token: string, answer: string): Promise<void>;
  /** Token to answer; empty if the shelf is not shared. */
  listChallenges(): Promise<ReadonlyMap<string, string>>;
  clearChallenges(): Promise<void>;
}
