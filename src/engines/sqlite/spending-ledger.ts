/** What calls reserve and cost in budgets, in SQLite. All of it is called inside writes. */
import type { ReachedBudget, Spend, SpendingCall, SpendingVerdict } from "../../contracts/store/spending.ts";
import { type Budget, factsOfSubject, isReached, startDayOf } from "../../domain/budget.ts";
import { type Cost, ceilToMicros } from "../../domain/money.ts";
import { openDayOf } from "../../domain/usage.ts";
import { countsCall, daysOfPeriod, latestPeriod, type PeriodRow } from "../store-shared/rows/budgets.ts";
import type { SqliteEngine } from "./engine.ts";
import { type EventWriter, hasWebhooks } from "./events.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";
import type { UsageWriter } from "./usage-writer.ts";

type MatchedRow = Pick<Budget, "id" | "limitMicros" | "period" | "action"> & { facts: string };
type Matched = Omit<MatchedRow, "facts">;
type ReservationRow = Omit<
  StoredRow<typeof tables.spendingReservations>,
  "id" | "instanceNumber" | "isVoice" | "dueAt"
>;

export type SpendingLedger = ReturnType<typeof createSpendingLedger>;

const returned = `account_id AS accountId, companion_id AS companionId, key_id AS keyId, day, model, provider, micros,
  budget_ids AS budgetIds, facts`;

