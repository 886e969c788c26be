/** Rows that every request asks for, kept in memory for as long as nothing at all is committed. */
import type { SqliteEngine } from "./engine.ts";

/** At most `count` rows, which together take up at most `bytes`; a larger share than a sixteenth is kept of none. */
export interface CacheLimits {
  readonly count: number;
  readonly bytes: number;
}

/** A row with what it takes up in memory, or somewhat more. */
export interface ReadRow<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * A lookup under SQLite's locks, with its row made into an object, takes several times as long as asking whether
 * anything has changed. Never stale: see `readChangeMark`. Misses are not kept, so that guesses fill nothing.
 */
export class Cache<Value extends object> {
  readonly #engine: Pick<SqliteEngine, "readChangeMark">;
  readonly #limits: CacheLimits;
  readonly #values = new Map<string, Value>();
  #heldBytes = 0;
  #mark = -1;

  constructor(engine: Pick<SqliteEngine, "readChangeMark">, limits: CacheLimits) {
    this.#engine = engine;
    this.#limits = limits;
  }

  /** To be called inside of the engine's `read`. What it returns is shared: nobody may change it. */
  get(key: string, read: () => ReadRow<Value> | null): Value | null {
    const mark = this.#engine.readChangeMark();
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#clear();
    }
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const row = read();
    if (row === null) return null;
    const { count, bytes } = this.#limits;
    if (row.bytes > bytes / 16) return row.value;
    if (this.#values.size >= count || this.#heldBytes + row.bytes > bytes) this.#clear();
    this.#values.set(key, row.value);
    this.#heldBytes += row.bytes;
    return row.value;
  }

  #clear(): void {
    this.#values.clear();
    this.#heldBytes = 0;
  }
}
