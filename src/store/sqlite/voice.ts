/** Not there yet. */
import type { VoiceStore } from "../contract/voice.ts";
import type { SqliteEngine } from "./engine.ts";

export function createVoiceStore(engine: SqliteEngine, parts: unknown): VoiceStore {
  return {} as VoiceStore;
}
