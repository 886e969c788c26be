/** What an account may spend at a moment, and whether it is told of events, read beside what a request asks for anyway. */
import { hasWebhooks } from "./events.ts";

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
