/** Companions: what a visitor talks to. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** What the owner sets. Null means "not set": the server's default applies, and nothing is sent to a provider. */
export interface CompanionSettings {
  name: string;
  systemPrompt: string | null;
  greeting: string | null;
  avatarUrl: string | null;
  /** `#rrggbb`, lower case. */
  themeColor: string | null;
  voiceId: string | null;
  voiceAgentId: string | null;
  model: string | null;
  temperature: number | null;
  maxOutputTokens: number | null;
  /** How much goes to the model with a message, itself and the instructions included, in estimated tokens. */
  contextTokens: number | null;
  metadata: JsonObject;
  /** Normalised origins; empty means any. */
  allowedOrigins: string[];
  starters: string[];
  /** Conversations untouched for longer are deleted; null keeps them. */
  retentionDays: number | null;
  enabled: boolean;
}

export interface Companion extends CompanionSettings {
  id: string;
  accountId: string;
  /** The oldest embed token that is still valid, or null when all were revoked. */
  embedToken: string | null;
  /** The API key that made it, or null for the dashboard and the CLI. */
  createdByKeyId: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface EmbedToken {
  id: string;
  companionId: string;
  token: string;
  name: string | null;
  createdAt: number;
  lastUsedAt: number | null;
}

export const companionDefaults = {
  themeColor: "#4f46e5",
  contextTokens: 8000,
} as const;

/** Settings of a companion of which only the name is known. */
export function newCompanionSettings(name: string): CompanionSettings {
  return {
    name,
    systemPrompt: null,
    greeting: null,
    avatarUrl: null,
    themeColor: null,
    voiceId: null,
    voiceAgentId: null,
    model: null,
    temperature: null,
    maxOutputTokens: null,
    contextTokens: null,
    metadata: {},
    allowedOrigins: [],
    starters: [],
    retentionDays: null,
    enabled: true,
  };
}

/** What the visitor reads first where the owner wrote nothing. */
export function defaultGreeting(name: string): string {
  return `Hi, I'm ${name}. How can I help you?`;
}
