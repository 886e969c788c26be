/**
 * A storage engine as one object: the store, and what operators do with what is beneath it. Each engine is a folder beside
 * this file, `services.ts` picks one, and nothing else knows its files. What it promises of them (who may read them, when
 * erased words have left them, what a backup is) stands in its own files and tests.
 *
 * An engine whose server has tools of its own for a backup refuses the call with `invalid_request` and names them.
 */
import type { ErasureMarks } from "../coordination/coordination.ts";
import type { Log } from "../lib/log.ts";
import type { Store } from "./store.ts";

export interface OpenOptions {
  log: Log;
  /** For an engine that keeps no erasures of its own. */
  erasures: ErasureMarks;
  /** Where the data is backed up before it is migrated; what cannot be backed up is not migrated. */
  backupDir: string;
  /** For a command, which runs beside a server: migrates only where none runs, since that one would be an earlier version. */
  isCommand?: boolean;
}

/** What an engine found where it looked. */
export interface StorageFacts {
  bytes: number;
  /** How many migrations it has seen. */
  schemaVersion: number;
}

export interface Restored extends StorageFacts {
  /** Where it was put. */
  path: string;
  /** Where the data that was there is now; null where there was none. */
  keptAs: string | null;
}

export interface StorageLock {
  /** To be called once. */
  release(): void;
}

export interface StorageSize {
  /** What is measured, as a metric's label. */
  readonly file: string;
  /** Bytes; null where there is nothing to measure. */
  read(): Promise<number | null>;
}

export interface StorageEngine {
  /**
   * The store, brought to the schema of this program: whole or not at all, by one process at a time. Rejects with
   * `unavailable`, with `conflict` where it was written by a newer program or has to be migrated under a server.
   */
  open(options: OpenOptions): Promise<Store>;
  /**
   * The right to serve from the data, which ends with the process however that ends. Throws `conflict` while another server
   * has it, or a backup is being put back. Commands that work beside a server take none.
   */
  lock(): StorageLock;
  /**
   * Writes a consistent copy to `file`, which must not exist; complete, verified and durable when this returns, or absent.
   * Writers go on meanwhile; the caller's event loop does not. Throws `not_found` without data, `conflict` where the file is
   * there already, `unavailable` where it cannot be written.
   */
  backup(file: string): StorageFacts;
  /**
   * Puts a backup in the place of the data: verified first, never over data in use, which are kept aside. Throws `not_found`,
   * `invalid_request` for a file that cannot be trusted, `conflict` while the data are in use; nothing has changed then.
   */
  restore(file: string, nowMs: number): Restored;
  /** Reads all data through. Throws `not_found` without data, `invalid_request` with a sentence where they are not whole. */
  verify(): StorageFacts;
  /** What the data take, for metrics; the first one is the data themselves. */
  readonly sizes: readonly [StorageSize, ...StorageSize[]];
}
