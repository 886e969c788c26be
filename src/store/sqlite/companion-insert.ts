/** Writes new companions: their row, first embed token and index rows. */
import type { NewCompanion } from "../contract/companions.ts";
import { foldName } from "./companion-rows.ts";
import type { SqliteEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { VoiceAgentKeeper } from "./voice-agents.ts";

type Text = string | null;

const columns = [
  "id, account_id, enabled, name, name_folded, embed_token, greeting, avatar_url, theme_color, voice_id, voice_agent_id",
  "model, temperature, max_output_tokens, context_tokens, retention_days, created_by_key_id, created_at, updated_at",
  "allowed_origins, starters, metadata, system_prompt",
].join(", ");

/** To be called inside a write. */
export function createCompanionInsert(engine: SqliteEngine, metadata: MetadataIndex, voiceAgents: VoiceAgentKeeper) {
  // Prepared, unlike other management writes: imports run it a million times.
  const insertCompanion = engine.query<
    { number: number },
    [
      ...[id: string, accountId: string, enabled: number, name: string, nameFolded: string, embedToken: string],
      ...[greeting: Text, avatarUrl: Text, themeColor: Text, voiceId: Text, voiceAgentId: Text, model: Text],
      ...[temperature: number | null, maxOutputTokens: number | null, contextTokens: number | null],
      ...[retentionDays: number | null, createdByKeyId: Text, createdAt: number, updatedAt: number],
      ...[allowedOrigins: string, starters: string, metadata: string, systemPrompt: Text],
    ]
  >(`INSERT INTO companions (${columns}) VALUES (${columns.replace(/\w+/g, "?")}) RETURNING number`);
  const insertToken = engine.query<null, [string, string, string, number]>(
    "INSERT INTO embed_tokens (token, id, companion_id, created_at) VALUES (?, ?, ?, ?)",
  );

  function insertOne(accountId: string, companion: NewCompanion, nowMs: number): number {
    const { id, name, embedToken, temperature, maxOutputTokens, contextTokens, retentionDays } = companion;
    voiceAgents.check(accountId, companion, null);
    const row = insertCompanion.get(
      ...([id, accountId, companion.enabled ? 1 : 0, name, foldName(name), embedToken.token] as const),
      ...([companion.greeting, companion.avatarUrl, companion.themeColor, companion.voiceId] as const),
      ...([companion.voiceAgentId, companion.model, temperature, maxOutputTokens, contextTokens] as const),
      ...([retentionDays, companion.createdByKeyId, nowMs, nowMs] as const),
      ...([JSON.stringify(companion.allowedOrigins), JSON.stringify(companion.starters)] as const),
      ...([JSON.stringify(companion.metadata), companion.systemPrompt] as const),
    );
    if (row === null) throw new Error("an inserted companion has no number");
    insertToken.run(embedToken.token, embedToken.id, id, nowMs);
    return row.number;
  }

  return (accountId: string, accountNumber: number, companions: readonly NewCompanion[], nowMs: number): void => {
    const added = companions.map((companion) => {
      return { number: insertOne(accountId, companion, nowMs), metadata: companion.metadata };
    });
    metadata.add(accountNumber, added);
  };
}
