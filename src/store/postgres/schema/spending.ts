/** Tables of what usage was recorded under, of budgets, and of what stops or slows down spending. */
import { boolean, customType, index, integer, pgTable, primaryKey } from "drizzle-orm/pg-core";
import type { BudgetAction, BudgetPeriod, BudgetSubject } from "../../../domain/budget.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { accounts } from "./accounts.ts";
import { jsonColumn, numberColumn, textColumn, wholeColumn } from "./column-types.ts";

const bytesColumn = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

/** A companion's metadata as it stood when something was counted; usage refers to the number, 0 for none. */
export const usageLabels = pgTable(
  "usage_labels",
  {
    number: numberColumn("number").primaryKey(),
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    metadata: jsonColumn<JsonObject>()("metadata").notNull(),
    /** The UTC day for which it was made; empty if it was made because the companion went. */
    day: textColumn("day").notNull(),
    /** Whether `usage_label_metadata` has it: done before the first query that needs it, not while turns settle. */
    isIndexed: boolean("is_indexed").notNull().default(false),
  },
  (table) => [
    index("usage_labels_companion").on(table.companionId, table.number),
    index("usage_labels_account").on(table.accountId, table.isIndexed, table.number),
  ],
);

/** Which labels of an account have a value under a metadata path, as `companion_metadata` says it of companions. */
export const usageLabelMetadata = pgTable(
  "usage_label_metadata",
  {
    accountNumber: wholeColumn("account_number").notNull(),
    path: textColumn("path").notNull(),
    value: textColumn("value").notNull(),
    block: integer("block").notNull(),
    members: bytesColumn("members").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountNumber, table.path, table.value, table.block] })],
);

export const budgets = pgTable(
  "budgets",
  {
    id: textColumn("id").primaryKey(),
    accountId: textColumn("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    /** The first of `facts`, under which it is found. */
    fact: textColumn("fact").notNull(),
    /** What a call must be, all of it, to count; see `spendingFactsOf`. */
    facts: jsonColumn<string[]>()("facts").notNull(),
    subject: jsonColumn<BudgetSubject>()("subject").notNull(),
    limitMicros: wholeColumn("limit_micros").notNull(),
    period: textColumn("period").$type<BudgetPeriod>().notNull(),
    action: textColumn("action").$type<BudgetAction>().notNull(),
    createdAt: wholeColumn("created_at").notNull(),
    updatedAt: wholeColumn("updated_at").notNull(),
  },
  (table) => [index("budgets_fact").on(table.accountId, table.fact)],
);

/** What a budget has seen in one period; a missing row has seen nothing. */
export const budgetPeriods = pgTable(
  "budget_periods",
  {
    budgetId: textColumn("budget_id")
      .notNull()
      .references(() => budgets.id, { onDelete: "cascade" }),
    /** The UTC day on which it begins. */
    startDay: textColumn("start_day").notNull(),
    spentMicros: wholeColumn("spent_micros").notNull().default(0),
    spentPicos: wholeColumn("spent_picos").notNull().default(0),
    reservedMicros: wholeColumn("reserved_micros").notNull().default(0),
    /** When the limit was reached first; null before. */
    reachedAt: wholeColumn("reached_at"),
  },
  (table) => [primaryKey({ columns: [table.budgetId, table.startDay] })],
);

/** What calls under way may cost at most; whoever finds one whose process died settles it at that. */
export const spendingReservations = pgTable(
  "spending_reservations",
  {
    id: textColumn("id").primaryKey(),
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    /** Empty for the dashboard, as in usage. */
    keyId: textColumn("key_id").notNull(),
    /** The UTC day that it counts towards. */
    day: textColumn("day").notNull(),
    model: textColumn("model").notNull(),
    provider: textColumn("provider").notNull(),
    micros: wholeColumn("micros").notNull(),
    /** Those in whose `reserved_micros` it is. */
    budgetIds: jsonColumn<string[]>()("budget_ids").notNull(),
    /** Of the call; see `spendingFactsOf`. */
    facts: jsonColumn<string[]>()("facts").notNull(),
    /** Null for a voice session, which outlives the server. */
    instanceNumber: wholeColumn("instance_number"),
    /** Whether it outlives the process: a voice session, whose length is told later. */
    isVoice: boolean("is_voice").notNull(),
    /** From then on it is settled at its worst case. */
    dueAt: wholeColumn("due_at").notNull(),
  },
  (table) => [
    index("spending_reservations_due").on(table.dueAt),
    index("spending_reservations_instance").on(table.instanceNumber),
  ],
);

/** For which accounts no provider call begins; the empty id stands for all. */
export const spendingStops = pgTable("spending_stops", {
  accountId: textColumn("account_id").primaryKey(),
  stoppedAt: wholeColumn("stopped_at").notNull(),
});

/** Solved challenges that began a turn, until they would have ended anyway. */
export const spentChallenges = pgTable(
  "spent_challenges",
  {
    signature: textColumn("signature").primaryKey(),
    /** What it may be used for again: the conversation and the client's name of the message; empty for nothing. */
    use: textColumn("use").notNull(),
    /** How often it may begin that again. */
    repeatsLeft: wholeColumn("repeats_left").notNull(),
    expiresAt: wholeColumn("expires_at").notNull(),
  },
  (table) => [index("spent_challenges_expiry").on(table.expiresAt)],
);
