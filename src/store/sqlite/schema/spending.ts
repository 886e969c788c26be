/** Tables of what usage was recorded under, of budgets, and of what stops or slows down spending. */
import { index, integer, primaryKey, text } from "drizzle-orm/sqlite-core";
import type { BudgetAction, BudgetPeriod, BudgetSubject } from "../../../domain/budget.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { accounts } from "./accounts.ts";
import { lazyTable } from "./lazy-table.ts";

/** A companion's metadata as it stood when something was counted; usage refers to the number, 0 for none. */
export const usageLabels = lazyTable(
  "usage_labels",
  () => ({
    number: integer("number").primaryKey({ autoIncrement: true }),
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    metadata: text("metadata", { mode: "json" }).$type<JsonObject>().notNull(),
    /** The UTC day for which it was made; empty if it was made because the companion went. */
    day: text("day").notNull(),
    /** Whether `usage_label_metadata` has it: done before the first query that needs it, not while turns settle. */
    isIndexed: integer("is_indexed", { mode: "boolean" }).notNull().default(false),
  }),
  (table) => [
    index("usage_labels_companion").on(table.companionId, table.number),
    index("usage_labels_account").on(table.accountId, table.isIndexed, table.number),
  ],
);

export const budgets = lazyTable(
  "budgets",
  () => ({
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    /** The first of `facts`, under which it is found. */
    fact: text("fact").notNull(),
    /** What a call must be, all of it, to count; see `spendingFactsOf`. */
    facts: text("facts", { mode: "json" }).$type<string[]>().notNull(),
    subject: text("subject", { mode: "json" }).$type<BudgetSubject>().notNull(),
    limitMicros: integer("limit_micros").notNull(),
    period: text("period").$type<BudgetPeriod>().notNull(),
    action: text("action").$type<BudgetAction>().notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  }),
  (table) => [index("budgets_fact").on(table.accountId, table.fact)],
);

/** What a budget has seen in one period; a missing row has seen nothing. */
export const budgetPeriods = lazyTable(
  "budget_periods",
  () => ({
    budgetId: text("budget_id")
      .notNull()
      .references(() => budgets.id, { onDelete: "cascade" }),
    /** The UTC day on which it begins. */
    startDay: text("start_day").notNull(),
    spentMicros: integer("spent_micros").notNull().default(0),
    spentPicos: integer("spent_picos").notNull().default(0),
    reservedMicros: integer("reserved_micros").notNull().default(0),
    /** When the limit was reached first; null before. */
    reachedAt: integer("reached_at"),
  }),
  (table) => [primaryKey({ columns: [table.budgetId, table.startDay] })],
);

/** What calls under way may cost at most; whoever finds one whose process died settles it at that. */
export const spendingReservations = lazyTable(
  "spending_reservations",
  () => ({
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    /** Empty for the dashboard, as in usage. */
    keyId: text("key_id").notNull(),
    /** The UTC day that it counts towards. */
    day: text("day").notNull(),
    model: text("model").notNull(),
    provider: text("provider").notNull(),
    micros: integer("micros").notNull(),
    /** Those in whose `reserved_micros` it is. */
    budgetIds: text("budget_ids", { mode: "json" }).$type<string[]>().notNull(),
    /** Of the call; see `spendingFactsOf`. */
    facts: text("facts", { mode: "json" }).$type<string[]>().notNull(),
    /** Of one of several servers, so only in PostgreSQL; here it is what a copy from there has brought. */
    instanceNumber: integer("instance_number"),
    /** Whether it outlives the process: a voice session, whose length is told later. */
    isVoice: integer("is_voice", { mode: "boolean" }).notNull(),
    /** From then on it is settled at its worst case. */
    dueAt: integer("due_at").notNull(),
  }),
  (table) => [index("spending_reservations_due").on(table.dueAt)],
);

/** For which accounts no provider call begins; the empty id stands for all. */
export const spendingStops = lazyTable("spending_stops", () => ({
  accountId: text("account_id").primaryKey(),
  stoppedAt: integer("stopped_at").notNull(),
}));

/** Solved challenges that began a turn, until they would have ended anyway. */
export const spentChallenges = lazyTable(
  "spent_challenges",
  () => ({
    signature: text("signature").primaryKey(),
    /** What it may be used for again: the conversation and the client's name of the message; empty for nothing. */
    use: text("use").notNull(),
    /** How often it may begin that again. */
    repeatsLeft: integer("repeats_left").notNull(),
    expiresAt: integer("expires_at").notNull(),
  }),
  (table) => [index("spent_challenges_expiry").on(table.expiresAt)],
);
