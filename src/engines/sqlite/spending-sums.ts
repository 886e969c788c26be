/** What a budget's subject has cost so far, read from usage in SQLite. */
import type { Budget, BudgetSubject } from "../../domain/budget.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Cost } from "../../domain/money.ts";
import { daysOfPeriod, filtersOfSubject, hasSubject } from "../store-shared/rows/budgets.ts";
import type { SqliteEngine } from "./engine.ts";
import type { SpendingLedger } from "./spending-ledger.ts";
import { createLabelIndex } from "./usage-label-index.ts";
import type { UsageWriter } from "./usage-writer.ts";

const summed = "coalesce(sum(cost_micros), 0) AS micros, coalesce(sum(cost_picos), 0) AS picos";

/** A sum that stays right while more is counted. */
interface RunningSum {
  /** Call it inside the write that begins to count by itself. */
  total(): Cost;
  close(): void;
}

interface Days {
  fromDay: string;
  toDay: string;
}

export function createSpendingSums(
  engine: SqliteEngine,
  usage: Pick<UsageWriter, "watch">,
  { listCountedKeys }: Pick<SpendingLedger, "listCountedKeys">,
) {
  const labels = createLabelIndex(engine);
  const sumAccount = engine.query<Cost, [string, string, string]>(
    `SELECT ${summed} FROM usage_account_daily WHERE account_id = ? AND day >= ? AND day < ?`,
  );
  const sumKeys = engine.query<Cost, [string, string, string, string]>(
    `SELECT ${summed} FROM usage_account_daily WHERE account_id = ? AND day >= ? AND day < ?
       AND key_id IN (SELECT value FROM json_each(?))`,
  );
  const sumCompanion = engine.query<Cost, [string, string, string, string]>(
    `SELECT ${summed} FROM usage_daily WHERE account_id = ? AND companion_id = ? AND day >= ? AND day < ?`,
  );
  const sumLabels = engine.query<Cost, [string, string, string, string, string]>(
    `SELECT ${summed} FROM json_each(?) AS wanted CROSS JOIN usage_daily
     WHERE account_id = ? AND companion_id = wanted.value AND day >= ? AND day < ?
       AND label IN (SELECT value FROM json_each(?))`,
  );
  const selectNewest = engine.query<{ number: number | null }>("SELECT max(number) AS number FROM usage_labels");

  function sumPlain(accountId: string, subject: BudgetSubject, { fromDay, toDay }: Days): Cost | null {
    if ("keyId" in subject)
      return sumKeys.get(accountId, fromDay, toDay, JSON.stringify(listCountedKeys(subject.keyId)));
    if ("companionId" in subject) return sumCompanion.get(accountId, subject.companionId, fromDay, toDay);
    return sumAccount.get(accountId, fromDay, toDay);
  }

  /**
   * Slice by slice, since there may be thousands of labels. What is counted meanwhile under a label that was summed
   * already, or that is new, is added as it comes; all else is found by a later slice.
   */
  async function sumMetadata(accountId: string, metadata: JsonObject, { fromDay, toDay }: Days): Promise<RunningSum> {
    const sum = { micros: 0, picos: 0 };
    const add = (cost: Cost | null) => {
      sum.micros += cost?.micros ?? 0;
      sum.picos += cost?.picos ?? 0;
    };
    const isSummed = new Set<number>();
    const newLabels = new Map<number, boolean>();
    function isNewMatch(label: number): boolean {
      const known = newLabels.get(label);
      if (known !== undefined) return known;
      const [row] = labels.read([label]);
      const isMatch = row !== undefined && hasSubject(JSON.parse(row.metadata), metadata);
      newLabels.set(label, isMatch);
      return isMatch;
    }
    const { newest, close } = await engine.read(() => {
      const last = selectNewest.get()?.number ?? 0;
      const unwatch = usage.watch((counted) => {
        if (counted.accountId !== accountId || counted.day < fromDay || counted.day >= toDay) return;
        const { label, cost } = counted;
        if (label > last ? isNewMatch(label) : isSummed.has(label)) add(cost);
      });
      return { newest: last, close: unwatch };
    });
    try {
      for await (const found of labels.walk(accountId, filtersOfSubject(metadata))) {
        const known = found.filter(({ number }) => number <= newest);
        const companionIds = JSON.stringify([...new Set(known.map(({ companionId }) => companionId))]);
        const numbers = known.map(({ number }) => number);
        await engine.read(() => {
          add(sumLabels.get(companionIds, accountId, fromDay, toDay, JSON.stringify(numbers)));
          for (const number of numbers) isSummed.add(number);
        });
      }
    } catch (error) {
      close();
      throw error;
    }
    return { total: () => sum, close };
  }

  return {
    /** Close it when it is needed no longer. */
    async open(
      accountId: string,
      { subject, period }: Pick<Budget, "subject" | "period">,
      nowMs: number,
    ): Promise<RunningSum> {
      const days = daysOfPeriod(period, nowMs);
      if ("metadata" in subject) return await sumMetadata(accountId, subject.metadata, days);
      return { total: () => sumPlain(accountId, subject, days) ?? { micros: 0, picos: 0 }, close: () => undefined };
    },
  };
}
