/** Tables of companions, their tokens, their metadata index and their voice data. */
import { sql } from "drizzle-orm";
import { boolean, customType, doublePrecision, index, integer, pgTable, primaryKey } from "drizzle-orm/pg-core";
import type { ChallengeMode } from "../../../domain/challenge.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import type { AnswerMode, CitationMode } from "../../../domain/knowledge.ts";
import type { ReasoningEffort } from "../../../domain/reasoning.ts";
import type { VisitorAuth } from "../../../domain/visitor.ts";
import { accounts } from "./accounts.ts";
import { jsonColumn, numberColumn, textColumn, wholeColumn } from "./column-types.ts";

const bytesColumn = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

export const companions = pgTable(
  "companions",
  {
    /** In order of creation, never reused; the metadata index contains these. */
    number: numberColumn("number").primaryKey(),
    id: textColumn("id").notNull().unique(),
    // No foreign key: an account's companions are deleted in chunks, after the account.
    accountId: textColumn("account_id").notNull(),
    enabled: boolean("enabled").notNull(),
    name: textColumn("name").notNull(),
    /** The name as JavaScript puts it in lower case, for searches. */
    nameFolded: textColumn("name_folded").notNull(),
    /** The oldest valid embed token, stored here so that lists need no lookup per row. */
    embedToken: textColumn("embed_token"),
    greeting: textColumn("greeting"),
    avatarUrl: textColumn("avatar_url"),
    themeColor: textColumn("theme_color"),
    voiceId: textColumn("voice_id"),
    voiceAgentId: textColumn("voice_agent_id"),
    model: textColumn("model"),
    temperature: doublePrecision("temperature"),
    reasoningEffort: textColumn("reasoning_effort").$type<ReasoningEffort>(),
    maxOutputTokens: integer("max_output_tokens"),
    contextTokens: integer("context_tokens"),
    retentionDays: integer("retention_days"),
    visitorAuth: textColumn("visitor_auth").$type<VisitorAuth>().notNull().default("off"),
    dailyPerVisitor: integer("daily_per_visitor"),
    dailyMessages: integer("daily_messages"),
    monthlyTokens: wholeColumn("monthly_tokens"),
    challenge: textColumn("challenge").$type<ChallengeMode>().notNull().default("off"),
    answerMode: textColumn("answer_mode").$type<AnswerMode>().notNull().default("free"),
    citations: textColumn("citations").$type<CitationMode>().notNull().default("footer"),
    noAnswerText: textColumn("no_answer_text"),
    hasSources: boolean("has_sources").notNull().default(false),
    createdByKeyId: textColumn("created_by_key_id"),
    createdAt: wholeColumn("created_at").notNull(),
    updatedAt: wholeColumn("updated_at").notNull(),
    allowedOrigins: jsonColumn<string[]>()("allowed_origins").notNull(),
    starters: jsonColumn<string[]>()("starters").notNull(),
    metadata: jsonColumn<JsonObject>()("metadata").notNull(),
    systemPrompt: textColumn("system_prompt"),
  },
  (table) => [
    index("companions_account").on(table.accountId, table.number),
    index("companions_voice_agent").on(table.voiceAgentId).where(sql`voice_agent_id IS NOT NULL`),
    index("companions_enabled").on(table.accountId, table.enabled, table.number),
    index("companions_updated").on(table.accountId, table.updatedAt, table.number),
    index("companions_retention").on(table.retentionDays, table.number).where(sql`retention_days IS NOT NULL`),
  ],
);

/** Valid tokens only: a revoked one is deleted. */
export const embedTokens = pgTable(
  "embed_tokens",
  {
    token: textColumn("token").primaryKey(),
    id: textColumn("id").notNull().unique(),
    companionId: textColumn("companion_id")
      .notNull()
      .references(() => companions.id, { onDelete: "cascade" }),
    name: textColumn("name"),
    createdAt: wholeColumn("created_at").notNull(),
    lastUsedAt: wholeColumn("last_used_at"),
  },
  (table) => [index("embed_tokens_companion").on(table.companionId)],
);

/** Which companions of an account have a value under a metadata path: one row per 4096 companion numbers. */
export const companionMetadata = pgTable(
  "companion_metadata",
  {
    accountNumber: wholeColumn("account_number").notNull(),
    path: textColumn("path").notNull(),
    value: textColumn("value").notNull(),
    block: integer("block").notNull(),
    /** See `rows/member-sets.ts`. */
    members: bytesColumn("members").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountNumber, table.path, table.value, table.block] })],
);

/** Agents of the voice provider that an operator lets an account use. */
export const voiceAgentGrants = pgTable(
  "voice_agent_grants",
  {
    accountId: textColumn("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    agentId: textColumn("agent_id").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.agentId] })],
);

export const voiceAgents = pgTable(
  "voice_agents",
  {
    companionId: textColumn("companion_id").primaryKey(),
    provider: textColumn("provider").notNull(),
    agentId: textColumn("agent_id").notNull(),
    settingsHash: textColumn("settings_hash").notNull(),
  },
  (table) => [index("voice_agents_agent").on(table.agentId)],
);

export const voiceAgentLocks = pgTable("voice_agent_locks", {
  companionId: textColumn("companion_id").primaryKey(),
  owner: textColumn("owner").notNull(),
  untilMs: wholeColumn("until_ms").notNull(),
});

/** Agents still to be deleted at their provider. */
export const voiceOutbox = pgTable(
  "voice_outbox",
  {
    provider: textColumn("provider").notNull(),
    agentId: textColumn("agent_id").notNull(),
    attempts: integer("attempts").notNull().default(0),
    dueAt: wholeColumn("due_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.agentId] }),
    index("voice_outbox_due").on(table.dueAt),
    index("voice_outbox_agent").on(table.agentId),
  ],
);

export const voiceSessions = pgTable(
  "voice_sessions",
  {
    providerConversationId: textColumn("provider_conversation_id").primaryKey(),
    companionId: textColumn("companion_id").notNull(),
    accountId: textColumn("account_id").notNull(),
    sessionId: textColumn("session_id").notNull(),
    /** Empty for no visitor, as in conversations. */
    visitorId: textColumn("visitor_id").notNull(),
    sealedVisitor: textColumn("sealed_visitor"),
    createdAt: wholeColumn("created_at").notNull(),
    /** What its cost counts under once its length is known; empty for the dashboard, as in usage. */
    keyId: textColumn("key_id").notNull().default(""),
    /** The UTC day of admission. */
    day: textColumn("day").notNull().default(""),
    reservationId: textColumn("reservation_id"),
    isTaken: boolean("is_taken").notNull().default(false),
  },
  (table) => [
    index("voice_sessions_visitor").on(table.companionId, table.visitorId),
    index("voice_sessions_created").on(table.createdAt),
  ],
);
