/** Rows that every request asks for, kept in memory for as long as nothing at all is committed. */
import type { SqliteEngine } from "./engine.ts";

/**
 * A lookup under SQLite's locks, with its row made into an object, takes several times as long as asking whether
 * anything has changed. Never stale: see `readChangeMark`. Misses are not kept, so that guesses fill nothing.
 */
export class Remembered<Value extends object> {
  readonly #engine: SqliteEngine;
  readonly #limit: number;
  readonly #values = new Map<string, Value>();
  #mark = -1;

  constructor(engine: SqliteEngine, limit: number) {
    this.#engine = engine;
    this.#limit = limit;
  }

  /** To be called inside of the engine's `read`. What it returns is shared: nobody may change it. */
  get(key: string, read: () => Value | null): Value | null {
    const mark = this.#engine.readChangeMark();
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#values.clear();
    }
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = read();
    if (value === null) return null;
    if (this.#values.size >= this.#limit) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
