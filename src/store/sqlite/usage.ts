/** Not there yet. */
import type { UsageStore } from "../contract/usage.ts";
import type { SqliteEngine } from "./engine.ts";

export function createUsageStore(engine: SqliteEngine, metadata: unknown): UsageStore {
  return {} as UsageStore;
}
