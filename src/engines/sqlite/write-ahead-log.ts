/** The write-ahead log as a file: waits for the disk beside the event loop. */
import { close, fdatasync, openSync } from "node:fs";

export class WriteAheadLog {
  readonly #path: string;
  /** SQLite locks nothing in this file, so that another descriptor may be opened and closed. */
  #descriptor: number | null = null;

  /** `database` is the path of the database file. */
  constructor(database: string) {
    this.#path = `${database}-wal`;
  }

  /**
   * Resolves once everything written before the call is on disk. After a rejection it is unknown what is: see
   * `WriteQueue.lose`. Call it after a commit, since the first creates the file.
   */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#descriptor ??= openSync(this.#path, "r+");
      fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  close(): void {
    if (this.#descriptor !== null) close(this.#descriptor);
    this.#descriptor = null;
  }
}
