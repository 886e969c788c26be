/** Budgets and the operator's stops in PostgreSQL. */
import { type Budget, type BudgetState, type BudgetSubject, mostBudgets, startDayOf } from "../../domain/budget.ts";
import { toLaterMs, toUtcDay } from "../../lib/clock.ts";
import { toPage } from "../contract/page.ts";
import type { BudgetPatch, SpendingStore } from "../contract/spending.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { beforeAll, countsAnew, type PeriodRow, toBudgetState, toSubjectColumns } from "../rows/budgets.ts";
import { tooManyBudgets } from "../rows/refusals.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { budgets as budgetsTable } from "./schema/spending.ts";
import { createSpendingChoices } from "./spending-choices.ts";
import { listCountedKeys, readReached, spendingQueries } from "./spending-ledger.ts";
import { beginPeriod, type FoundLabels, findSubjectLabels, sumSubject } from "./spending-sums.ts";
import type { Transaction } from "./transaction.ts";
import { createLabelIndex } from "./usage-label-index.ts";

const columns = mapColumns(budgetsTable, ["accountId", "fact", "facts"]);
const read = columns.createReader();

const withPeriod = `SELECT ${columns.select("b")}, p.spent_micros::float8 AS "spentMicros",
    p.spent_picos::float8 AS "spentPicos", p.reserved_micros::float8 AS "reservedMicros", p.reached_at::float8 AS "reachedAt"
  FROM budgets b LEFT JOIN budget_periods p
    ON p.budget_id = b.id AND p.start_day = start_of_period(b.period, $2) WHERE b.account_id = $1`;
const reachAnew = `UPDATE budget_periods p
  SET reached_at = CASE WHEN p.spent_micros + p.spent_picos / 1000000 >= $3 THEN coalesce(p.reached_at, $4) END
  WHERE p.budget_id = $1 AND p.start_day = $2`;
const forgetReserved = `UPDATE spending_reservations r
  SET budget_ids = (SELECT coalesce(jsonb_agg(i.id), '[]')::text FROM jsonb_array_elements_text(r.budget_ids::jsonb) AS i (id)
    WHERE i.id <> $2)
  WHERE r.account_id = $1 AND r.budget_ids::jsonb ? $2`;
const selectDue = "SELECT id FROM spending_reservations WHERE due_at <= $1 ORDER BY due_at LIMIT $2";
const insertStop = `INSERT INTO spending_stops (account_id, stopped_at)
  SELECT $1, $2 WHERE $1 = '' OR EXISTS (SELECT FROM accounts WHERE id = $1) ON CONFLICT DO NOTHING`;
const selectOperator = "SELECT id FROM accounts WHERE role = 'operator' ORDER BY number LIMIT 1";

/** Of the empty id of all accounts. */
const everybody = "";

type StateRow = Parameters<typeof read>[0] & { [Field in keyof PeriodRow]: PeriodRow[Field] | null };

