/** The number of an account, used where repeating its id in every row would cost space. */
import type { SqliteEngine } from "./engine.ts";

/** Create one per part of the store, and call it inside reads and writes. Null if there is no such account. */
export function createAccountNumberFinder(engine: SqliteEngine): (accountId: string) => number | null {
  const select = engine.query<{ number: number }, [string]>("SELECT number FROM accounts WHERE id = ?");
  return (accountId) => select.get(accountId)?.number ?? null;
}
