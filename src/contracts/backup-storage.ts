/**
 * Storage for backups outside this machine. An engine is one file beside this one, and knows nothing of what it
 * keeps: objects with a name, written once, read back and removed.
 *
 * Every call ends: with its result, or with `StorageFailure` and a sentence that names what is wrong and what to do, and
 * neither keys nor signatures. What fails in passing (a connection that is cut, a server that is busy) has been tried
 * again before that, but for `put`, whose content can only be read once.
 */
import { AppError } from "../domain/errors.ts";

/** Where it is, and who asks. */
export interface StorageLocation {
  /** An absolute URL without a trailing slash; null for AWS. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string;
  /** Put before each name as it is; may be empty. */
  readonly prefix: string;
  readonly keyId: string;
  readonly secret: string;
}

export interface StoredObject {
  /** Without the storage's prefix. */
  readonly name: string;
  readonly bytes: number;
  /** By the storage's clock. */
  readonly storedAtMs: number;
}

export interface PutOptions {
  /** The most that `content` can come to: what is sent is divided by it. */
  maxBytes: number;
  /** Once aborted, nothing of the object stays there. */
  signal?: AbortSignal;
}

export interface BackupStorage {
  /** All objects whose names begin so, in no particular order; fails if there are more than 100,000. */
  list(start: string): Promise<StoredObject[]>;
  /**
   * Reads `content` at the pace at which it is accepted, within bounded memory. When this resolves the object is there as a
   * whole, replacing one of the same name; otherwise, also if `content` throws, there is none of it.
   */
  put(name: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<void>;
  /** Null if there is no such object. */
  find(name: string): Promise<StoredObject | null>;
  /** The object, which has that many bytes, in pieces; fails if fewer can be had. */
  get(name: string, bytes: number): AsyncIterable<Uint8Array>;
  /** Also resolves if there is no such object. */
  remove(name: string): Promise<void>;
}

/** What storage refuses, or does not answer; `isPassing` where the same may succeed a little later. */
export class StorageFailure extends AppError {
  readonly isPassing: boolean;

  constructor(sentence: string, isPassing: boolean) {
    super("unavailable", sentence);
    this.isPassing = isPassing;
  }
}
