/** Budgets and the operator's stops. Each engine sums usage, and counts what calls reserve and cost, differently. */
import { toPage } from "../../../contracts/store/page.ts";
import type { BudgetCheck, BudgetPatch, SpendingStore } from "../../../contracts/store/spending.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { type Budget, type BudgetState, isReached, maxBudgets, startDayOf } from "../../../domain/budget.ts";
import { AppError } from "../../../domain/errors.ts";
import { toLaterMs, toUtcDay } from "../../../lib/clock.ts";
import { beforeAll, type PeriodRow, restartsCount, toSubjectColumns } from "../rows/budgets.ts";
import { budgetEvent } from "../rows/events.ts";
import { changes } from "./changes.ts";
import { all, columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";
import { changeSpending, createSpendingStops } from "./spending-stops.ts";

type BudgetRow = Omit<Budget, "subject"> & { subject: string };
type StateRow = BudgetRow & { [Field in keyof PeriodRow]: PeriodRow[Field] | null };

const shown = columns<BudgetRow>("b", [
  ...(["id", "subject", "limitMicros", "period", "action", "createdAt", "updatedAt"] as const),
]);
const ofPeriod = columns<PeriodRow>("p", ["spentMicros", "spentPicos", "reservedMicros", "reachedAt"]);
/** With what they have seen in the periods that begin on `$2` and `$3`. */
const withPeriod = `SELECT ${shown}, ${ofPeriod} FROM budgets b LEFT JOIN budget_periods p
    ON p.budget_id = b.id AND p.start_day = CASE b.period WHEN 'day' THEN $2 ELSE $3 END
  WHERE b.account_id = $1`;
const selectOne = `${withPeriod} AND b.id = $4`;
const pages = {
  asc: `${withPeriod} AND b.id > $4 ORDER BY b.id LIMIT $5`,
  desc: `${withPeriod} AND b.id < $4 ORDER BY b.id DESC LIMIT $5`,
};
const selectMany = `SELECT ${shown} FROM budgets b WHERE b.id = ANY ($1::text[])`;
const selectStopping = "SELECT id FROM budgets WHERE action = 'stop' LIMIT 1";
const countAll = "SELECT count(*) AS count FROM budgets WHERE account_id = $1";
const updateOne = `UPDATE budgets SET subject = $2, facts = $3, fact = $4, limit_micros = $5, period = $6, action = $7,
  updated_at = $8 WHERE id = $1`;
const setReached = "UPDATE budget_periods SET reached_at = $3 WHERE budget_id = $1 AND start_day = $2";

function startDays(nowMs: number): [day: string, month: string] {
  const day = toUtcDay(nowMs);
  return [startDayOf("day", day), startDayOf("month", day)];
}

const toBudget = ({ subject, ...row }: BudgetRow): Budget => ({ ...row, subject: JSON.parse(subject) });

function toState({ spentMicros, spentPicos, reservedMicros, reachedAt, ...row }: StateRow): BudgetState {
  const spent = { micros: spentMicros ?? 0, picos: spentPicos ?? 0 };
  return { ...toBudget(row), spent, reservedMicros: reservedMicros ?? 0, reachedAt };
}

function* find(accountId: string, id: string, nowMs: number): Script<BudgetState | null> {
  const row = yield* get<StateRow>(selectOne, accountId, ...startDays(nowMs), id);
  return row === null ? null : toState(row);
}

/** Makes a budget, which has seen nothing yet, see its period from its beginning: what is spent, and what is held. */
export type BeginPeriod = (budget: Budget) => Script<unknown>;

/** What an engine has of its own. */
export interface SpendingParts
  extends Pick<SpendingStore, "sumSpent" | "listCountedKeys" | "listChoices" | "reserve" | "release" | "settleDue"> {
  /** The budgets that count a call with these facts. */
  match(accountId: string, facts: readonly string[]): Script<readonly Pick<Budget, "id">[]>;
  /**
   * Sums what a subject has cost since its period began, which takes long: `begin`, inside the change that `work` makes,
   * adds what was counted meanwhile.
   */
  withSum<Result>(
    accountId: string,
    of: Pick<Budget, "subject" | "period">,
    nowMs: number,
    work: (begin: BeginPeriod) => Promise<Result>,
  ): Promise<Result>;
  /** See `NewEvent`. */
  emit(event: NewEvent): Script<void>;
  /** The budget holds nothing of calls under way any more. */
  forgetReserved(accountId: string, budgetId: string): Script<unknown>;
}

export function createSpendingStore(
  scripts: ScriptRunner,
  { match, withSum, forgetReserved, emit, ...own }: SpendingParts,
): SpendingStore {
  /** That what is spent already reaches its limit. */
  function* findAndEmit(
    accountId: string,
    id: string,
    nowMs: number,
    before: number | null,
  ): Script<BudgetState | null> {
    const state = yield* find(accountId, id, nowMs);
    const { reachedAt = null } = state ?? {};
    if (state !== null && reachedAt !== null && reachedAt !== before)
      yield* emit(budgetEvent(state, accountId, reachedAt));
    return state;
  }

  /** `begin` where it counts again from the start: what was summed must be what it counts, whatever else was changed meanwhile. */
  function* update(
    accountId: string,
    { expected, patch, check }: { expected: Budget; patch: BudgetPatch; check: BudgetCheck | undefined },
    context: WriteContext,
    begin: BeginPeriod | null,
  ): Script<BudgetState | null | "outdated"> {
    const { id } = expected;
    const { nowMs } = context;
    const before = yield* find(accountId, id, nowMs);
    if (before === null) return null;
    check?.(before);
    const budget = { ...before, ...patch, updatedAt: toLaterMs(nowMs, before.updatedAt) };
    const { limitMicros, period, action, updatedAt } = budget;
    const { subject, facts, fact } = toSubjectColumns(budget.subject);
    const isExpected = period === expected.period && subject === JSON.stringify(expected.subject);
    if (begin !== null && !isExpected) return "outdated";
    yield* run(updateOne, id, subject, facts, fact, limitMicros, period, action, updatedAt);
    if (begin !== null) {
      yield* run("DELETE FROM budget_periods WHERE budget_id = $1", id);
      yield* forgetReserved(accountId, id);
      yield* begin(budget);
    } else if (patch.limitMicros !== undefined) {
      const reachedAt = isReached(before.spent, limitMicros) ? (before.reachedAt ?? nowMs) : null;
      yield* run(setReached, id, startDayOf(period, toUtcDay(nowMs)), reachedAt);
    }
    const details = { changed: Object.keys(patch) };
    yield* changes.record(context, { accountId, action: "budget.update", targetId: id, details });
    return yield* findAndEmit(accountId, id, nowMs, before.reachedAt);
  }

  return {
    ...own,
    ...createSpendingStops(scripts),

    createBudget: (accountId, made, context) =>
      withSum(accountId, made, context.nowMs, (begin) =>
        changeSpending(scripts, accountId, function* () {
          yield* changes.requireAccount(accountId);
          const counted = yield* get<{ count: number }>(countAll, accountId);
          if ((counted?.count ?? 0) >= maxBudgets) {
            throw new AppError("limit_reached", `An account has at most ${maxBudgets} budgets. Delete one first.`);
          }
          const { nowMs } = context;
          const budget = { ...made, createdAt: nowMs, updatedAt: nowMs };
          const { id, period, action, limitMicros } = budget;
          const row = { id, accountId, period, action, limitMicros, createdAt: nowMs, updatedAt: nowMs };
          yield* insert("budgets", { ...row, ...toSubjectColumns(budget.subject) });
          yield* begin(budget);
          const details = { period, action, limit_micros: limitMicros };
          yield* changes.record(context, { accountId, action: "budget.create", targetId: id, details });
          return (yield* findAndEmit(accountId, id, nowMs, null)) as BudgetState;
        }),
      ),

    async listBudgets(accountId, { limit, afterId, order = "desc" }, nowMs) {
      const after = afterId ?? beforeAll[order];
      const rows = await scripts.read(() =>
        all<StateRow>(pages[order], accountId, ...startDays(nowMs), after, limit + 1),
      );
      return toPage(rows.map(toState), limit);
    },

    findBudget: (accountId, id, nowMs) => scripts.read(() => find(accountId, id, nowMs)),

    async updateBudget(accountId, id, patch, context, check) {
      const { nowMs } = context;
      for (;;) {
        const known = await scripts.read(() => find(accountId, id, nowMs));
        if (known === null) return null;
        const expected = { ...known, ...patch };
        const attempt = (begin: BeginPeriod | null) =>
          changeSpending(scripts, accountId, () => update(accountId, { expected, patch, check }, context, begin));
        const changed = restartsCount(patch) ? await withSum(accountId, expected, nowMs, attempt) : await attempt(null);
        if (changed !== "outdated") return changed;
      }
    },

    deleteBudget: (accountId, id, context, check) =>
      changeSpending(scripts, accountId, function* () {
        const budget = yield* find(accountId, id, context.nowMs);
        if (budget === null) return false;
        check?.(budget);
        yield* run("DELETE FROM budgets WHERE id = $1", id);
        yield* changes.record(context, { accountId, action: "budget.delete", targetId: id, details: {} });
        return true;
      }),

    listMatching: (accountId, facts) =>
      scripts.read(function* () {
        const matching = yield* match(accountId, facts);
        const ids = matching.map(({ id }) => id);
        return (yield* all<BudgetRow>(selectMany, ids)).map(toBudget);
      }),

    hasStopBudgets: () =>
      scripts.read(function* () {
        return (yield* get(selectStopping)) !== null;
      }),
  };
}
