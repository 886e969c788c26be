/**
 * A storage engine as one object: the store, and what operators do with what is beneath it. Each engine is a folder
 * beside this file, `services.ts` picks one, and nothing else knows its files. What it promises of them (who may read
 * them, when erased words have left them, what a backup is) stands in its own files and tests.
 *
 * An engine whose server has tools of its own for a backup refuses the call with `invalid_request` and names them.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Probe } from "../../lib/probe.ts";
import type { Announcements } from "../announcements.ts";
import type { Coordination, ErasureMarks } from "../coordination.ts";
import type { CertificateTexts } from "./certificate-texts.ts";
import type { DatabaseServerFacts, SchemaDifferences, StoredFacts } from "./inspection.ts";
import type { Store } from "./store.ts";

/**
 * What a command does to the data, which decides what opening it may do: `reads` leaves a database of an older version
 * as it is, and only `makes` begins one.
 */
export type DataUse = "reads" | "writes" | "makes";

export interface OpenOptions {
  log: Log;
  clock: Clock;
  /** Of this program, for lists of running servers. */
  version: string;
  /** For an engine that does not keep its own erasures. */
  erasures: ErasureMarks;
  /** Where a backup is written before a migration; what cannot be backed up is not migrated. */
  backupDir: string;
  /**
   * For a command, which may run beside a server: migrates only if none runs, since the server would be an earlier
   * version. Where that cannot be known, it does not migrate, and rejects with `unavailable` if it would have to.
   */
  isCommand?: boolean;
  /** For the command that migrates. An engine whose migrations only add does so beside servers, too. */
  isMigration?: boolean;
  /** Of a command; without it, as a server: a missing database is made, and an older one migrated. */
  use?: DataUse;
  /** Whether the windows of rates are counted where other servers count theirs. */
  sharesWindows?: boolean;
  /**
   * Called once, where it can no longer be known what is on disk: from then on every write rejects with `unavailable`,
   * and the process has to end, so that the next one reads what is really there.
   */
  onLost?: (reason: unknown) => void;
  /** Called before the first tables are made in an empty database; what it throws is the reason not to. */
  beforeFirst?: () => void;
}

/** Runs work on a file as the user who named it, who may be another user than that of the data. */
export type AsCaller = <T>(work: () => T) => T;

/** Facts about existing data or a backup. */
export interface StorageFacts {
  bytes: number;
  /** The number of its schema, which each migration raises. */
  schemaVersion: number;
  /** None where not all migrations have been applied. */
  differences: SchemaDifferences;
}

/** What is in a backup, by number. */
export interface BackupFacts extends StorageFacts {
  accounts: number;
  companions: number;
  conversations: number;
  messages: number;
}

export interface Restored extends StorageFacts {
  /** The path of the restored data. */
  path: string;
  /** Where the previous data is kept; null if there was none. */
  keptAs: string | null;
}

export interface StorageLock {
  /** Call it once. */
  release(): void;
}

export interface StorageSize {
  /** What is measured, as the label of a metric. */
  readonly file: string;
  /** Bytes; null if there is nothing to measure. */
  read(): Promise<number | null>;
}

/** What the servers of one database agree on through it. */
export interface SharedCoordination extends Omit<Coordination, "signInFailures"> {
  /** What to add to this machine's time to get the database's, in milliseconds: leases compare times of several machines. */
  readonly clockOffsetMs: number;
  readonly announcements: Announcements;
  /** Publishes to the others where this server is reached, as an absolute URL; again whenever that changes. */
  announce(url: string): Promise<void>;
  /** How many other servers run on this database now. */
  countOthers(): Promise<number>;
  /** The state of what is shared, for metrics. */
  readonly probes: readonly Probe[];
}

export interface OpenedStorage {
  readonly store: Store;
  /** Null if only one process can serve this data: then its own memory coordinates. Also null for a command. */
  readonly shared: SharedCoordination | null;
  /** Null if only one process can serve this data: then its certificate is in files of the data directory. */
  readonly certificateTexts: CertificateTexts | null;
}

export interface StorageEngine {
  /**
   * Opens the store and migrates it to this program's schema: completely or not at all, in one process at a time.
   * Rejects with `unavailable`, with `conflict` if a running server prevents the migration, or with `not_found` where
   * there is nothing and `use` is not to make it.
   */
  open(options: OpenOptions): Promise<OpenedStorage>;
  /**
   * The exclusive right to serve this data, which ends with the process however it ends. Throws `conflict` while
   * another server holds it, or while a backup is being restored. Commands that work beside a server do not take it.
   */
  lock(): StorageLock;
  /**
   * Writes a consistent copy to `file`, which must not exist; when this returns the copy is complete, verified and
   * durable, otherwise there is none. Writers continue meanwhile, but the caller's event loop is blocked. Throws
   * `not_found` without data, `conflict` if the file exists, `unavailable` if it cannot be written.
   */
  backup(file: string, asCaller?: AsCaller): StorageFacts;
  /**
   * Replaces the data with a backup, which is verified first; never replaces data in use, and keeps the old data aside.
   * Throws `not_found`, `invalid_request` for a file that cannot be trusted, `conflict` while the data is in use;
   * nothing has changed then.
   */
  restore(file: string, nowMs: number, asCaller?: AsCaller): Restored;
  /** Reads all of a backup. Throws `invalid_request` with a sentence if it cannot be trusted. */
  examine(file: string): BackupFacts;
  /**
   * Reads all data. Throws `not_found` without data, `unavailable` if it cannot be examined, and `invalid_request` with
   * a sentence if it is damaged.
   */
  verify(): StorageFacts;
  /**
   * For an engine with a server: asks it on a connection of its own, and changes nothing. Rejects with `unavailable` and
   * a sentence with the cause, without the password, if no answer comes within 5 s.
   */
  inspect?(): Promise<DatabaseServerFacts>;
  /**
   * For an engine without one: what the key of sealed secrets is judged by. Null where this program does not know the
   * tables. Throws as `verify` does.
   */
  inspectStored?(): StoredFacts | null;
  /** Sizes of the data on this machine, for metrics; the first is that of the data itself. */
  readonly sizes: readonly StorageSize[];
}
