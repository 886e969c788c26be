/** Accounts, and changes to them that other parts of the store make in their own writes. */
import type { AccountStore, NewAccount } from "../../../contracts/store/accounts.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Account } from "../../../domain/account.ts";
import { invalidFields } from "../../../domain/errors.ts";
import { changes } from "./changes.ts";
import { holdings } from "./holdings.ts";
import { isAddressTaken, replacePassword } from "./members.ts";
import { addRemoval } from "./removals.ts";
import { all, columns, get, insert, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

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
  if (yield* isAddressTaken(email)) {
    throw invalidFields([{ param: "email", detail: "There is already an account with this address." }]);
  }
  yield* insert("accounts", { ...made, passwordHash });
  yield* changes.record(context, { accountId: id, action: "account.create", targetId: id, details: { plan, role } });
  return made;
}

const selectByEmail = `SELECT ${accountColumns} FROM accounts WHERE email = $1`;
const selectAll = `SELECT ${accountColumns} FROM accounts ORDER BY number`;
const selectWebhooks = "SELECT id FROM webhooks WHERE account_id = $1";
const updatePatched = `UPDATE accounts SET plan = coalesce($2, plan), role = coalesce($3, role),
    suspended_at = CASE WHEN $4 THEN $5 ELSE suspended_at END
  WHERE id = $1 RETURNING ${accountColumns}`;

/** `text`: a query of accounts, whose `$1` is how many there are at the most. */
export function* listEmails(text: string, limit: number): Script<string[]> {
  return (yield* all<{ email: string }>(text, limit)).map(({ email }) => email);
}

export function createAccountStore(scripts: ScriptRunner, removals: { start(): void }): AccountStore {
  return {
    create: (account, context) => scripts.write(() => insertAccount(account, context)),

    findById: (id) => scripts.read(() => findAccount(id)),

    findByEmail: (email) => scripts.read(() => get<Account>(selectByEmail, email)),

    findHeld: (accountId) => scripts.read(() => holdings.read(accountId)),

    list: () => scripts.read(() => all<Account>(selectAll)),

    hasAnyPassword: () => scripts.read(hasAnyPassword),

    update: (id, patch, context) =>
      scripts.change(id, function* () {
        const { plan = null, role = null, suspendedAt } = patch;
        const fields = [plan, role, suspendedAt !== undefined, suspendedAt ?? null];
        const account = yield* get<Account>(updatePatched, id, ...fields);
        if (account === null) return null;
        const details = { changed: Object.keys(patch) };
        yield* changes.record(context, { accountId: id, action: "account.update", targetId: id, details });
        return account;
      }),

    setPassword: (person, passwordHash, keptSessionId, context) =>
      scripts.change(person.accountId, () => replacePassword(person, { passwordHash, keptSessionId }, context)),

    async delete(id, context) {
      const isDeleted = await scripts.change(id, function* () {
        const number = yield* changes.findAccountNumber(id);
        if (number === null) return false;
        // Uses are recorded for many rows in one statement, in this order: deleting them in another would be a deadlock.
        yield* lockRows("SELECT 1 FROM api_keys WHERE account_number = $1 ORDER BY id FOR UPDATE", number);
        yield* lockRows("SELECT 1 FROM sessions WHERE account_id = $1 ORDER BY id FOR UPDATE", id);
        for (const webhook of yield* all<{ id: string }>(selectWebhooks, id)) {
          yield* addRemoval("webhook", webhook.id, 0, context.nowMs);
        }
        // Without the account, no key, session or embed token is valid; its companions are deleted later, in chunks.
        yield* run("DELETE FROM accounts WHERE id = $1", id);
        yield* run("DELETE FROM idempotency WHERE account_id = $1", id);
        yield* addRemoval("account", id, number, context.nowMs);
        yield* changes.record(context, { accountId: id, action: "account.delete", targetId: id, details: {} });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}
