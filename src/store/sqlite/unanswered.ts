/** What turns found in knowledge, and unanswered questions, in SQLite. */
import type { UnansweredStore } from "../contract/unanswered.ts";
import type { SqliteEngine } from "./engine.ts";

export function createUnansweredStore(_engine: SqliteEngine): UnansweredStore {
  return new Proxy(
    {},
    { get: (_, name) => () => Promise.reject(new Error(`${String(name)} is missing`)) },
  ) as UnansweredStore;
}
