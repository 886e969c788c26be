/** Rows that every request needs, cached until anything at all is committed. */
import type { SqliteEngine } from "./engine.ts";

/** At most `count` rows, which together take at most `bytes`; a row larger than a sixteenth of that is not cached. */
export interface CacheLimits {
  readonly count: number;
  readonly bytes: number;
}

/** A row with its size in memory, or a slightly higher estimate. */
export interface ReadRow<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * A lookup under SQLite's locks, plus building the object, takes several times as long as checking for changes. Never
 * stale: see `readChangeMark`. Misses are not cached, so that guesses cannot fill it.
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

  /** Call it inside the engine's `read`. The result is shared and must not be changed. */
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
