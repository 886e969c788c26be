/** What turns found in knowledge, and unanswered questions, in PostgreSQL. */
import type { UnansweredStore } from "../contract/unanswered.ts";
import type { PostgresEngine } from "./engine.ts";

export function createUnansweredStore(_engine: PostgresEngine): UnansweredStore {
  return new Proxy(
    {},
    { get: (_, name) => () => Promise.reject(new Error(`${String(name)} is missing`)) },
  ) as UnansweredStore;
}
