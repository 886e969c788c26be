/** Companions as rows and as the domain knows them. */
import type { Companion, JsonObject } from "../../domain/companion.ts";

export interface CompanionRow {
  number: number;
  id: string;
  account_id: string;
  enabled: number;
  name: string;
  embed_token: string | null;
  greeting: string | null;
  avatar_url: string | null;
  theme_color: string | null;
  voice_id: string | null;
  voice_agent_id: string | null;
  model: string | null;
  temperature: number | null;
  max_output_tokens: number | null;
  context_tokens: number | null;
  retention_days: number | null;
  created_by_key_id: string | null;
  created_at: number;
  updated_at: number;
  allowed_origins: string;
  starters: string;
  metadata: string;
  system_prompt: string | null;
}

const columns = [
  "number, id, account_id, enabled, name, embed_token, greeting, avatar_url, theme_color, voice_id, voice_agent_id",
  "model, temperature, max_output_tokens, context_tokens, retention_days, created_by_key_id, created_at, updated_at",
  "allowed_origins, starters, metadata, system_prompt",
]
  .join(", ")
  .split(", ");

/** What to select for a `CompanionRow` from the table that is called `alias`. */
export function companionColumns(alias: string): string {
  return columns.map((column) => `${alias}.${column}`).join(", ");
}

/** Most lists are empty, and every embed request reads them. */
function parseList(json: string): string[] {
  return json === "[]" ? [] : (JSON.parse(json) as string[]);
}

export function parseMetadata(json: string): JsonObject {
  return json === "{}" ? {} : (JSON.parse(json) as JsonObject);
}

export function toCompanion(row: CompanionRow): Companion {
  let metadata: JsonObject | null = null;
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    systemPrompt: row.system_prompt,
    greeting: row.greeting,
    avatarUrl: row.avatar_url,
    themeColor: row.theme_color,
    voiceId: row.voice_id,
    voiceAgentId: row.voice_agent_id,
    model: row.model,
    temperature: row.temperature,
    maxOutputTokens: row.max_output_tokens,
    contextTokens: row.context_tokens,
    // Parsed when somebody asks: embed requests never do, and it may be 16 KiB.
    get metadata() {
      metadata ??= parseMetadata(row.metadata);
      return metadata;
    },
    allowedOrigins: parseList(row.allowed_origins),
    starters: parseList(row.starters),
    retentionDays: row.retention_days,
    enabled: row.enabled === 1,
    embedToken: row.embed_token,
    createdByKeyId: row.created_by_key_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function foldName(name: string): string {
  return name.toLowerCase();
}
