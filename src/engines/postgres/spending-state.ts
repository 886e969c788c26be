/** What an account may spend at a moment, and whether it is told of events, read beside what a request asks for anyway. */
import { hasWebhooks } from "./events.ts";

/** `account`: an expression for the account's id. */
export const spendingState = (account: string) =>
  `EXISTS (SELECT FROM spending_stops s WHERE s.account_id IN ('', ${account})) AS "isStopped",
   EXISTS (SELECT FROM budgets b WHERE b.account_id = ${account}) AS "hasBudgets",
   ${hasWebhooks(account)} AS "hasWebhooks"`;
