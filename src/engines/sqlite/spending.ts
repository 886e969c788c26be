/** What budgets see of usage and calls, in SQLite. */
import type { CompanionChoice } from "../../contracts/store/spending.ts";
import type { Budget, BudgetSubject } from "../../domain/budget.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Cost } from "../../domain/money.ts";
import { pause } from "../../lib/pause.ts";
import { addChoices, daysOfPeriod, filtersOfSubject, hasSubject } from "../store-shared/rows/budgets.ts";
import { part, run } from "../store-shared/scripts/script.ts";
import type { SpendingParts } from "../store-shared/scripts/spending.ts";
import { createAccountNumberFinder, type SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { SpendingLedger } from "./spending-ledger.ts";
import { createLabelIndex } from "./usage-label-index.ts";
import type { UsageWriter } from "./usage-writer.ts";

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

    emit: (event) => part(() => events.emit(event)),

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

const companionsPerSlice = 500;
const choice = `model, reasoning_effort AS reasoningEffort, voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS hasVoice,
  max_output_tokens AS maxOutputTokens, ifnull(octet_length(system_prompt), 0) AS promptBytes`;

interface ChoiceRow extends Omit<CompanionChoice, "hasVoice"> {
  number: number;
  hasVoice: number;
  keyId: string | null;
}

/** What the companions may call whose calls a budget counts, read in slices: an account may have a million. */
function createSpendingChoices(
  engine: SqliteEngine,
  { metadata, spending }: Pick<StoreParts, "metadata" | "spending">,
) {
  const findAccountNumber = createAccountNumberFinder(engine);
  const columns = `number, ${choice}, created_by_key_id AS keyId`;
  const selectSome = engine.query<ChoiceRow, [string, number, number]>(
    `SELECT ${columns} FROM companions WHERE account_id = ? AND number < ? ORDER BY number DESC LIMIT ?`,
  );
  const selectOne = engine.query<ChoiceRow, [string, string]>(
    `SELECT ${columns} FROM companions WHERE account_id = ? AND id = ?`,
  );
  const selectNumbers = engine.query<ChoiceRow, [string]>(
    `SELECT ${columns} FROM json_each(?) AS n CROSS JOIN companions ON number = n.value`,
  );

  /** The next below that number, which are the subject's or others; `below` null at the end. */
  function readSlice(accountId: string, subject: BudgetSubject, below: number) {
    if ("companionId" in subject) return { rows: selectOne.all(accountId, subject.companionId), below: null };
    if (!("metadata" in subject)) {
      const rows = selectSome.all(accountId, below, companionsPerSlice);
      return { rows, below: rows.at(-1)?.number ?? null };
    }
    const account = findAccountNumber(accountId);
    const walk = account === null ? [] : metadata.walk(account, filtersOfSubject(subject.metadata), below);
    for (const numbers of walk) {
      return { rows: selectNumbers.all(JSON.stringify(numbers)), below: numbers.at(-1) ?? null };
    }
    return { rows: [], below: null };
  }

  return async (accountId: string, subject: BudgetSubject): Promise<CompanionChoice[]> => {
    const choices = new Map<string, CompanionChoice>();
    const makers =
      "keyId" in subject ? new Set(await engine.read(() => spending.listCountedKeys(subject.keyId))) : null;
    for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null; ) {
      const start: number = below;
      const slice = await engine.snapshot(() => readSlice(accountId, subject, start));
      for (const { number: _, keyId, hasVoice, ...row } of slice.rows) {
        if (makers !== null && (keyId === null || !makers.has(keyId))) continue;
        addChoices(choices, [{ ...row, hasVoice: hasVoice === 1 }]);
      }
      below = slice.below;
      await pause();
    }
    return [...choices.values()];
  };
}

const summed = "coalesce(sum(cost_micros), 0) AS micros, coalesce(sum(cost_picos), 0) AS picos";

/** A sum that stays right while more is counted. */
interface RunningSum {
  /** Call it inside the write that starts its count. */
  total(): Cost;
  close(): void;
}

interface Days {
  fromDay: string;
  toDay: string;
}

function createSpendingSums(
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