export function createSpendingStore(
  engine: PostgresEngine,
  { changes, metadata, spending }: StoreParts,
): SpendingStore {
  const labelIndex = createLabelIndex(engine, changes);
  const listChoices = createSpendingChoices(engine.heavy, { changes, metadata });
  const findLabels = (accountId: string, subject: BudgetSubject) =>
    findSubjectLabels(engine.heavy, labelIndex.walk, accountId, subject);

  async function find(queries: Queries, accountId: string, id: string, nowMs: number): Promise<BudgetState | null> {
    const row = await queries.get<StateRow>(`${withPeriod} AND b.id = $3`, [accountId, toUtcDay(nowMs), id]);
    return row === null ? null : toState(row);
  }

  /** For changes of budgets: nothing is reserved or settled in the account's meanwhile. */
  const change = <T>(accountId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    engine.change(accountId, async (transaction) => {
      await transaction.lock(`spending ${accountId}`);
      return await work(transaction);
    });

  async function update(
    transaction: Transaction,
    accountId: string,
    { budget, labels, nowMs }: { budget: Budget; labels: FoundLabels | null; nowMs: number },
    patch: BudgetPatch,
  ): Promise<void> {
    const { id, limitMicros, period, action, updatedAt } = budget;
    const changed = { ...toSubjectColumns(budget.subject), limitMicros, period, action, updatedAt };
    await columns.update(transaction, changed, "id = $1", [id]);
    if (labels !== null) {
      await transaction.run("DELETE FROM budget_periods WHERE budget_id = $1", [id]);
      await transaction.run(forgetReserved, [accountId, id]);
      await beginPeriod(transaction, accountId, { budget, labels, nowMs });
    } else if (patch.limitMicros !== undefined) {
      await transaction.run(reachAnew, [id, startDayOf(period, toUtcDay(nowMs)), limitMicros, nowMs]);
    }
  }

  async function recordStop(
    transaction: Queries,
    action: string,
    accountId: string | null,
    context: WriteContext,
  ): Promise<void> {
    const operator = accountId === null ? await transaction.get<{ id: string }>(selectOperator) : null;
    const seenBy = accountId ?? operator?.id ?? everybody;
    const details = { account_id: accountId };
    await changes.record(transaction, context, { accountId: seenBy, action, targetId: accountId, details });
  }

  return {
    async createBudget(accountId, made, context) {
      const labels = await findLabels(accountId, made.subject);
      return await change(accountId, async (transaction) => {
        await changes.requireAccount(transaction, accountId);
        const row = await transaction.get<{ budgets: number }>(
          "SELECT count(*)::int AS budgets FROM budgets WHERE account_id = $1",
          [accountId],
        );
        if ((row?.budgets ?? 0) >= mostBudgets) throw tooManyBudgets();
        const { nowMs } = context;
        const budget = { ...made, createdAt: nowMs, updatedAt: nowMs };
        await columns.insert(transaction, [{ ...budget, accountId, ...toSubjectColumns(budget.subject) }]);
        await beginPeriod(transaction, accountId, { budget, labels, nowMs });
        const details = { period: budget.period, action: budget.action, limit_micros: budget.limitMicros };
        const entry = { accountId, action: "budget.create", targetId: budget.id, details };
        await changes.record(transaction, context, entry);
        return (await find(transaction, accountId, budget.id, nowMs)) ?? toBudgetState(budget, null);
      });
    },

    listBudgets: async (accountId, { limit, afterId, order = "desc" }, nowMs) => {
      const text = `${withPeriod} AND b.id ${order === "asc" ? "> $3 ORDER BY b.id" : "< $3 ORDER BY b.id DESC"} LIMIT $4`;
      const after = afterId ?? beforeAll[order];
      const rows = await engine.quick.all<StateRow>(text, [accountId, toUtcDay(nowMs), after, limit + 1]);
      return toPage(rows.map(toState), limit);
    },

    findBudget: (accountId, id, nowMs) => find(engine.quick, accountId, id, nowMs),

    async updateBudget(accountId, id, patch, context, check) {
      const { nowMs } = context;
      for (;;) {
        const known = await find(engine.quick, accountId, id, nowMs);
        if (known === null) return null;
        const subject = patch.subject ?? known.subject;
        const labels = countsAnew(patch) ? await findLabels(accountId, subject) : null;
        const changed = await change(accountId, async (transaction) => {
          const before = await find(transaction, accountId, id, nowMs);
          if (before === null) return null;
          check?.(before);
          const budget = { ...before, ...patch, updatedAt: toLaterMs(nowMs, before.updatedAt) };
          // Changed meanwhile: these would be the labels of something else.
          if (labels !== null && JSON.stringify(budget.subject) !== JSON.stringify(subject)) return "outdated";
          await update(transaction, accountId, { budget, labels, nowMs }, patch);
          const details = { changed: Object.keys(patch) };
          await changes.record(transaction, context, { accountId, action: "budget.update", targetId: id, details });
          return await find(transaction, accountId, id, nowMs);
        });
        if (changed !== "outdated") return changed;
      }
    },

    deleteBudget: (accountId, id, context, check) =>
      change(accountId, async (transaction) => {
        const budget = await find(transaction, accountId, id, context.nowMs);
        if (budget === null) return false;
        check?.(budget);
        await transaction.run("DELETE FROM budgets WHERE id = $1", [id]);
        const entry = { accountId, action: "budget.delete", targetId: id, details: {} };
        await changes.record(transaction, context, entry);
        return true;
      }),

    sumSpent: async (accountId, subject, period, nowMs) => {
      const labels = await findLabels(accountId, subject);
      return await sumSubject(engine.heavy, accountId, { subject, period, nowMs }, labels);
    },

    listMatching: async (accountId, facts) => {
      const text = `SELECT ${columns.select("b")} FROM budgets b JOIN (${spendingQueries.match}) m ON m.id = b.id`;
      const rows = await engine.quick.all<StateRow>(text, [accountId, JSON.stringify(facts)]);
      return rows.map((row) => read(row));
    },

    listCountedKeys: (keyId) => listCountedKeys(engine.quick, keyId),

    hasStopBudgets: async () =>
      (await engine.quick.get("SELECT id FROM budgets WHERE action = 'stop' LIMIT 1", [])) !== null,

    listChoices,

    reserve: (call) => spending.reserve(engine.quickPool.once, call),

    release: async (id) => {
      await engine.quick.run(spendingQueries.release, [id]);
    },

    settleDue: async (nowMs, limit) => {
      const due = await engine.heavy.all<{ id: string }>(selectDue, [nowMs, limit]);
      if (due.length === 0) return { settled: 0, reached: [] };
      const ids = due.map(({ id }) => id);
      const row = await engine.writeHeavy((transaction) =>
        transaction.get<{ reached: string }>("SELECT settle_at_worst($1::text[], $2::bigint)::text AS reached", [
          ids,
          nowMs,
        ]),
      );
      return { settled: due.length, reached: readReached(row) };
    },

    stop: (accountId, context) =>
      change(accountId ?? everybody, async (transaction) => {
        if (accountId !== null && (await changes.findAccountNumber(transaction, accountId)) === null) return false;
        const stopped = await transaction.run(insertStop, [accountId ?? everybody, context.nowMs]);
        if (stopped > 0) await recordStop(transaction, "spending.stop", accountId, context);
        return true;
      }),

    start: (accountId, context) =>
      change(accountId ?? everybody, async (transaction) => {
        const remove = "DELETE FROM spending_stops WHERE account_id = $1";
        if ((await transaction.run(remove, [accountId ?? everybody])) === 0) return false;
        await recordStop(transaction, "spending.start", accountId, context);
        return true;
      }),

    listStops: async () => {
      const text = `SELECT nullif(account_id, '') AS "accountId", stopped_at::float8 AS "stoppedAt" FROM spending_stops
        ORDER BY account_id`;
      return await engine.quick.all(text);
    },

    findStop: async (accountId) => {
      const text = `SELECT min(stopped_at)::float8 AS "stoppedAt" FROM spending_stops WHERE account_id IN ('', $1)`;
      return (await engine.quick.get<{ stoppedAt: number | null }>(text, [accountId]))?.stoppedAt ?? null;
    },
  };
}

function toState({ spentMicros, spentPicos, reservedMicros, reachedAt, ...row }: StateRow): BudgetState {
  const period =
    spentMicros === null
      ? null
      : { spentMicros, spentPicos: spentPicos ?? 0, reservedMicros: reservedMicros ?? 0, reachedAt };
  return toBudgetState(read(row), period);
}
