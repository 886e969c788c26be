/** Tables of companions, their tokens, their metadata index and their voice data. */
import { sql } from "drizzle-orm";
import type { Appearance } from "../../../domain/appearance.ts";
import type { ChallengeMode } from "../../../domain/challenge.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import type { HandoffSettings, LeadSettings } from "../../../domain/handoff.ts";
import type { AnswerMode, CitationMode } from "../../../domain/knowledge.ts";
import type { ReasoningEffort } from "../../../domain/reasoning.ts";
import type { Sighting } from "../../../domain/sighting.ts";
import type { VisitorAuth } from "../../../domain/visitor.ts";
import type { Dialect } from "./dialect.ts";

export function companionTables(dialect: Dialect) {
  const {
    table,
    lastingNumber,
    text,
    whole,
    small,
    real,
    boolean,
    json,
    bytes,
    primaryKey,
    index,
    uniqueIndex,
    inPostgres,
    inSqlite,
  } = dialect;

  /**
   * The table also has a generated column `bytes`, and triggers that maintain `account_holdings`, both by hand in the
   * initial migrations: a migration that recreates the table must recreate them too.
   */
  const companions = table(
    "companions",
    () => ({
      /** In order of creation, never reused; the metadata index contains these. */
      number: lastingNumber(),
      id: text("id").notNull().unique(),
      // No foreign key: an account's companions are deleted in chunks, after the account.
      accountId: text("account_id").notNull(),
      enabled: boolean("enabled").notNull(),
      slug: text("slug"),
      version: small("version").notNull().default(1),
      name: text("name").notNull(),
      /** The name as JavaScript puts it in lower case, for searches: SQLite's own `lower` only handles ASCII. */
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
      reasoningEffort: text<ReasoningEffort>("reasoning_effort"),
      maxOutputTokens: small("max_output_tokens"),
      contextTokens: small("context_tokens"),
      retentionDays: small("retention_days"),
      visitorAuth: text<VisitorAuth>("visitor_auth").notNull().default("off"),
      dailyPerVisitor: small("daily_per_visitor"),
      dailyMessages: small("daily_messages"),
      monthlyTokens: whole("monthly_tokens"),
      challenge: text<ChallengeMode>("challenge").notNull().default("off"),
      answerMode: text<AnswerMode>("answer_mode").notNull().default("free"),
      citations: text<CitationMode>("citations").notNull().default("footer"),
      noAnswerText: text("no_answer_text"),
      hasSources: boolean("has_sources").notNull().default(false),
      toolCount: small("tool_count").notNull().default(0),
      /** Whether it ever had a tool: if not, no transcript of it has calls. */
      hadTools: boolean("had_tools").notNull().default(false),
      appearance: json<Appearance>("appearance"),
      handoff: json<HandoffSettings>("handoff"),
      leads: json<LeadSettings>("leads"),
      ratings: boolean("ratings").notNull().default(false),
      askResolved: boolean("ask_resolved").notNull().default(false),
      avatarHash: text("avatar_hash"),
      avatarBytes: small("avatar_bytes"),
      seenOn: json<readonly Sighting[]>("seen_on"),
      hadPeople: boolean("had_people").notNull().default(false),
      createdByKeyId: text("created_by_key_id"),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
      allowedOrigins: json<string[]>("allowed_origins").notNull(),
      starters: json<string[]>("starters").notNull(),
      metadata: json<JsonObject>("metadata").notNull(),
      systemPrompt: text("system_prompt"),
    }),
    (row) => [
      // The list in order; and in SQLite the search by name without reading the rows.
      index("companions_account").on(row.accountId, row.number, ...inSqlite(row.nameFolded)),
      uniqueIndex("companions_slug").on(row.accountId, row.slug).where(sql`slug IS NOT NULL`),
      index("companions_voice_agent").on(row.voiceAgentId).where(sql`voice_agent_id IS NOT NULL`),
      index("companions_enabled").on(row.accountId, row.enabled, row.number),
      index("companions_updated").on(row.accountId, row.updatedAt, row.number),
      index("companions_retention")
        .on(row.retentionDays, ...inPostgres(row.number))
        .where(sql`retention_days IS NOT NULL`),
      // Whether an account has any: few have.
      index("companions_people").on(row.accountId).where(sql`had_people OR handoff IS NOT NULL`),
    ],
  );

  /** Uploaded avatars, as they are served. */
  const companionAvatars = table(
    "companion_avatars",
    () => ({
      companionId: text("companion_id")
        .primaryKey()
        .references(() => companions.id, { onDelete: "cascade" }),
      hash: text("hash").notNull(),
      /** See `toPaddedBlob`. */
      image: bytes("image").notNull(),
    }),
    (row) => [index("companion_avatars_hash").on(row.hash)],
  );

  /** Valid tokens only: a revoked one is deleted. */
  const embedTokens = table(
    "embed_tokens",
    () => ({
      token: text("token").primaryKey(),
      id: text("id").notNull().unique(),
      companionId: text("companion_id")
        .notNull()
        .references(() => companions.id, { onDelete: "cascade" }),
      name: text("name"),
      createdAt: whole("created_at").notNull(),
      lastUsedAt: whole("last_used_at"),
    }),
    (row) => [index("embed_tokens_companion").on(row.companionId)],
  );

  /** Which companions of an account have a value under a metadata path: one row per 4096 companion numbers. */
  const companionMetadata = table(
    "companion_metadata",
    () => ({
      accountNumber: whole("account_number").notNull(),
      path: text("path").notNull(),
      value: text("value").notNull(),
      block: small("block").notNull(),
      /** See `rows/member-sets.ts`. */
      members: bytes("members").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.accountNumber, row.path, row.value, row.block] })],
  );

  const voiceAgents = table(
    "voice_agents",
    () => ({
      companionId: text("companion_id").primaryKey(),
      provider: text("provider").notNull(),
      agentId: text("agent_id").notNull(),
      settingsHash: text("settings_hash").notNull(),
    }),
    (row) => [index("voice_agents_agent").on(row.agentId)],
  );

  const voiceAgentLocks = table("voice_agent_locks", () => ({
    companionId: text("companion_id").primaryKey(),
    owner: text("owner").notNull(),
    untilMs: whole("until_ms").notNull(),
  }));

  /** Agents still to be deleted at their provider. */
  const voiceOutbox = table(
    "voice_outbox",
    () => ({
      provider: text("provider").notNull(),
      agentId: text("agent_id").notNull(),
      attempts: small("attempts").notNull().default(0),
      dueAt: whole("due_at").notNull(),
    }),
    (row) => [
      primaryKey({ columns: [row.provider, row.agentId] }),
      index("voice_outbox_due").on(row.dueAt),
      index("voice_outbox_agent").on(row.agentId),
    ],
  );

  const voiceSessions = table(
    "voice_sessions",
    () => ({
      providerConversationId: text("provider_conversation_id").primaryKey(),
      companionId: text("companion_id").notNull(),
      accountId: text("account_id").notNull(),
      sessionId: text("session_id").notNull(),
      /** Empty for no visitor, as in conversations. */
      visitorId: text("visitor_id").notNull(),
      sealedVisitor: text("sealed_visitor"),
      createdAt: whole("created_at").notNull(),
      /** What its cost counts under once its length is known; empty for the dashboard, as in usage. */
      keyId: text("key_id").notNull().default(""),
      /** The UTC day of admission. */
      day: text("day").notNull().default(""),
      reservationId: text("reservation_id"),
      isTaken: boolean("is_taken").notNull().default(false),
    }),
    (row) => [
      index("voice_sessions_visitor").on(row.companionId, row.visitorId),
      index("voice_sessions_created").on(row.createdAt),
    ],
  );

  return {
    companions,
    companionAvatars,
    embedTokens,
    companionMetadata,
    voiceAgents,
    voiceAgentLocks,
    voiceOutbox,
    voiceSessions,
  };
}
