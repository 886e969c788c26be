/** The number that stands for an account where its id would be repeated for every row. */
import type { SqliteEngine } from "./engine.ts";

/** Made once for each part of the store; to be called inside of its reads and writes. Null where there is no such account. */
export function createAccountNumberFinder(engine: SqliteEngine): (accountId: string) => number | null {
  const select = engine.query<{ number: number }, [string]>("SELECT number FROM accounts WHERE id = ?");
  return (accountId) => select.get(accountId)?.number ?? null;
}
