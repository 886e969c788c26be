/** Tables of accounts, what signs them in, and the audit log. */
import { sql } from "drizzle-orm";
import type { AuditActor, AuditEntry } from "../../../contracts/store/audit.ts";
import type { OneTimeLink } from "../../../contracts/store/sessions.ts";
import type { Plan, Role } from "../../../domain/account.ts";
import type { VisitorKeyAlgorithm, VisitorKeyFilter } from "../../../domain/visitor.ts";
import type { Dialect } from "./dialect.ts";

export function accountTables(dialect: Dialect) {
  const { table, number, lastingNumber, text, whole, small, boolean, json, primaryKey, index, inPostgres } = dialect;

  const accounts = table("accounts", () => ({
    /** Replaces the id where every row of an index would repeat it. Never reused. */
    number: lastingNumber(),
    id: text("id").notNull().unique(),
    email: text("email").notNull().unique(),
    plan: text<Plan>("plan").notNull(),
    role: text<Role>("role").notNull(),
    passwordHash: text("password_hash"),
    suspendedAt: whole("suspended_at"),
    createdAt: whole("created_at").notNull(),
    /** Sealed; null without a second factor. */
    totpSecret: text("totp_secret"),
    /** Null until the secret is confirmed by a first code. */
    totpConfirmedAt: whole("totp_confirmed_at"),
    /** The newest time step whose code was accepted: no code works twice. */
    totpLastStep: whole("totp_last_step"),
    /** Of the person who owns it, as `members` has it of the others: shown to visitors. */
    name: text("name"),
    notifyMail: boolean("notify_mail").notNull().default(true),
    notifyWords: boolean("notify_words").notNull().default(false),
  }));

  /** For what goes with its account. */
  const accountId = () => text("account_id").references(() => accounts.id, { onDelete: "cascade" });

  /** Null: the account's own sign-in. Goes with the member in the scripts, which lock the account. */
  const memberId = () => text("member_id");

  /** What an account holds, kept by triggers: no write can pass it by. */
  const accountHoldings = table("account_holdings", () => ({
    accountId: accountId().primaryKey(),
    companions: whole("companions").notNull().default(0),
    companionBytes: whole("companion_bytes").notNull().default(0),
    answerBytes: whole("answer_bytes").notNull().default(0),
  }));

  /** Codes that sign in once if the second factor is lost; a used one is deleted. */
  const recoveryCodes = table(
    "recovery_codes",
    () => ({
      accountId: accountId().notNull(),
      /** Part of what is hashed, too: no two people have the same. */
      hash: text("hash").notNull(),
      memberId: memberId(),
    }),
    (row) => [primaryKey({ columns: [row.accountId, row.hash] })],
  );

  /** Sealed values of the server itself, such as the proof of the sealing key. */
  const serverSecrets = table("server_secrets", () => ({
    name: text("name").primaryKey(),
    sealed: text("sealed").notNull(),
  }));

  /** Agents of the voice provider that an operator lets an account use. */
  const voiceAgentGrants = table(
    "voice_agent_grants",
    () => ({
      accountId: accountId().notNull(),
      agentId: text("agent_id").notNull(),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.accountId, row.agentId] })],
  );

  /** Revoked ones stay, without what was sealed: conversations of their time hold sealed text. */
  const visitorKeys = table(
    "visitor_keys",
    () => ({
      id: text("id").primaryKey(),
      accountId: accountId().notNull(),
      name: text("name").notNull(),
      algorithm: text<VisitorKeyAlgorithm>("algorithm").notNull(),
      /** Null: all companions of the account. */
      metadata: json<VisitorKeyFilter>("metadata"),
      /** Of the facts of the filter, with the account, the one that the fewest live keys had when it was made. */
      fact: text("fact").notNull(),
      /** Of all facts: the same for an account's filters that are the same. */
      filterHash: text("filter_hash").notNull(),
      /** Null once it is revoked. */
      sealed: text("sealed"),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("visitor_keys_account").on(row.accountId, row.id),
      index("visitor_keys_fact").on(row.fact),
      index("visitor_keys_filter").on(row.filterHash),
    ],
  );

  const sessions = table(
    "sessions",
    () => ({
      id: text("id").primaryKey(),
      accountId: accountId().notNull(),
      memberId: memberId(),
      hash: text("hash").notNull().unique(),
      userAgent: text("user_agent"),
      ipPrefix: text("ip_prefix"),
      createdAt: whole("created_at").notNull(),
      lastUsedAt: whole("last_used_at").notNull(),
      expiresAt: whole("expires_at").notNull(),
    }),
    (row) => [index("sessions_account").on(row.accountId)],
  );

  const oneTimeLinks = table("one_time_links", () => ({
    hash: text("hash").primaryKey(),
    kind: text<OneTimeLink["kind"]>("kind").notNull(),
    accountId: accountId(),
    memberId: memberId(),
    expiresAt: whole("expires_at").notNull(),
  }));

  /** Outlives the account that it describes. */
  const audit = table(
    "audit",
    () => ({
      number: number(),
      id: text("id").notNull().unique(),
      accountId: text("account_id").notNull(),
      actorKind: text<AuditActor["kind"]>("actor_kind").notNull(),
      actorId: text("actor_id"),
      ipPrefix: text("ip_prefix"),
      requestId: text("request_id"),
      actorMemberId: text("actor_member_id"),
      actorName: text("actor_name"),
      action: text("action").notNull(),
      targetId: text("target_id"),
      details: json<AuditEntry["details"]>("details").notNull(),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [index("audit_account").on(row.accountId, row.createdAt, ...inPostgres(row.number))],
  );

  /** Revoked keys stay, but are never found. */
  const apiKeys = table(
    "api_keys",
    () => ({
      /** Of the whole key, SHA-256 in hexadecimal. */
      hash: text("hash").primaryKey(),
      id: text("id").notNull().unique(),
      accountNumber: whole("account_number")
        .notNull()
        .references(() => accounts.number, { onDelete: "cascade" }),
      /** See `scripts/api-keys.ts`. */
      scopes: text("scopes").notNull(),
      expiresAt: whole("expires_at"),
      revokedAt: whole("revoked_at"),
      name: text("name").notNull(),
      start: text("start").notNull(),
      lastUsedAt: whole("last_used_at"),
      requests: whole("requests").notNull().default(0),
      createdAt: whole("created_at").notNull(),
      /** The last four characters. */
      lastFour: text("last_four"),
      /** Null: created in the dashboard or by a command. */
      createdByKeyId: text("created_by_key_id"),
      /** Made by a rotation: the key that it replaced. */
      replacesKeyId: text("replaces_key_id"),
      /** Set by a rotation: the key that replaced it last, and when. */
      replacedByKeyId: text("replaced_by_key_id"),
      replacedAt: whole("replaced_at"),
    }),
    (row) => [
      index("api_keys_held").on(row.accountNumber).where(sql`revoked_at IS NULL`),
      index("api_keys_account").on(row.accountNumber),
      index("api_keys_created_by").on(row.createdByKeyId).where(sql`created_by_key_id IS NOT NULL`),
      index("api_keys_replaces").on(row.replacesKeyId).where(sql`replaces_key_id IS NOT NULL`),
    ],
  );

  /** Responses of retried calls. */
  const idempotency = table(
    "idempotency",
    () => ({
      accountId: text("account_id").notNull(),
      method: text("method").notNull(),
      path: text("path").notNull(),
      key: text("key").notNull(),
      bodyHash: text("body_hash").notNull(),
      status: small("status").notNull(),
      body: text("body").notNull(),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      primaryKey({ columns: [row.accountId, row.method, row.path, row.key] }),
      index("idempotency_created").on(row.createdAt),
    ],
  );

  return {
    accounts,
    accountHoldings,
    recoveryCodes,
    serverSecrets,
    voiceAgentGrants,
    visitorKeys,
    sessions,
    oneTimeLinks,
    audit,
    apiKeys,
    idempotency,
  };
}

export type AccountTables = ReturnType<typeof accountTables>;
