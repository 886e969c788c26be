/** Tables of accounts, what signs them in, and the audit log. */
import { sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey } from "drizzle-orm/pg-core";
import type { Plan, Role } from "../../../domain/account.ts";
import type { VisitorKeyAlgorithm, VisitorKeyFilter } from "../../../domain/visitor.ts";
import type { AuditActor, AuditEntry } from "../../contract/audit.ts";
import type { OneTimeLink } from "../../contract/sessions.ts";
import { jsonColumn, numberColumn, textColumn, wholeColumn } from "./column-types.ts";

export const accounts = pgTable("accounts", {
  /** Replaces the id where every row of an index would repeat it. Never reused. */
  number: numberColumn("number").primaryKey(),
  id: textColumn("id").notNull().unique(),
  email: textColumn("email").notNull().unique(),
  plan: textColumn("plan").$type<Plan>().notNull(),
  role: textColumn("role").$type<Role>().notNull(),
  passwordHash: textColumn("password_hash"),
  suspendedAt: wholeColumn("suspended_at"),
  createdAt: wholeColumn("created_at").notNull(),
  /** Sealed; null without a second factor. */
  totpSecret: textColumn("totp_secret"),
  /** Null until the secret is confirmed by a first code. */
  totpConfirmedAt: wholeColumn("totp_confirmed_at"),
  /** The newest time step whose code was accepted: no code works twice. */
  totpLastStep: wholeColumn("totp_last_step"),
});

/** What an account holds, kept by triggers: no way of writing can pass it by. */
export const accountHoldings = pgTable("account_holdings", {
  accountId: textColumn("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  companions: wholeColumn("companions").notNull().default(0),
  companionBytes: wholeColumn("companion_bytes").notNull().default(0),
  answerBytes: wholeColumn("answer_bytes").notNull().default(0),
});

/** Codes that sign in once if the second factor is lost; a used one is deleted. */
export const recoveryCodes = pgTable(
  "recovery_codes",
  {
    accountId: textColumn("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    hash: textColumn("hash").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
);

/** Sealed values of the server itself, such as the proof of the sealing key. */
export const serverSecrets = pgTable("server_secrets", {
  name: textColumn("name").primaryKey(),
  sealed: textColumn("sealed").notNull(),
});

/** Revoked ones stay, without what was sealed: conversations of their time hold sealed text. */
export const visitorKeys = pgTable(
  "visitor_keys",
  {
    id: textColumn("id").primaryKey(),
    accountId: textColumn("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: textColumn("name").notNull(),
    algorithm: textColumn("algorithm").$type<VisitorKeyAlgorithm>().notNull(),
    /** Null: all companions of the account. */
    metadata: jsonColumn<VisitorKeyFilter>()("metadata"),
    /** Of the facts of the filter, with the account, the one that the fewest live keys had when it was made. */
    fact: textColumn("fact").notNull(),
    /** Of all facts: the same for an account's filters that are the same. */
    filterHash: textColumn("filter_hash").notNull(),
    /** Null once it is revoked. */
    sealed: textColumn("sealed"),
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [
    index("visitor_keys_account").on(table.accountId, table.id),
    index("visitor_keys_fact").on(table.fact),
    index("visitor_keys_filter").on(table.filterHash),
  ],
);

export const sessions = pgTable(
  "sessions",
  {
    id: textColumn("id").primaryKey(),
    accountId: textColumn("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    hash: textColumn("hash").notNull().unique(),
    userAgent: textColumn("user_agent"),
    ipPrefix: textColumn("ip_prefix"),
    createdAt: wholeColumn("created_at").notNull(),
    lastUsedAt: wholeColumn("last_used_at").notNull(),
    expiresAt: wholeColumn("expires_at").notNull(),
  },
  (table) => [index("sessions_account").on(table.accountId)],
);

export const oneTimeLinks = pgTable("one_time_links", {
  hash: textColumn("hash").primaryKey(),
  kind: textColumn("kind").$type<OneTimeLink["kind"]>().notNull(),
  accountId: textColumn("account_id").references(() => accounts.id, { onDelete: "cascade" }),
  expiresAt: wholeColumn("expires_at").notNull(),
});

/** Outlives the account that it describes. */
export const audit = pgTable(
  "audit",
  {
    number: numberColumn("number").primaryKey(),
    id: textColumn("id").notNull().unique(),
    accountId: textColumn("account_id").notNull(),
    actorKind: textColumn("actor_kind").$type<AuditActor["kind"]>().notNull(),
    actorId: textColumn("actor_id"),
    ipPrefix: textColumn("ip_prefix"),
    requestId: textColumn("request_id"),
    action: textColumn("action").notNull(),
    targetId: textColumn("target_id"),
    details: jsonColumn<AuditEntry["details"]>()("details").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [index("audit_account").on(table.accountId, table.createdAt, table.number)],
);

/** Revoked keys stay, but are never found. */
export const apiKeys = pgTable(
  "api_keys",
  {
    /** Of the whole key, SHA-256 in hexadecimal. */
    hash: textColumn("hash").primaryKey(),
    id: textColumn("id").notNull().unique(),
    accountNumber: wholeColumn("account_number")
      .notNull()
      .references(() => accounts.number, { onDelete: "cascade" }),
    /** See `rows/scope-letters.ts`. */
    scopes: textColumn("scopes").notNull(),
    expiresAt: wholeColumn("expires_at"),
    revokedAt: wholeColumn("revoked_at"),
    name: textColumn("name").notNull(),
    start: textColumn("start").notNull(),
    lastUsedAt: wholeColumn("last_used_at"),
    requests: wholeColumn("requests").notNull().default(0),
    createdAt: wholeColumn("created_at").notNull(),
    /** The last four characters. */
    lastFour: textColumn("last_four"),
    /** Null: created in the dashboard or by a command. */
    createdByKeyId: textColumn("created_by_key_id"),
    /** Made by a rotation: the key whose place it took. */
    replacesKeyId: textColumn("replaces_key_id"),
    /** Set by a rotation: the key that took its place last, and when. */
    replacedByKeyId: textColumn("replaced_by_key_id"),
    replacedAt: wholeColumn("replaced_at"),
  },
  (table) => [
    index("api_keys_held").on(table.accountNumber).where(sql`revoked_at IS NULL`),
    index("api_keys_account").on(table.accountNumber),
    index("api_keys_created_by").on(table.createdByKeyId).where(sql`created_by_key_id IS NOT NULL`),
    index("api_keys_replaces").on(table.replacesKeyId).where(sql`replaces_key_id IS NOT NULL`),
  ],
);

/** Responses of retried calls. */
export const idempotency = pgTable(
  "idempotency",
  {
    accountId: textColumn("account_id").notNull(),
    method: textColumn("method").notNull(),
    path: textColumn("path").notNull(),
    key: textColumn("key").notNull(),
    bodyHash: textColumn("body_hash").notNull(),
    status: integer("status").notNull(),
    body: textColumn("body").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.method, table.path, table.key] }),
    index("idempotency_created").on(table.createdAt),
  ],
);
