/** What calls reserve and cost in budgets, in PostgreSQL: the functions of the database that turns settle with, too. */
import type { Cost } from "../../domain/money.ts";
import type { ReachedBudget, Spend, SpendingCall, SpendingVerdict } from "../contract/spending.ts";
import type { Queries } from "./queries.ts";

export const spendingQueries = {
  match: `SELECT budget_id AS id FROM match_budgets(ARRAY[$1::text], ARRAY[$2::text])`,
  reserve: `SELECT reserve_spending($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint, $10, $11::boolean, $12::bigint, $13::bigint)::text
    AS verdict`,
  release: "SELECT release_spending($1)",
};

interface VerdictRow {
  isReserved: boolean;
  refusing?: ("day" | "month")[] | null;
  reached?: ReachedBudget[];
}

export type SpendingLedger = ReturnType<typeof createSpendingLedger>;

export function createSpendingLedger() {
  return {
    /** In one statement, which is one transaction. */
    async reserve(queries: Queries, call: SpendingCall): Promise<SpendingVerdict> {
      const { id, accountId, companionId, keyId, facts, day, answerer, micros, ticketId, isVoice, nowMs, dueAtMs } =
        call;
      const row = await queries.get<{ verdict: string }>(spendingQueries.reserve, [
        ...[id, accountId, companionId, keyId ?? "", JSON.stringify(facts), day, answerer.model, answerer.provider],
        ...[micros, ticketId === null ? null : String(ticketId), isVoice, nowMs, dueAtMs],
      ]);
      const { isReserved, refusing, reached = [] }: VerdictRow = JSON.parse(row?.verdict ?? "");
      if (!refusing) return { isAdmitted: true, isReserved };
      return { isAdmitted: false, period: refusing.includes("month") ? "month" : "day", reached };
    },

    /** Before what a call has cost is counted in usage. */
    async share(transaction: Queries, accountId: string): Promise<void> {
      await transaction.run("SELECT share_spending(ARRAY[$1::text])", [accountId]);
    },

    async settle(
      transaction: Queries,
      { accountId, day }: { accountId: string; day: string },
      cost: Cost,
      { facts, reservationId, atMs }: Spend,
    ): Promise<ReachedBudget[]> {
      const row = await transaction.get<{ reached: string }>(
        `SELECT settle_spending(ARRAY[$1::text], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::bigint], ARRAY[$5::bigint],
           ARRAY[$6::text], ARRAY[$7::bigint])::text AS reached`,
        [accountId, JSON.stringify(facts), day, cost.micros, cost.picos, reservationId, atMs],
      );
      return JSON.parse(row?.reached ?? "[]");
    },
  };
}
