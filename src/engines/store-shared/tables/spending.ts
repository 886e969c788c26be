/** Tables of what usage was recorded under, of budgets, and of what stops or slows down spending. */
import type { BudgetAction, BudgetPeriod, BudgetSubject } from "../../../domain/budget.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import type { AccountTables } from "./accounts.ts";
import type { Dialect } from "./dialect.ts";

export function spendingTables(dialect: Dialect, { accounts }: Pick<AccountTables, "accounts">) {
  const { table, lastingNumber, text, whole, small, boolean, json, bytes, primaryKey, index, inPostgres } = dialect;

  /** A companion's metadata as it stood when something was counted; usage refers to the number, 0 for none. */
  const usageLabels = table(
    "usage_labels",
    () => ({
      number: lastingNumber(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      metadata: json<JsonObject>("metadata").notNull(),
      /** The UTC day for which it was made; empty if it was made because the companion went. */
      day: text("day").notNull(),
      /** Whether `usage_label_metadata` has it: done before the first query that needs it, not while turns settle. */
      isIndexed: boolean("is_indexed").notNull().default(false),
    }),
    (row) => [
      index("usage_labels_companion").on(row.companionId, row.number),
      index("usage_labels_account").on(row.accountId, row.isIndexed, row.number),
    ],
  );

  /** Which labels of an account have a value under a metadata path, as `companion_metadata` does for companions. */
  const usageLabelMetadata = table(
    "usage_label_metadata",
    () => ({
      accountNumber: whole("account_number").notNull(),
      path: text("path").notNull(),
      value: text("value").notNull(),
      block: small("block").notNull(),
      members: bytes("members").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.accountNumber, row.path, row.value, row.block] })],
  );

  const budgets = table(
    "budgets",
    () => ({
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id, { onDelete: "cascade" }),
      /** The first of `facts`, under which it is found. */
      fact: text("fact").notNull(),
      /** What a call must be, all of it, to count; see `spendingFactsOf`. */
      facts: json<string[]>("facts").notNull(),
      subject: json<BudgetSubject>("subject").notNull(),
      limitMicros: whole("limit_micros").notNull(),
      period: text<BudgetPeriod>("period").notNull(),
      action: text<BudgetAction>("action").notNull(),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
    }),
    (row) => [index("budgets_fact").on(row.accountId, row.fact)],
  );

  /** What a budget has seen in one period; a missing row has seen nothing. */
  const budgetPeriods = table(
    "budget_periods",
    () => ({
      budgetId: text("budget_id")
        .notNull()
        .references(() => budgets.id, { onDelete: "cascade" }),
      /** The UTC day on which it begins. */
      startDay: text("start_day").notNull(),
      spentMicros: whole("spent_micros").notNull().default(0),
      spentPicos: whole("spent_picos").notNull().default(0),
      reservedMicros: whole("reserved_micros").notNull().default(0),
      /** When the limit was reached first; null before. */
      reachedAt: whole("reached_at"),
    }),
    (row) => [primaryKey({ columns: [row.budgetId, row.startDay] })],
  );

  /**
   * What calls under way may cost at most; a server that finds one whose process died settles it at that. Copied too: those of
   * servers that have stopped are settled by the server that serves the copy, at its start or when they are due.
   */
  const spendingReservations = table(
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
      micros: whole("micros").notNull(),
      /** Those in whose `reserved_micros` it is. */
      budgetIds: json<string[]>("budget_ids").notNull(),
      /** Of the call; see `spendingFactsOf`. */
      facts: json<string[]>("facts").notNull(),
      /** Null for a voice session, which outlives the server; in SQLite it is what a copy from PostgreSQL has brought. */
      instanceNumber: whole("instance_number"),
      /** Whether it outlives the process: a voice session, whose length is reported later. */
      isVoice: boolean("is_voice").notNull(),
      /** From then on it is settled at its worst case. */
      dueAt: whole("due_at").notNull(),
    }),
    (row) => [
      index("spending_reservations_due").on(row.dueAt),
      ...inPostgres(index("spending_reservations_instance").on(row.instanceNumber)),
    ],
  );

  /** For which accounts no provider call begins; the empty id stands for all. */
  const spendingStops = table("spending_stops", () => ({
    accountId: text("account_id").primaryKey(),
    stoppedAt: whole("stopped_at").notNull(),
  }));

  /** Solved challenges that began a turn, until they would have ended anyway. */
  const spentChallenges = table(
    "spent_challenges",
    () => ({
      signature: text("signature").primaryKey(),
      /** What it may be used for again: the conversation and the client's name of the message; empty for nothing. */
      use: text("use").notNull(),
      /** How often it may begin that again. */
      repeatsLeft: whole("repeats_left").notNull(),
      expiresAt: whole("expires_at").notNull(),
    }),
    (row) => [index("spent_challenges_expiry").on(row.expiresAt)],
  );

  return {
    usageLabels,
    usageLabelMetadata,
    budgets,
    budgetPeriods,
    spendingReservations,
    spendingStops,
    spentChallenges,
  };
}
