/** Accounts in PostgreSQL. */
import type { Account } from "../../domain/account.ts";
import type { AccountPatch, AccountStore } from "../contract/accounts.ts";
import { accountColumns, findAccount, hasAnyPassword, insertAccount, replacePassword } from "./account-changes.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Parameter, Queries } from "./queries.ts";

const shown = accountColumns.select("a");
const selectByEmail = `SELECT ${shown} FROM accounts a WHERE a.email = $1`;
const selectAll = `SELECT ${shown} FROM accounts a ORDER BY a.number`;
const selectPasswordHash = `SELECT password_hash AS "passwordHash" FROM accounts WHERE id = $1`;
const updatePatched = `UPDATE accounts AS a SET plan = coalesce($2, plan), role = coalesce($3, role),
    suspended_at = CASE WHEN $4::boolean THEN $5::bigint ELSE suspended_at END
  WHERE id = $1 RETURNING ${shown}`;

function patch(transaction: Queries, id: string, { plan, role, suspendedAt }: AccountPatch): Promise<Account | null> {
  const fields: Parameter[] = [plan ?? null, role ?? null, suspendedAt !== undefined, suspendedAt ?? null];
  return transaction.get<Account>(updatePatched, [id, ...fields]);
}

export function createAccountStore(engine: PostgresEngine, { changes, holdings, removals }: StoreParts): AccountStore {
  return {
    create: (account, context) => engine.write((transaction) => insertAccount(transaction, changes, account, context)),

    findById: (id) => findAccount(engine.quick, id),

    findByEmail: (email) => engine.quick.get<Account>(selectByEmail, [email]),

    async findPasswordHash(accountId) {
      const row = await engine.quick.get<{ passwordHash: string | null }>(selectPasswordHash, [accountId]);
      return row?.passwordHash ?? null;
    },

    findHeld: (accountId) => holdings.read(engine.quick, accountId),

    list: () => engine.quick.all<Account>(selectAll),

    hasAnyPassword: () => hasAnyPassword(engine.quick),

    update: (id, changed, context) =>
      engine.change(id, async (transaction) => {
        const account = await patch(transaction, id, changed);
        if (account === null) return null;
        const details = { changed: Object.keys(changed) };
        await changes.record(transaction, context, { accountId: id, action: "account.update", targetId: id, details });
        return account;
      }),

    setPassword: (id, passwordHash, keptSessionId, context) =>
      engine.change(id, async (transaction) => {
        const account = await findAccount(transaction, id);
        if (account !== null) await replacePassword(transaction, changes, { id, passwordHash, keptSessionId }, context);
        return account;
      }),

    async delete(id, context) {
      const isDeleted = await engine.change(id, async (transaction) => {
        const number = await changes.findAccountNumber(transaction, id);
        if (number === null) return false;
        // Uses are recorded for many rows at once, in this order: deleting them in another would be a deadlock.
        await Promise.all([
          transaction.run("SELECT 1 FROM api_keys WHERE account_number = $1 ORDER BY id FOR UPDATE", [number]),
          transaction.run("SELECT 1 FROM sessions WHERE account_id = $1 ORDER BY id FOR UPDATE", [id]),
          // Without the account, no key, session or embed token is valid; its companions are deleted later, in chunks.
          transaction.run("DELETE FROM accounts WHERE id = $1", [id]),
          transaction.run("DELETE FROM idempotency WHERE account_id = $1", [id]),
        ]);
        await removals.add(transaction, "account", id, number, context.nowMs);
        const change = { accountId: id, action: "account.delete", targetId: id, details: {} };
        await changes.record(transaction, context, change);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}
