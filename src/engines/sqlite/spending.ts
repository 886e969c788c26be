/** What budgets see of usage and calls, in SQLite. */
import { part, run } from "../store-shared/scripts/script.ts";
import type { SpendingParts } from "../store-shared/scripts/spending.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import { createSpendingChoices } from "./spending-choices.ts";
import { createSpendingSums } from "./spending-sums.ts";

const forgetReserved = `UPDATE spending_reservations
  SET budget_ids = (SELECT json_group_array(value) FROM json_each(budget_ids) WHERE value <> $2)
  WHERE account_id = $1 AND EXISTS (SELECT 1 FROM json_each(budget_ids) WHERE value = $2)`;

export function createSpendingParts(engine: SqliteEngine, parts: StoreParts): SpendingParts {
  const { events, spending, usage } = parts;
  const selectDue = engine.query<{ id: string }, [number, number]>(
    "SELECT id FROM spending_reservations WHERE due_at <= ? ORDER BY due_at LIMIT ?",
  );
  const sums = createSpendingSums(engine, usage, spending);

  return {
    match: (accountId, facts) => part(() => spending.match(accountId, facts)),

    tell: (event) => part(() => events.tell(event)),

    async withSum(accountId, of, nowMs, work) {
      const sum = await sums.open(accountId, of, nowMs);
      try {
        return await work((budget) => part(() => spending.beginPeriod(accountId, budget, sum.total(), nowMs)));
      } finally {
        sum.close();
      }
    },

    forgetReserved: (accountId, budgetId) => run(forgetReserved, accountId, budgetId),

    async sumSpent(accountId, subject, period, nowMs) {
      const sum = await sums.open(accountId, { subject, period }, nowMs);
      sum.close();
      return await engine.read(() => sum.total());
    },

    listCountedKeys: (keyId) => engine.read(() => spending.listCountedKeys(keyId)),

    listChoices: createSpendingChoices(engine, parts),

    reserve: (call) => engine.append(() => spending.reserve(call)),

    release: async (id) => {
      await engine.append(() => spending.end(id));
    },

    settleDue: async (nowMs, limit) => {
      if ((await engine.read(() => selectDue.get(nowMs, 1))) === null) return { settled: 0, reached: [] };
      return await engine.append(() => {
        const due = selectDue.all(nowMs, limit);
        return { settled: due.length, reached: due.flatMap(({ id }) => spending.settleAtWorst(id, nowMs)) };
      });
    },
  };
}
