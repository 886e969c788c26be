/** Writes new companions: their row, first embed token and index rows. */
import type { JsonObject } from "../../domain/companion.ts";
import type { NewCompanion } from "../contract/companions.ts";
import { foldName } from "../rows/companion.ts";
import type { SqliteEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import { mapColumns } from "./rows/columns.ts";
import { companionColumns } from "./rows/companion.ts";
import { embedTokens } from "./schema/clustered.ts";
import type { VoiceAgentKeeper } from "./scripts.ts";

/** Call it inside a write. */
export function createCompanionInsert(engine: SqliteEngine, metadata: MetadataIndex, voiceAgents: VoiceAgentKeeper) {
  // Prepared, unlike other management writes: imports run it a million times.
  const insertCompanion = companionColumns.createInsert<{ number: number }>(engine, "RETURNING number");
  const insertToken = mapColumns(embedTokens).createInsert(engine);

  function insertOne(accountId: string, companion: NewCompanion, nowMs: number): number {
    const { id, name, embedToken } = companion;
    const made = { accountId, hasSources: false, nameFolded: foldName(name), createdAt: nowMs, updatedAt: nowMs };
    const row = insertCompanion({ ...companion, ...made, embedToken: embedToken.token });
    if (row === null) throw new Error("an inserted companion has no number");
    insertToken({ ...embedToken, companionId: id, name: null, createdAt: nowMs, lastUsedAt: null });
    return row.number;
  }

  return {
    /** Only the rows, in order; `index` adds what is to stay to the metadata index. */
    insert(accountId: string, companions: readonly NewCompanion[], nowMs: number): InsertedCompanion[] {
      voiceAgents.check(accountId, companions, null);
      return companions.map((companion) => {
        const number = insertOne(accountId, companion, nowMs);
        return { number, id: companion.id, metadata: companion.metadata };
      });
    },
    index: (accountNumber: number, inserted: readonly InsertedCompanion[]) => metadata.add(accountNumber, inserted),
  };
}

export interface InsertedCompanion {
  number: number;
  id: string;
  metadata: JsonObject;
}
