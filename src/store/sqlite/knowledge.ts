/** Sources, their queue and their index in SQLite. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";

export function createKnowledgeStore(_engine: SqliteEngine): KnowledgeStore {
  return new Proxy(
    {},
    { get: (_, name) => () => Promise.reject(new Error(`${String(name)} is missing`)) },
  ) as KnowledgeStore;
}
