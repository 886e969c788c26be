/**
 * Where certificates, and the attempts to obtain them, outlast the process. `files.ts` is the engine of
 * a data directory, `shared.ts` that of several servers with one database.
 */

export const certificateStoreItems = ["account", "certificate", "attempts"] as const;
export type CertificateStoreItem = (typeof certificateStoreItems)[number];

/** What is there, but cannot be read, with the reason as part of a sentence. */
export interface UnreadableItem {
  readonly unreadable: string;
}

export type CertificateStoreContents = Readonly<Record<CertificateStoreItem, string | UnreadableItem | null>>;

/** Every method rejects with a sentence if the store cannot be reached; nothing has changed then. */
export interface CertificateStore {
  /** Whether other servers read and write it too. */
  readonly isShared: boolean;
  read(): Promise<CertificateStoreContents>;
  /** Replaces the item as a whole. Durable, and readable by no other user, when it resolves. */
  write(item: CertificateStoreItem, text: string): Promise<void>;
  /** Nothing happens if it is not there. */
  remove(item: CertificateStoreItem): Promise<void>;
  /** Moves an unusable item aside. Resolves where it is kept, or null if it is not. */
  setAside(item: CertificateStoreItem): Promise<string | null>;
  /** For a shared store, so that every server can answer; any other has nothing to do. */
  putChallenge(token: string, answer: string): Promise<void>;
  /** Token to answer; empty if the store is not shared. */
  listChallenges(): Promise<ReadonlyMap<string, string>>;
  clearChallenges(): Promise<void>;
}