export function createSpendingLedger(engine: SqliteEngine, usage: UsageWriter, events: EventWriter) {
  const selectAny = engine.query<{ one: number }, [string]>(
    "SELECT 1 AS one FROM budgets WHERE account_id = ? LIMIT 1",
  );
  // In this order: an index lookup for each fact of the call, however many budgets the account has.
  const selectMatching = engine.query<MatchedRow, [string, string]>(
    `SELECT b.id, b.limit_micros AS limitMicros, b.period, b.action, b.facts
     FROM json_each(?) AS f CROSS JOIN budgets AS b ON b.account_id = ? AND b.fact = f.value`,
  );
  const selectPeriod = engine.query<PeriodRow, [string, string]>(
    `SELECT spent_micros AS spentMicros, spent_picos AS spentPicos, reserved_micros AS reservedMicros,
       reached_at AS reachedAt FROM budget_periods WHERE budget_id = ? AND start_day = ?`,
  );
  const addToPeriod = engine.query<PeriodRow, [string, string, number, number, number]>(
    `INSERT INTO budget_periods (budget_id, start_day, spent_micros, spent_picos, reserved_micros)
       VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET spent_micros = spent_micros + excluded.spent_micros,
       spent_picos = spent_picos + excluded.spent_picos, reserved_micros = reserved_micros + excluded.reserved_micros
     RETURNING spent_micros AS spentMicros, spent_picos AS spentPicos, reserved_micros AS reservedMicros,
       reached_at AS reachedAt`,
  );
  const setReached = engine.query<null, [number, string, string]>(
    "UPDATE budget_periods SET reached_at = ? WHERE budget_id = ? AND start_day = ?",
  );
  const insertReservation = mapColumns(tables.spendingReservations).createInsert(engine);
  const takeReservation = engine.query<ReservationRow, [string]>(
    () => `DELETE FROM spending_reservations AS r WHERE r.id = ? RETURNING ${returned}`,
  );
  const giveBack = engine.query<null, [number, string, string, string, string]>(
    `UPDATE budget_periods SET reserved_micros = max(0, reserved_micros - ?) WHERE budget_id = ?
       AND start_day = (SELECT CASE period WHEN 'day' THEN ? ELSE ? END FROM budgets WHERE id = ?)`,
  );

  const selectHeld = engine.query<Pick<ReservationRow, "micros" | "facts"> & { id: string }, [string, string, string]>(
    "SELECT id, micros, facts FROM spending_reservations WHERE account_id = ? AND day >= ? AND day < ?",
  );
  const holdIn = engine.query<null, [string, string]>(
    "UPDATE spending_reservations SET budget_ids = json_insert(budget_ids, '$[#]', ?) WHERE id = ?",
  );
  const kin = createKeyKin(engine);

  function match(accountId: string, facts: readonly string[]): Matched[] {
    const has = kin.expand(accountId, facts);
    const found = selectMatching.all(JSON.stringify([...has]), accountId);
    return found.filter((budget) => countsCall(JSON.parse(budget.facts), has));
  }

  /**
   * Marks that the limit is reached for the first time in the period: the one statement where this becomes true, in the
   * commit of what brought it about.
   */
  function reach(
    accountId: string,
    { id, action, period, limitMicros }: Matched,
    startDay: string,
    atMs: number,
  ): ReachedBudget {
    setReached.run(atMs, id, startDay);
    events.emitReached({ id, action, period, limitMicros }, accountId, atMs);
    return { id, accountId, action, period };
  }

  /** `spent`: those that have too little left. */
  function refuse(call: SpendingCall, spent: readonly { budget: Matched; isFirst: boolean }[]): SpendingVerdict {
    const period = latestPeriod(spent.map(({ budget }) => budget.period));
    const reached = spent.flatMap(({ budget, isFirst }) => {
      if (!isFirst) return [];
      const startDay = startDayOf(budget.period, call.day);
      addToPeriod.get(budget.id, startDay, 0, 0, 0);
      return [reach(call.accountId, budget, startDay, call.nowMs)];
    });
    return { isAdmitted: false, period, reached };
  }

  /** Ends the reservation; null if it is gone. */
  function end(id: string): ReservationRow | null {
    const reservation = takeReservation.get(id);
    if (reservation === null) return null;
    const { day, micros } = reservation;
    for (const budgetId of JSON.parse(reservation.budgetIds) as string[]) {
      giveBack.run(micros, budgetId, day, startDayOf("month", day), budgetId);
    }
    return reservation;
  }

  function spend(
    { accountId, facts, day }: { accountId: string; facts: readonly string[]; day: string },
    cost: Cost,
    atMs: number,
  ): ReachedBudget[] {
    return match(accountId, facts).flatMap((budget) => {
      const startDay = startDayOf(budget.period, day);
      const row = addToPeriod.get(budget.id, startDay, cost.micros, cost.picos, 0);
      if (row === null || row.reachedAt !== null) return [];
      const spent = { micros: row.spentMicros, picos: row.spentPicos };
      return isReached(spent, budget.limitMicros) ? [reach(accountId, budget, startDay, atMs)] : [];
    });
  }

  return {
    match,
    end,
    listCountedKeys: kin.listCounted,

    /** Replaces nothing: for a budget that is new in the period. It includes what calls under way have reserved. */
    beginPeriod(accountId: string, budget: Budget, spent: Cost, nowMs: number): void {
      const { id, subject, period, limitMicros } = budget;
      const { fromDay, toDay } = daysOfPeriod(period, nowMs);
      const facts = factsOfSubject(subject);
      let reserved = 0;
      for (const held of selectHeld.all(accountId, fromDay, toDay)) {
        if (!countsCall(facts, kin.expand(accountId, JSON.parse(held.facts)))) continue;
        holdIn.run(id, held.id);
        reserved += held.micros;
      }
      addToPeriod.get(id, fromDay, spent.micros, spent.picos, reserved);
      if (isReached(spent, limitMicros)) setReached.run(nowMs, id, fromDay);
    },

    reserve(call: SpendingCall): SpendingVerdict {
      const { accountId, facts, day, micros } = call;
      const budgets = match(accountId, facts);
      const stops = budgets.filter(({ action }) => action === "stop");
      if (micros === null) {
        const refusing = stops.map((budget) => ({ budget, isFirst: false }));
        return refusing.length > 0 ? refuse(call, refusing) : { isAdmitted: true, isReserved: false };
      }
      const refusing = stops.flatMap((budget) => {
        const row = selectPeriod.get(budget.id, startDayOf(budget.period, day));
        const spent = row === null ? 0 : ceilToMicros({ micros: row.spentMicros, picos: row.spentPicos });
        if (spent + (row?.reservedMicros ?? 0) + micros <= budget.limitMicros) return [];
        const isFirst = (row?.reachedAt ?? null) === null;
        return [{ budget, isFirst, isSpent: spent + micros > budget.limitMicros }];
      });
      if (refusing.length > 0) {
        return refuse(
          call,
          refusing.filter(({ isSpent }) => isSpent),
        );
      }
      if (budgets.length === 0) return { isAdmitted: true, isReserved: false };
      for (const { id, period } of budgets) addToPeriod.get(id, startDayOf(period, day), 0, 0, micros);
      const { id, companionId, answerer, isVoice, dueAtMs: dueAt } = call;
      insertReservation({
        ...{ id, accountId, companionId, day, micros, isVoice, dueAt, ...answerer },
        keyId: call.keyId ?? "",
        instanceNumber: null,
        budgetIds: budgets.map((budget) => budget.id),
        facts: [...facts],
      });
      return { isAdmitted: true, isReserved: true };
    },

    /** Of a call that has ended, however: what it cost, null where that is unknown. */
    settle({ accountId, day }: { accountId: string; day: string }, cost: Cost | null, spent: Spend): ReachedBudget[] {
      const held = spent.reservationId === null ? null : end(spent.reservationId);
      if (cost === null || selectAny.get(accountId) === null) return [];
      // Where it was reserved, even if the companion has changed meanwhile.
      const facts: readonly string[] = held === null ? spent.facts : JSON.parse(held.facts);
      return spend({ accountId, day, facts }, cost, spent.atMs);
    },

    /** As if the call had cost all that was reserved for it. */
    settleAtWorst(id: string, nowMs: number): ReachedBudget[] {
      const reservation = end(id);
      if (reservation === null) return [];
      const { accountId, companionId, day, micros, model, provider } = reservation;
      const key = { accountId, companionId, keyId: reservation.keyId || null, day: openDayOf(day, nowMs) };
      usage.add({ ...key, answeredBy: { model, provider } }, { costMicros: micros });
      return spend({ accountId, day, facts: JSON.parse(reservation.facts) }, { micros, picos: 0 }, nowMs);
    },
  };
}

