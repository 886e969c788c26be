/** Budgets and the operator's stops in SQLite. */
import { type Budget, type BudgetState, isReached, mostBudgets, startDayOf } from "../../domain/budget.ts";
import { toLaterMs, toUtcDay } from "../../lib/clock.ts";
import { toPage } from "../contract/page.ts";
import type { BudgetCheck, BudgetPatch, SpendingStop, SpendingStore } from "../contract/spending.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { beforeAll, countsAnew, type PeriodRow, toBudgetState, toSubjectColumns } from "../rows/budgets.ts";
import { tooManyBudgets } from "../rows/refusals.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { budgets as budgetsTable } from "./schema/spending.ts";
import { createSpendingChoices } from "./spending-choices.ts";
import { createSpendingSums, type RunningSum } from "./spending-sums.ts";

type BudgetRow = Omit<StoredRow<typeof budgetsTable>, "accountId" | "fact" | "facts">;

/** Of the empty id of all accounts. */
const everybody = "";

export function createSpendingStore(engine: SqliteEngine, parts: StoreParts): SpendingStore {
  const { changes, spending } = parts;
  const columns = mapColumns(budgetsTable, ["accountId", "fact", "facts"]);
  const insert = columns.createInsert(engine);
  const select = engine.query<BudgetRow, [string, string]>(
    () => `SELECT ${columns.select("b")} FROM budgets b WHERE b.id = ? AND b.account_id = ?`,
  );
  const selectPage = (condition: string) =>
    engine.query<BudgetRow, [string, string, number]>(
      () => `SELECT ${columns.select("b")} FROM budgets b WHERE b.account_id = ? AND b.id ${condition} LIMIT ?`,
    );
  const pages = { desc: selectPage("< ? ORDER BY b.id DESC"), asc: selectPage("> ? ORDER BY b.id") };
  const count = engine.query<{ budgets: number }, [string]>(
    "SELECT count(*) AS budgets FROM budgets WHERE account_id = ?",
  );
  const update = engine.query<null, [string, string, string, number, string, string, number, string]>(
    `UPDATE budgets SET subject = ?, facts = ?, fact = ?, limit_micros = ?, period = ?, action = ?, updated_at = ?
     WHERE id = ?`,
  );
  const remove = engine.query<null, [string]>("DELETE FROM budgets WHERE id = ?");
  const forgetPeriods = engine.query<null, [string]>("DELETE FROM budget_periods WHERE budget_id = ?");
  const setReached = engine.query<null, [number | null, string, string]>(
    "UPDATE budget_periods SET reached_at = ? WHERE budget_id = ? AND start_day = ?",
  );
  const forgetReserved = engine.query<null, [string, string, string]>(
    `UPDATE spending_reservations
     SET budget_ids = (SELECT json_group_array(value) FROM json_each(budget_ids) WHERE value <> ?)
     WHERE account_id = ? AND EXISTS (SELECT 1 FROM json_each(budget_ids) WHERE value = ?)`,
  );
  const selectDue = engine.query<{ id: string }, [number, number]>(
    "SELECT id FROM spending_reservations WHERE due_at <= ? ORDER BY due_at LIMIT ?",
  );
  const insertStop = engine.query<null, [string, number]>(
    "INSERT INTO spending_stops (account_id, stopped_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const deleteStop = engine.query<null, [string]>("DELETE FROM spending_stops WHERE account_id = ?");
  const selectStops = engine.query<{ accountId: string; stoppedAt: number }>(
    "SELECT account_id AS accountId, stopped_at AS stoppedAt FROM spending_stops ORDER BY account_id",
  );
  const selectStop = engine.query<{ stoppedAt: number | null }, [string]>(
    "SELECT min(stopped_at) AS stoppedAt FROM spending_stops WHERE account_id IN ('', ?)",
  );
  const selectStopBudget = engine.query<{ id: string }>("SELECT id FROM budgets WHERE action = 'stop' LIMIT 1");
  const selectOperator = engine.query<{ id: string }>(
    "SELECT id FROM accounts WHERE role = 'operator' ORDER BY number LIMIT 1",
  );
  const sums = createSpendingSums(engine, parts.usage, spending);
  const listChoices = createSpendingChoices(engine, parts);
  const read = columns.createReader();

  function toState(budget: Budget, nowMs: number): BudgetState {
    const row = spending.readPeriod(budget.id, startDayOf(budget.period, toUtcDay(nowMs)));
    return toBudgetState(budget, row);
  }

  function find(accountId: string, id: string): Budget | null {
    const row = select.get(id, accountId);
    return row === null ? null : read(row);
  }

  /** With what a subject has cost since its period began, which is exact inside the write that counts from then on. */
  async function withSum<T>(
    accountId: string,
    { subject, period }: Pick<Budget, "subject" | "period">,
    nowMs: number,
    work: (sum: RunningSum) => Promise<T>,
  ): Promise<T> {
    const sum = await sums.open(accountId, subject, period, nowMs);
    try {
      return await work(sum);
    } finally {
      sum.close();
    }
  }

  /** Reached or not by another limit. */
  function reachAnew({ id, period, limitMicros }: Budget, nowMs: number): void {
    const startDay = startDayOf(period, toUtcDay(nowMs));
    const row: PeriodRow | null = spending.readPeriod(id, startDay);
    if (row === null) return;
    const hasReached = isReached({ micros: row.spentMicros, picos: row.spentPicos }, limitMicros);
    setReached.run(hasReached ? (row.reachedAt ?? nowMs) : null, id, startDay);
  }

  /** `sum` where it counts anew: what was summed must be what it counts, whatever else was changed meanwhile. */
  function change(
    accountId: string,
    {
      id,
      patch,
      sum,
      subject,
      period,
    }: Pick<Budget, "id" | "subject" | "period"> & { patch: BudgetPatch; sum: RunningSum | null },
    context: WriteContext,
    check: BudgetCheck | undefined,
  ): BudgetState | null | "outdated" {
    const before = find(accountId, id);
    if (before === null) return null;
    check?.(before);
    const { nowMs } = context;
    const updatedAt = toLaterMs(nowMs, before.updatedAt);
    const budget: Budget = { ...before, ...patch, updatedAt };
    if (budget.period !== period || JSON.stringify(budget.subject) !== JSON.stringify(subject)) return "outdated";
    const columns = toSubjectColumns(budget.subject);
    const { limitMicros, action } = budget;
    const facts = JSON.stringify(columns.facts);
    update.run(JSON.stringify(subject), facts, columns.fact, limitMicros, period, action, updatedAt, id);
    if (sum !== null) {
      forgetPeriods.run(id);
      forgetReserved.run(id, accountId, id);
      spending.beginPeriod(accountId, budget, sum.total(), nowMs);
    } else if (patch.limitMicros !== undefined) reachAnew(budget, nowMs);
    const details = { changed: Object.keys(patch) };
    changes.record(context, { accountId, action: "budget.update", targetId: id, details });
    return toState(budget, nowMs);
  }

  function recordStop(action: string, accountId: string | null, context: WriteContext): void {
    const details = { account_id: accountId };
    const seenBy = accountId ?? selectOperator.get()?.id ?? everybody;
    changes.record(context, { accountId: seenBy, action, targetId: accountId, details });
  }

  return {
    createBudget: (accountId, made, context) =>
      withSum(accountId, made, context.nowMs, (sum) =>
        engine.write(() => {
          changes.requireAccount(accountId);
          if ((count.get(accountId)?.budgets ?? 0) >= mostBudgets) throw tooManyBudgets();
          const budget = { ...made, createdAt: context.nowMs, updatedAt: context.nowMs };
          insert({ ...budget, accountId, ...toSubjectColumns(budget.subject) });
          spending.beginPeriod(accountId, budget, sum.total(), context.nowMs);
          const details = { period: budget.period, action: budget.action, limit_micros: budget.limitMicros };
          changes.record(context, { accountId, action: "budget.create", targetId: budget.id, details });
          return toState(budget, context.nowMs);
        }),
      ),

    listBudgets: (accountId, { limit, afterId, order = "desc" }, nowMs) =>
      engine.snapshot(() => {
        const rows = pages[order].all(accountId, afterId ?? beforeAll[order], limit + 1);
        return toPage(
          rows.map((row) => toState(read(row), nowMs)),
          limit,
        );
      }),

    findBudget: (accountId, id, nowMs) =>
      engine.snapshot(() => {
        const budget = find(accountId, id);
        return budget === null ? null : toState(budget, nowMs);
      }),

    async updateBudget(accountId, id, patch, context, check) {
      const { nowMs } = context;
      for (;;) {
        const known = await engine.read(() => find(accountId, id));
        if (known === null) return null;
        const expected = { ...known, ...patch };
        const attempt = (sum: RunningSum | null) =>
          engine.write(() => change(accountId, { ...expected, patch, sum }, context, check));
        const changed = countsAnew(patch) ? await withSum(accountId, expected, nowMs, attempt) : await attempt(null);
        if (changed !== "outdated") return changed;
      }
    },

    deleteBudget: (accountId, id, context, check) =>
      engine.write(() => {
        const budget = find(accountId, id);
        if (budget === null) return false;
        check?.(budget);
        remove.run(id);
        changes.record(context, { accountId, action: "budget.delete", targetId: id, details: {} });
        return true;
      }),

    sumSpent: (accountId, subject, period, nowMs) =>
      withSum(accountId, { subject, period }, nowMs, (sum) => engine.read(() => sum.total())),

    listMatching: (accountId, facts) =>
      engine.read(() => spending.match(accountId, facts).flatMap(({ id }) => find(accountId, id) ?? [])),

    listCountedKeys: (keyId) => engine.read(() => spending.listCountedKeys(keyId)),

    hasStopBudgets: () => engine.read(() => selectStopBudget.get() !== null),

    listChoices,

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

    stop: (accountId, context) =>
      engine.write(() => {
        if (accountId !== null && changes.findAccountNumber(accountId) === null) return false;
        if (insertStop.run(accountId ?? everybody, context.nowMs) > 0) recordStop("spending.stop", accountId, context);
        return true;
      }),

    start: (accountId, context) =>
      engine.write(() => {
        if (deleteStop.run(accountId ?? everybody) === 0) return false;
        recordStop("spending.start", accountId, context);
        return true;
      }),

    listStops: () =>
      engine.read((): SpendingStop[] =>
        selectStops.all().map(({ accountId, stoppedAt }) => ({ accountId: accountId || null, stoppedAt })),
      ),

    findStop: (accountId) => engine.read(() => selectStop.get(accountId)?.stoppedAt ?? null),
  };
}
