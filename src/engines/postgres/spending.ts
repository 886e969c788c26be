/** What budgets see of usage and calls, in PostgreSQL. */
import type { BudgetSubject } from "../../domain/budget.ts";
import { all, part, run } from "../store-shared/scripts/script.ts";
import type { SpendingParts } from "../store-shared/scripts/spending.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { createSpendingChoices } from "./spending-choices.ts";
import { listCountedKeys, readReached, spendingQueries } from "./spending-ledger.ts";
import { beginPeriod, findSubjectLabels, sumSubject } from "./spending-sums.ts";
import type { Transaction } from "./transaction.ts";
import { createLabelIndex } from "./usage-label-index.ts";

const forgetReserved = `UPDATE spending_reservations r
  SET budget_ids = (SELECT coalesce(jsonb_agg(i.id), '[]')::text FROM jsonb_array_elements_text(r.budget_ids::jsonb) AS i (id)
    WHERE i.id <> $2)
  WHERE r.account_id = $1 AND r.budget_ids::jsonb ? $2`;
const selectDue = "SELECT id FROM spending_reservations WHERE due_at <= $1 ORDER BY due_at LIMIT $2";
const settleAtWorst = "SELECT settle_at_worst($1::text[], $2::bigint)::text AS reached";

export function createSpendingParts(
  engine: PostgresEngine,
  { bell, changes, events, metadata, spending }: StoreParts,
): SpendingParts {
  const labelIndex = createLabelIndex(engine, changes);
  const findLabels = (accountId: string, subject: BudgetSubject) =>
    findSubjectLabels(engine.heavy, labelIndex.walk, accountId, subject);

  return {
    tell: (event) => part((transaction: Transaction) => events.tell(transaction, [event])),

    match: (accountId, facts) => all(spendingQueries.match, accountId, JSON.stringify(facts)),

    async withSum(accountId, { subject }, nowMs, work) {
      const labels = await findLabels(accountId, subject);
      return await work((budget) =>
        part((transaction: Queries) => beginPeriod(transaction, accountId, { budget, labels, nowMs })),
      );
    },

    forgetReserved: (accountId, budgetId) => run(forgetReserved, accountId, budgetId),

    async sumSpent(accountId, subject, period, nowMs) {
      const labels = await findLabels(accountId, subject);
      return await sumSubject(engine.heavy, accountId, { subject, period, nowMs }, labels);
    },

    listCountedKeys: (keyId) => listCountedKeys(engine.quick, keyId),

    listChoices: createSpendingChoices(engine.heavy, { changes, metadata }),

    reserve: (call) => spending.reserve(engine.quickPool.once, call),

    release: async (id) => {
      await engine.quick.run(spendingQueries.release, [id]);
    },

    settleDue: async (nowMs, limit) => {
      const due = await engine.heavy.all<{ id: string }>(selectDue, [nowMs, limit]);
      if (due.length === 0) return { settled: 0, reached: [] };
      const ids = due.map(({ id }) => id);
      const row = await engine.writeHeavy((transaction) =>
        transaction.get<{ reached: string }>(settleAtWorst, [ids, nowMs]),
      );
      const reached = readReached(row);
      if (reached.length > 0) bell.ring();
      return { settled: due.length, reached };
    },
  };
}