/** What an account may spend at a moment, and whether it receives events, read along with the rest of a request's query. */
export interface SpendingStateRow {
  isStopped: number;
  hasBudgets: number;
  hasWebhooks: number;
}

/** `account`: an expression for the account's id. Two lookups take half as long as one with a list. */
export const spendingState = (account: string) =>
  `EXISTS (SELECT 1 FROM spending_stops WHERE account_id = '')
     OR EXISTS (SELECT 1 FROM spending_stops WHERE account_id = ${account}) AS isStopped,
   EXISTS (SELECT 1 FROM budgets WHERE account_id = ${account}) AS hasBudgets,
   ${hasWebhooks(account)} AS hasWebhooks`;

const replacements = `UNION SELECT k.id FROM kin JOIN api_keys k ON k.replaces_key_id = kin.id
  UNION SELECT k.replaces_key_id FROM kin JOIN api_keys k ON k.id = kin.id WHERE k.replaces_key_id IS NOT NULL`;

export const keyKinQueries = {
  above: `WITH RECURSIVE kin (id) AS (
      SELECT substr(value, 5) FROM json_each(?) WHERE value LIKE 'key:%' ${replacements}
      UNION SELECT k.created_by_key_id FROM kin JOIN api_keys k ON k.id = kin.id WHERE k.created_by_key_id IS NOT NULL
    ) SELECT id FROM kin`,
  below: `WITH RECURSIVE kin (id) AS (
      SELECT ? ${replacements}
      UNION SELECT k.id FROM kin JOIN api_keys k ON k.created_by_key_id = kin.id
    ) SELECT id FROM kin`,
};

/** Which keys count in budgets on which, in SQLite. Call it inside a read or a write. */
function createKeyKin(engine: SqliteEngine) {
  const selectAny = engine.query<{ one: number }, [string]>(
    "SELECT 1 AS one FROM budgets WHERE account_id = ? AND fact >= 'key:' AND fact < 'key;' LIMIT 1",
  );
  const selectAbove = engine.query<{ id: string }, [string]>(keyKinQueries.above);
  const selectBelow = engine.query<{ id: string }, [string]>(keyKinQueries.below);
  return {
    /** The facts of a call, with those of all keys whose budgets count it. */
    expand(accountId: string, facts: readonly string[]): Set<string> {
      const all = new Set(facts);
      if (selectAny.get(accountId) === null) return all;
      for (const { id } of selectAbove.all(JSON.stringify(facts))) all.add(`key:${id}`);
      return all;
    },

    /** The keys whose calls a budget on this one counts, itself among them. */
    listCounted: (keyId: string): string[] => selectBelow.all(keyId).map(({ id }) => id),
  };
}
