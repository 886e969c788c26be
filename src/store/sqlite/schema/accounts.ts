/** Tables of accounts, their dashboard sessions and one-time links, and the audit log. */
import { index, integer, primaryKey, text } from "drizzle-orm/sqlite-core";
import type { Plan, Role } from "../../../domain/account.ts";
import type { VisitorKeyAlgorithm, VisitorKeyFilter } from "../../../domain/visitor.ts";
import type { AuditActor, AuditEntry } from "../../contract/audit.ts";
import type { OneTimeLink } from "../../contract/sessions.ts";
import { lazyTable } from "./lazy-table.ts";

export const accounts = lazyTable("accounts", () => ({
  /** Replaces the id where every row of an index would repeat it. Never reused. */
  number: integer("number").primaryKey({ autoIncrement: true }),
  id: text("id").notNull().unique(),
  email: text("email").notNull().unique(),
  plan: text("plan").$type<Plan>().notNull(),
  role: text("role").$type<Role>().notNull(),
  passwordHash: text("password_hash"),
  suspendedAt: integer("suspended_at"),
  createdAt: integer("created_at").notNull(),
  /** Sealed; null without a second factor. */
  totpSecret: text("totp_secret"),
  /** Null until the secret is confirmed by a first code. */
  totpConfirmedAt: integer("totp_confirmed_at"),
  /** The newest time step whose code was accepted: no code works twice. */
  totpLastStep: integer("totp_last_step"),
}));

/** Codes that sign in once if the second factor is lost; a used one is deleted. */
export const recoveryCodes = lazyTable(
  "recovery_codes",
  () => ({
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    hash: text("hash").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
);

/** Sealed values of the server itself, such as the proof of the sealing key. */
export const serverSecrets = lazyTable("server_secrets", () => ({
  name: text("name").primaryKey(),
  sealed: text("sealed").notNull(),
}));

/** Agents of the voice provider that an operator lets an account use. */
export const voiceAgentGrants = lazyTable(
  "voice_agent_grants",
  () => ({
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    agentId: text("agent_id").notNull(),
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.accountId, table.agentId] })],
);

/** Revoked ones stay, without what was sealed: conversations of their time hold sealed text. */
export const visitorKeys = lazyTable(
  "visitor_keys",
  () => ({
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    algorithm: text("algorithm").$type<VisitorKeyAlgorithm>().notNull(),
    /** Null: all companions of the account. */
    metadata: text("metadata", { mode: "json" }).$type<VisitorKeyFilter>(),
    /** Of the facts of the filter, with the account, the one that the fewest live keys had when it was made. */
    fact: text("fact").notNull(),
    /** Of all facts: the same for an account's filters that are the same. */
    filterHash: text("filter_hash").notNull(),
    /** Null once it is revoked. */
    sealed: text("sealed"),
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [
    index("visitor_keys_account").on(table.accountId, table.id),
    index("visitor_keys_fact").on(table.fact),
    index("visitor_keys_filter").on(table.filterHash),
  ],
);

export const sessions = lazyTable(
  "sessions",
  () => ({
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    hash: text("hash").notNull().unique(),
    userAgent: text("user_agent"),
    ipPrefix: text("ip_prefix"),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  }),
  (table) => [index("sessions_account").on(table.accountId)],
);

export const oneTimeLinks = lazyTable("one_time_links", () => ({
  hash: text("hash").primaryKey(),
  kind: text("kind").$type<OneTimeLink["kind"]>().notNull(),
  accountId: text("account_id").references(() => accounts.id, { onDelete: "cascade" }),
  expiresAt: integer("expires_at").notNull(),
}));

/** Outlives the account that it describes. */
export const audit = lazyTable(
  "audit",
  () => ({
    number: integer("number").primaryKey(),
    id: text("id").notNull().unique(),
    accountId: text("account_id").notNull(),
    actorKind: text("actor_kind").$type<AuditActor["kind"]>().notNull(),
    actorId: text("actor_id"),
    ipPrefix: text("ip_prefix"),
    requestId: text("request_id"),
    action: text("action").notNull(),
    targetId: text("target_id"),
    details: text("details", { mode: "json" }).$type<AuditEntry["details"]>().notNull(),
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [index("audit_account").on(table.accountId, table.createdAt)],
);
