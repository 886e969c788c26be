/** What the companions may call whose calls a budget counts, read from PostgreSQL. */
import type { CompanionChoice } from "../../contracts/store/spending.ts";
import type { BudgetSubject } from "../../domain/budget.ts";
import { addChoices, filtersOfSubject } from "../store-shared/rows/budgets.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { listCountedKeys } from "./spending-ledger.ts";

const select = (condition: string) => `SELECT model, reasoning_effort AS "reasoningEffort",
    voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS "hasVoice", min(max_output_tokens) AS "maxOutputTokens",
    min(coalesce(octet_length(system_prompt), 0)) AS "promptBytes"
  FROM companions WHERE ${condition} GROUP BY 1, 2, 3`;
const ofAccount = "account_id = $1";
const ofNumbers = "number = ANY ($1::float8[]::bigint[])";
const companionsPerQuery = 1_000;

/** Each once. */
export function createSpendingChoices(heavy: Queries, { changes, metadata }: Pick<StoreParts, "changes" | "metadata">) {
  async function* readChoices(accountId: string, subject: BudgetSubject): AsyncGenerator<CompanionChoice[]> {
    if ("keyId" in subject) {
      const keyIds = await listCountedKeys(heavy, subject.keyId);
      yield await heavy.all(select(`${ofAccount} AND created_by_key_id = ANY ($2::text[])`), [accountId, keyIds]);
    } else if ("companionId" in subject) {
      yield await heavy.all(select(`${ofAccount} AND id = $2`), [accountId, subject.companionId]);
    } else if (!("metadata" in subject)) {
      yield await heavy.all(select(ofAccount), [accountId]);
    } else {
      const account = await changes.findAccountNumber(heavy, accountId);
      if (account === null) return;
      const filters = filtersOfSubject(subject.metadata);
      for await (const numbers of metadata.walk(heavy, account, filters, Number.MAX_SAFE_INTEGER, companionsPerQuery)) {
        yield await heavy.all(select(ofNumbers), [numbers]);
      }
    }
  }

  return async (accountId: string, subject: BudgetSubject): Promise<CompanionChoice[]> => {
    const choices = new Map<string, CompanionChoice>();
    for await (const some of readChoices(accountId, subject)) addChoices(choices, some);
    return [...choices.values()];
  };
}
