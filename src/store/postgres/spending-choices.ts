/** What the companions may call whose calls a budget counts, read from PostgreSQL. */
import type { BudgetSubject } from "../../domain/budget.ts";
import type { CompanionChoice } from "../contract/spending.ts";
import { filtersOfSubject } from "../rows/budgets.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { listCountedKeys } from "./spending-ledger.ts";

const choice = `model, voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS "hasVoice"`;
const ofAccount = `SELECT DISTINCT ${choice} FROM companions WHERE account_id = $1`;
const ofNumbers = `SELECT DISTINCT ${choice} FROM companions WHERE number = ANY ($1::float8[]::bigint[])`;
const companionsPerQuery = 1_000;

/** Each once. */
export function createSpendingChoices(heavy: Queries, { changes, metadata }: Pick<StoreParts, "changes" | "metadata">) {
  async function* readChoices(accountId: string, subject: BudgetSubject): AsyncGenerator<CompanionChoice[]> {
    if ("keyId" in subject) {
      const keyIds = await listCountedKeys(heavy, subject.keyId);
      yield await heavy.all(`${ofAccount} AND created_by_key_id = ANY ($2::text[])`, [accountId, keyIds]);
    } else if ("companionId" in subject) {
      yield await heavy.all(`${ofAccount} AND id = $2`, [accountId, subject.companionId]);
    } else if (!("metadata" in subject)) {
      yield await heavy.all(ofAccount, [accountId]);
    } else {
      const account = await changes.findAccountNumber(heavy, accountId);
      if (account === null) return;
      const filters = filtersOfSubject(subject.metadata);
      for await (const numbers of metadata.walk(heavy, account, filters, Number.MAX_SAFE_INTEGER, companionsPerQuery)) {
        yield await heavy.all(ofNumbers, [numbers]);
      }
    }
  }

  return async (accountId: string, subject: BudgetSubject): Promise<CompanionChoice[]> => {
    const choices = new Map<string, CompanionChoice>();
    for await (const some of readChoices(accountId, subject)) {
      for (const one of some) choices.set(JSON.stringify([one.model, one.hasVoice]), one);
    }
    return [...choices.values()];
  };
}
