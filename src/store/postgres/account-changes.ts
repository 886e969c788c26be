/** Changes to accounts that several parts of the store make in their own writes. */
import type { Account } from "../../domain/account.ts";
import type { NewAccount } from "../contract/accounts.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { addressTaken } from "../rows/refusals.ts";
import type { ChangeRecorder } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { accounts } from "./schema/accounts.ts";

/** An account as the domain knows it, without the password hash. */
export const accountColumns = mapColumns(accounts, ["number", "passwordHash", "totpSecret", "totpLastStep"]);

const selectById = `SELECT ${accountColumns.select("a")} FROM accounts a WHERE a.id = $1`;
const selectAnyPassword = "SELECT 1 AS one FROM accounts WHERE password_hash IS NOT NULL LIMIT 1";

export function findAccount(queries: Queries, id: string): Promise<Account | null> {
  return queries.get<Account>(selectById, [id]);
}

export async function hasAnyPassword(queries: Queries): Promise<boolean> {
  return (await queries.get(selectAnyPassword)) !== null;
}

/** Rejects with `invalid_request` if the address is taken, also by a write that commits meanwhile. */
export async function insertAccount(
  transaction: Queries,
  changes: ChangeRecorder,
  account: NewAccount,
  context: WriteContext,
): Promise<Account> {
  const { id, email, plan, role } = account;
  const made = { id, email, plan, role, suspendedAt: null, totpConfirmedAt: null, createdAt: context.nowMs };
  const row = { ...account, ...made, totpSecret: null, totpLastStep: null };
  const inserted = await accountColumns.insert(transaction, [row], "ON CONFLICT (email) DO NOTHING RETURNING 1 AS one");
  if (inserted.length === 0) throw addressTaken();
  const change = { accountId: id, action: "account.create", targetId: id, details: { plan, role } };
  await changes.record(transaction, context, change);
  return made;
}

/** Also ends sessions and links: whoever knew the old password, or held a link, is signed out. */
export async function replacePassword(
  transaction: Queries,
  changes: ChangeRecorder,
  change: { id: string; passwordHash: string; keptSessionId: string | null },
  context: WriteContext,
): Promise<void> {
  const { id, passwordHash, keptSessionId } = change;
  const [, , ended] = await Promise.all([
    transaction.run("UPDATE accounts SET password_hash = $2 WHERE id = $1", [id, passwordHash]),
    transaction.run("DELETE FROM one_time_links WHERE account_id = $1", [id]),
    endSessions(transaction, id, keptSessionId),
  ]);
  const details = { changed: ["password"], sessions_ended: ended };
  await changes.record(transaction, context, { accountId: id, action: "account.update", targetId: id, details });
}

/** Resolves with how many there were. */
export function endSessions(transaction: Queries, accountId: string, keptId: string | null): Promise<number> {
  return transaction.run("DELETE FROM sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2", [accountId, keptId]);
}
