/** Not there yet. */
import type { ConversationStore } from "../contract/conversations.ts";
import type { SqliteEngine } from "./engine.ts";

export function createConversationStore(engine: SqliteEngine, changes: unknown, startRemovals: unknown): ConversationStore {
  return {} as ConversationStore;
}
