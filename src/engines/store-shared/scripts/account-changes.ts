/** Changes to accounts that several parts of the store make in their own writes. */
import type { NewAccount } from "../../../contracts/store/accounts.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Account } from "../../../domain/account.ts";
import { invalidFields } from "../../../domain/errors.ts";
import { changes } from "./changes.ts";
import { columns, get, insert, run, type Script } from "./script.ts";

/** An account as the domain knows it, without the password hash. */
export const accountColumns = columns<Account>("accounts", [
  "id",
  "email",
  "plan",
  "role",
  "suspendedAt",
  "totpConfirmedAt",
  "createdAt",
]);

const selectById = `SELECT ${accountColumns} FROM accounts WHERE id = $1`;
const selectAnyPassword = "SELECT 1 AS one FROM accounts WHERE password_hash IS NOT NULL LIMIT 1";

export const findAccount = (id: string) => get<Account>(selectById, id);

export function* hasAnyPassword(): Script<boolean> {
  return (yield* get(selectAnyPassword)) !== null;
}

/** Throws `invalid_request` if the address is taken, also by a write that commits meanwhile. */
export function* insertAccount(account: NewAccount, context: WriteContext): Script<Account> {
  const { id, email, plan, role, passwordHash } = account;
  const made = { id, email, plan, role, suspendedAt: null, totpConfirmedAt: null, createdAt: context.nowMs };
  const inserted = yield* insert("accounts", { ...made, passwordHash }, "ON CONFLICT (email) DO NOTHING");
  if (inserted === 0) {
    throw invalidFields([{ param: "email", detail: "There is already an account with this address." }]);
  }
  yield* changes.record(context, { accountId: id, action: "account.create", targetId: id, details: { plan, role } });
  return made;
}

/** Also ends sessions and links: whoever knew the old password, or held a link, is signed out. */
export function* replacePassword(
  { id, passwordHash, keptSessionId }: { id: string; passwordHash: string; keptSessionId: string | null },
  context: WriteContext,
): Script<void> {
  yield* run("UPDATE accounts SET password_hash = $2 WHERE id = $1", id, passwordHash);
  yield* run("DELETE FROM one_time_links WHERE account_id = $1", id);
  const details = { changed: ["password"], sessions_ended: yield* endSessions(id, keptSessionId) };
  yield* changes.record(context, { accountId: id, action: "account.update", targetId: id, details });
}

/** Returns how many there were. */
export const endSessions = (accountId: string, keptId: string | null): Script<number> =>
  run("DELETE FROM sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2", accountId, keptId);
