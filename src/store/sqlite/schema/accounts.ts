/** Tables of accounts, their dashboard sessions and one-time links, and the audit trail. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Plan, Role } from "../../../domain/account.ts";
import { later } from "../../../lib/later.ts";
import type { AuditActor, AuditEntry } from "../../contract/audit.ts";
import type { OneTimeLink } from "../../contract/sessions.ts";

export const accounts = later(() =>
  sqliteTable("accounts", {
    /** Stands for the account where the id would be repeated for every row of an index. Never reused. */
    number: integer("number").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    email: text("email").notNull().unique(),
    plan: text("plan").$type<Plan>().notNull(),
    role: text("role").$type<Role>().notNull(),
    passwordHash: text("password_hash"),
    suspendedAt: integer("suspended_at"),
    createdAt: integer("created_at").notNull(),
  }),
);

export const sessions = later(() =>
  sqliteTable(
    "sessions",
    {
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
    },
    (table) => [index("sessions_account").on(table.accountId)],
  ),
);

export const oneTimeLinks = later(() =>
  sqliteTable("one_time_links", {
    hash: text("hash").primaryKey(),
    kind: text("kind").$type<OneTimeLink["kind"]>().notNull(),
    accountId: text("account_id").references(() => accounts.id, { onDelete: "cascade" }),
    expiresAt: integer("expires_at").notNull(),
  }),
);

/** Outlives the account that it tells about. */
export const audit = later(() =>
  sqliteTable(
    "audit",
    {
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
    },
    (table) => [index("audit_account").on(table.accountId, table.createdAt)],
  ),
);
