/** Companions, as far as other parts of the store ask about them. */
import { get, type Script } from "./script.ts";

/**
 * The condition for companion `c` to belong to an account, where it is looked up by something else. No index serves it:
 * with plans made for empty tables, PostgreSQL could read all companions of an account to find one.
 */
export const ofAccount = (accountId: string) => `(c.account_id = ${accountId}) IS TRUE`;

export const selectOwned = `SELECT 1 AS one FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;

export function* ownsCompanion(accountId: string, companionId: string): Script<boolean> {
  return (yield* get(selectOwned, companionId, accountId)) !== null;
}
