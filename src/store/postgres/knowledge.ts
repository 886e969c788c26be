/** Sources, their queue and their index in PostgreSQL. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { PostgresEngine } from "./engine.ts";

export function createKnowledgeStore(_engine: PostgresEngine): KnowledgeStore {
  return new Proxy(
    {},
    { get: (_, name) => () => Promise.reject(new Error(`${String(name)} is missing`)) },
  ) as KnowledgeStore;
}
