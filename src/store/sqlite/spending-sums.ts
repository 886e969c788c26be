/** What a budget's subject has cost so far, and what its companions may call, read from usage and companions in SQLite. */
import type { BudgetPeriod, BudgetSubject } from "../../domain/budget.ts";
import type { Cost } from "../../domain/money.ts";
import type { CompanionChoice } from "../contract/spending.ts";
import { daysOfPeriod, hasSubject, textsOfSubject } from "../rows/budgets.ts";
import type { SqliteEngine } from "./engine.ts";

const summed = "coalesce(sum(cost_micros), 0) AS micros, coalesce(sum(cost_picos), 0) AS picos";
const choice = "model, voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS hasVoice";

interface ChoiceRow {
  model: string | null;
  hasVoice: number;
}

/** Call it inside reads and writes. */
export function createSpendingSums(engine: SqliteEngine) {
  const sumAccount = engine.query<Cost, [string, string, string]>(
    `SELECT ${summed} FROM usage_account_daily WHERE account_id = ? AND day >= ? AND day < ?`,
  );
  const sumKey = engine.query<Cost, [string, string, string, string]>(
    `SELECT ${summed} FROM usage_account_daily WHERE account_id = ? AND day >= ? AND day < ? AND key_id = ?`,
  );
  const sumCompanion = engine.query<Cost, [string, string, string, string]>(
    `SELECT ${summed} FROM usage_daily WHERE account_id = ? AND companion_id = ? AND day >= ? AND day < ?`,
  );
  const sumLabel = engine.query<Cost, [string, string, string, string, number]>(
    `SELECT ${summed} FROM usage_daily
     WHERE account_id = ? AND companion_id = ? AND day >= ? AND day < ? AND label = ?`,
  );
  const selectLabels = engine.query<{ number: number; companionId: string; metadata: string }, [string, string]>(
    `SELECT number, companion_id AS companionId, metadata FROM usage_labels
     WHERE account_id = ? AND NOT EXISTS (SELECT 1 FROM json_each(?) AS part WHERE instr(metadata, part.value) = 0)`,
  );
  const accountChoices = engine.query<ChoiceRow, [string]>(
    `SELECT DISTINCT ${choice} FROM companions WHERE account_id = ?`,
  );
  const keyChoices = engine.query<ChoiceRow, [string, string]>(
    `SELECT DISTINCT ${choice} FROM companions WHERE account_id = ? AND created_by_key_id = ?`,
  );
  const companionChoices = engine.query<ChoiceRow, [string, string]>(
    `SELECT ${choice} FROM companions WHERE account_id = ? AND id = ?`,
  );
  const metadataChoices = engine.query<ChoiceRow & { metadata: string }, [string, string]>(
    `SELECT ${choice}, metadata FROM companions
     WHERE account_id = ? AND NOT EXISTS (SELECT 1 FROM json_each(?) AS part WHERE instr(metadata, part.value) = 0)`,
  );

  function sumRows(rows: readonly (Cost | null)[]): Cost {
    let micros = 0;
    let picos = 0;
    for (const row of rows) {
      micros += row?.micros ?? 0;
      picos += row?.picos ?? 0;
    }
    return { micros, picos };
  }

  function selectChoices(accountId: string, subject: BudgetSubject): ChoiceRow[] {
    if ("keyId" in subject) return keyChoices.all(accountId, subject.keyId);
    if ("companionId" in subject) return companionChoices.all(accountId, subject.companionId);
    if (!("metadata" in subject)) return accountChoices.all(accountId);
    const found = metadataChoices.all(accountId, JSON.stringify(textsOfSubject(subject.metadata)));
    return found.filter(({ metadata }) => hasSubject(JSON.parse(metadata), subject.metadata));
  }

  return {
    sum(accountId: string, subject: BudgetSubject, period: BudgetPeriod, nowMs: number): Cost {
      const { fromDay, toDay } = daysOfPeriod(period, nowMs);
      if ("keyId" in subject) return sumRows([sumKey.get(accountId, fromDay, toDay, subject.keyId)]);
      if ("companionId" in subject) {
        return sumRows([sumCompanion.get(accountId, subject.companionId, fromDay, toDay)]);
      }
      if (!("metadata" in subject)) return sumRows([sumAccount.get(accountId, fromDay, toDay)]);
      const labels = selectLabels
        .all(accountId, JSON.stringify(textsOfSubject(subject.metadata)))
        .filter(({ metadata }) => hasSubject(JSON.parse(metadata), subject.metadata));
      return sumRows(
        labels.map(({ companionId, number }) => sumLabel.get(accountId, companionId, fromDay, toDay, number)),
      );
    },

    listChoices(accountId: string, subject: BudgetSubject): CompanionChoice[] {
      const rows = selectChoices(accountId, subject);
      const choices = rows.map(({ model, hasVoice }) => ({ model, hasVoice: hasVoice === 1 }));
      return [...new Map(choices.map((one) => [JSON.stringify(one), one])).values()];
    },
  };
}
