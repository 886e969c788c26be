/** What the companions may call whose calls a budget counts, read in slices: an account may have a million. */
import type { CompanionChoice } from "../../contracts/store/spending.ts";
import type { BudgetSubject } from "../../domain/budget.ts";
import { pause } from "../../lib/pause.ts";
import { addChoices, filtersOfSubject } from "../store-shared/rows/budgets.ts";
import { createAccountNumberFinder } from "./account-number.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";

const companionsPerSlice = 500;
const choice = `model, reasoning_effort AS reasoningEffort, voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS hasVoice,
  max_output_tokens AS maxOutputTokens, ifnull(octet_length(system_prompt), 0) AS promptBytes`;

interface ChoiceRow extends Omit<CompanionChoice, "hasVoice"> {
  number: number;
  hasVoice: number;
  keyId: string | null;
}

export function createSpendingChoices(
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
