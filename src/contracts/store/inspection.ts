/** What `doctor` asks an engine whose data is on a server of its own: facts, which `doctor` judges. */

/** A program that serves this database now. */
export interface LiveInstance {
  readonly version: string;
  /** Whether it counts rates together with others, in a server that they share. */
  readonly sharesWindows: boolean;
  /** Where others reach it; null if it has not published it. */
  readonly url: string | null;
}

/** Tables and functions that are not as this program's migrations make them. */
export interface SchemaDifferences {
  /** Missing, or others than they should be, with their indexes. */
  readonly changed: readonly string[];
  /** That it knows nothing of, or that have an index which it knows nothing of. */
  readonly added: readonly string[];
}

export interface SchemaFacts {
  /** The number of its schema, and that of this program's. */
  readonly applied: number;
  readonly known: number;
  /** Whether this program can work with it, possibly after migrating it. */
  readonly isReadable: boolean;
  /** Whether a copy into this database has begun and not ended. */
  readonly isUnfinishedCopy: boolean;
  /** None where other migrations were applied than this program knows. */
  readonly differences: SchemaDifferences;
}

/** What settings are judged by: the key of sealed secrets, and prices. */
export interface StoredFacts {
  /** What the key of sealed secrets must open; null if nothing was sealed yet. */
  readonly proof: string | null;
  /** Whether anyone has a second factor, a tool or a webhook, or has or had a visitor key: without that key no server starts. */
  readonly hasSealed: boolean;
  /** Whether there are contacts, notes, comments, reasons or mail, which only that key opens, but a server starts without. */
  readonly hasSealedWords: boolean;
  /** Whether any account has a budget that stops calls. */
  readonly hasStopBudgets: boolean;
}

export interface DatabaseServerFacts extends StoredFacts {
  /** As people write it, such as `15.18`. */
  readonly version: string;
  /** Whether this program works with that version. */
  readonly isSupported: boolean;
  /** The name of the database's encoding. */
  readonly encoding: string;
  /** From a question to its answer, in milliseconds; the shortest of a few. */
  readonly roundTripMs: number;
  /** What to add to this machine's time to get the server's, in milliseconds; right to half a round trip. */
  readonly clockOffsetMs: number;
  /** The protocol, such as `TLSv1.3`; null for clear text, also over a socket of this machine. */
  readonly tls: string | null;
  /** Whether it refuses writes: a replica, or a database that is set to read only. */
  readonly isReadOnly: boolean;
  /** Whether this user may create tables, as a migration does. */
  readonly mayCreate: boolean;
  /** By the tightest of the limits that hold for this user. */
  readonly connections: {
    readonly most: number;
    /** How many of them are open for anything but this program. */
    readonly byOthers: number;
    /** How many an instance has open beside its two pools. */
    readonly besidesPools: number;
  };
  /**
   * Null: there is nothing in the database yet. `other`: what is in it is another program's. `unreleased`: it was made
   * before the first release.
   */
  readonly schema: SchemaFacts | "other" | "unreleased" | null;
  readonly instances: readonly LiveInstance[];
}
