/** What calls reserve and cost in budgets, in PostgreSQL: the functions of the database that turns settle with, too. */
import type { ReachedBudget, Spend, SpendingCall, SpendingVerdict } from "../../contracts/store/spending.ts";
import type { BudgetPeriod } from "../../domain/budget.ts";
import type { Cost } from "../../domain/money.ts";
import { latestPeriod } from "../store-shared/rows/budgets.ts";
import type { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import { hasWebhooks } from "./events.ts";
import type { Parameter, Queries } from "./queries.ts";
import { toArrays } from "./rows/columns.ts";
import type { Transaction } from "./transaction.ts";

export const spendingQueries = {
  match: `SELECT budget_id AS id FROM match_budgets(ARRAY[$1::text], ARRAY[$2::text])`,
  reserve: `SELECT reserve_spending($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint, $10, $11::boolean, $12::bigint, $13::bigint)::text
    AS verdict`,
  release: "SELECT release_spending($1)",
  countedKeys: `WITH RECURSIVE kin (id) AS (
      SELECT $1::text COLLATE "C" UNION SELECT n.id FROM kin CROSS JOIN LATERAL (
        SELECT k.id FROM api_keys k WHERE k.created_by_key_id = kin.id
        UNION ALL SELECT k.id FROM api_keys k WHERE k.replaces_key_id = kin.id
        UNION ALL SELECT k.replaces_key_id FROM api_keys k WHERE k.id = kin.id AND k.replaces_key_id IS NOT NULL
      ) AS n (id)
    ) SELECT id FROM kin`,
};

/** Of the parameters of `settle_spending`. */
export const spendingTypes = ["text[]", "text[]", "text[]", "bigint[]", "bigint[]", "text[]", "bigint[]"];

interface SpentTurn {
  usage: { accountId: string; day: string };
  cost: Cost | null;
  spend: Spend;
}

export const toSpendingArrays = (turns: readonly SpentTurn[]): Parameter[] =>
  toArrays(turns, [
    ({ usage }) => usage.accountId,
    ({ spend }) => JSON.stringify(spend.facts),
    ({ usage }) => usage.day,
    ({ cost }) => cost?.micros ?? null,
    ({ cost }) => cost?.picos ?? null,
    ({ spend }) => spend.reservationId,
    ({ spend }) => spend.atMs,
  ]);

/** What the functions return. */
export const readReached = (row: { reached: string } | null): ReachedBudget[] => JSON.parse(row?.reached ?? "[]");

interface VerdictRow {
  isReserved: boolean;
  refusing?: BudgetPeriod[] | null;
  reached?: ReachedBudget[];
}

/** The keys whose calls a budget on this one counts, itself among them. */
export async function listCountedKeys(queries: Queries, keyId: string): Promise<string[]> {
  return (await queries.all<{ id: string }>(spendingQueries.countedKeys, [keyId])).map(({ id }) => id);
}

export type SpendingLedger = ReturnType<typeof createSpendingLedger>;

/** Events that a function has returned are known to wait after its commit. */
export function createSpendingLedger(bell: Pick<DeliveryBell, "ring">) {
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
      if (reached.length > 0) bell.ring();
      return { isAdmitted: false, period: latestPeriod(refusing), reached };
    },

    /** Before what a call has cost is counted in usage. */
    async share(transaction: Queries, accountId: string): Promise<void> {
      await transaction.run("SELECT share_spending(ARRAY[$1::text])", [accountId]);
    },

    async settle(
      transaction: Transaction,
      { accountId, day }: { accountId: string; day: string },
      cost: Cost,
      { facts, reservationId, atMs }: Spend,
    ): Promise<ReachedBudget[]> {
      const row = await transaction.get<{ reached: string }>(
        `SELECT settle_spending(ARRAY[$1::text], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::bigint], ARRAY[$5::bigint],
           ARRAY[$6::text], ARRAY[$7::bigint])::text AS reached`,
        [accountId, JSON.stringify(facts), day, cost.micros, cost.picos, reservationId, atMs],
      );
      const reached = readReached(row);
      if (reached.length > 0) transaction.afterCommit(() => bell.ring());
      return reached;
    },
  };
}

/**
 * What an account may spend at a moment, and whether it receives events, read along with the rest of a request's query.
 * `account`: an expression for the account's id.
 */
export const spendingState = (account: string) =>
  `EXISTS (SELECT FROM spending_stops s WHERE s.account_id IN ('', ${account})) AS "isStopped",
   EXISTS (SELECT FROM budgets b WHERE b.account_id = ${account}) AS "hasBudgets",
   ${hasWebhooks(account)} AS "hasWebhooks"`;
