/** Tables of companions and of their voice data. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, text } from "drizzle-orm/sqlite-core";
import type { ChallengeMode } from "../../../domain/challenge.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import type { AnswerMode, CitationMode } from "../../../domain/knowledge.ts";
import type { ReasoningEffort } from "../../../domain/reasoning.ts";
import type { VisitorAuth } from "../../../domain/visitor.ts";
import { lazyTable } from "./lazy-table.ts";

/**
 * The table also has a generated column `bytes`, and triggers that maintain `account_holdings`, both by hand in the
 * initial migration: a migration that recreates the table must recreate them too.
 */
export const companions = lazyTable(
  "companions",
  () => ({
    /** In order of creation, never reused; the metadata index contains these. */
    number: integer("number").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    // No foreign key: an account's companions are deleted in chunks, after the account.
    accountId: text("account_id").notNull(),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    name: text("name").notNull(),
    /** The name in lower case, for searches: SQLite's own `lower` only handles ASCII. */
    nameFolded: text("name_folded").notNull(),
    /** The oldest valid embed token, stored here so that lists need no lookup per row. */
    embedToken: text("embed_token"),
    greeting: text("greeting"),
    avatarUrl: text("avatar_url"),
    themeColor: text("theme_color"),
    voiceId: text("voice_id"),
    voiceAgentId: text("voice_agent_id"),
    model: text("model"),
    temperature: real("temperature"),
    reasoningEffort: text("reasoning_effort").$type<ReasoningEffort>(),
    maxOutputTokens: integer("max_output_tokens"),
    contextTokens: integer("context_tokens"),
    retentionDays: integer("retention_days"),
    visitorAuth: text("visitor_auth").$type<VisitorAuth>().notNull().default("off"),
    dailyPerVisitor: integer("daily_per_visitor"),
    dailyMessages: integer("daily_messages"),
    monthlyTokens: integer("monthly_tokens"),
    challenge: text("challenge").$type<ChallengeMode>().notNull().default("off"),
    answerMode: text("answer_mode").$type<AnswerMode>().notNull().default("free"),
    citations: text("citations").$type<CitationMode>().notNull().default("footer"),
    noAnswerText: text("no_answer_text"),
    hasSources: integer("has_sources", { mode: "boolean" }).notNull().default(false),
    createdByKeyId: text("created_by_key_id"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    allowedOrigins: text("allowed_origins", { mode: "json" }).$type<string[]>().notNull(),
    starters: text("starters", { mode: "json" }).$type<string[]>().notNull(),
    metadata: text("metadata", { mode: "json" }).$type<JsonObject>().notNull(),
    systemPrompt: text("system_prompt"),
  }),
  (table) => [
    // Serves the account's list in order, and the search by name without reading the rows.
    index("companions_account").on(table.accountId, table.number, table.nameFolded),
    index("companions_voice_agent").on(table.voiceAgentId).where(sql`voice_agent_id IS NOT NULL`),
    index("companions_enabled").on(table.accountId, table.enabled, table.number),
    index("companions_updated").on(table.accountId, table.updatedAt, table.number),
    index("companions_retention").on(table.retentionDays).where(sql`retention_days IS NOT NULL`),
  ],
);

export const voiceAgents = lazyTable(
  "voice_agents",
  () => ({
    companionId: text("companion_id").primaryKey(),
    provider: text("provider").notNull(),
    agentId: text("agent_id").notNull(),
    settingsHash: text("settings_hash").notNull(),
  }),
  (table) => [index("voice_agents_agent").on(table.agentId)],
);

export const voiceAgentLocks = lazyTable("voice_agent_locks", () => ({
  companionId: text("companion_id").primaryKey(),
  owner: text("owner").notNull(),
  untilMs: integer("until_ms").notNull(),
}));

export const voiceOutbox = lazyTable(
  "voice_outbox",
  () => ({
    provider: text("provider").notNull(),
    agentId: text("agent_id").notNull(),
    attempts: integer("attempts").notNull().default(0),
    dueAt: integer("due_at").notNull(),
  }),
  (table) => [
    primaryKey({ columns: [table.provider, table.agentId] }),
    index("voice_outbox_due").on(table.dueAt),
    index("voice_outbox_agent").on(table.agentId),
  ],
);

export const voiceSessions = lazyTable(
  "voice_sessions",
  () => ({
    providerConversationId: text("provider_conversation_id").primaryKey(),
    companionId: text("companion_id").notNull(),
    accountId: text("account_id").notNull(),
    sessionId: text("session_id").notNull(),
    /** Empty for no visitor, as in conversations. */
    visitorId: text("visitor_id").notNull(),
    sealedVisitor: text("sealed_visitor"),
    createdAt: integer("created_at").notNull(),
    /** What its cost counts under once its length is known; empty for the dashboard, as in usage. */
    keyId: text("key_id").notNull().default(""),
    /** The UTC day of admission. */
    day: text("day").notNull().default(""),
    reservationId: text("reservation_id"),
    isTaken: integer("is_taken", { mode: "boolean" }).notNull().default(false),
  }),
  (table) => [
    index("voice_sessions_visitor").on(table.companionId, table.visitorId),
    index("voice_sessions_created").on(table.createdAt),
  ],
);
