/** Accounts in SQLite. */
import { asc, eq, getTableColumns } from "drizzle-orm";
import { later } from "../../lib/later.ts";
import type { AccountStore } from "../contract/accounts.ts";
import { anyPassword, insertAccount, replacePassword } from "./account-changes.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import { accounts, oneTimeLinks, sessions } from "./schema/accounts.ts";
import { apiKeys, idempotency } from "./schema/clustered.ts";

/** An account as the domain knows it, without the password hash. */
export const accountColumns = later(() => {
  const { number, passwordHash, totpSecret, totpLastStep, ...shown } = getTableColumns(accounts);
  return shown;
});

export function createAccountStore(engine: SqliteEngine, parts: StoreParts): AccountStore {
  const { changes, holdings, removals } = parts;
  const { orm } = engine;
  // Plain SQL: it runs at every start, where the query builder's first query takes longer than opening the database.
  const findPassword = engine.query(anyPassword);
  const selectById = (id: string) => orm.select(accountColumns).from(accounts).where(eq(accounts.id, id)).get() ?? null;

  return {
    create: (account, context) => engine.write(() => insertAccount(engine, changes, account, context)),

    findById: (id) => engine.read(() => selectById(id)),

    findByEmail: (email) =>
      engine.read(() => orm.select(accountColumns).from(accounts).where(eq(accounts.email, email)).get() ?? null),

    findPasswordHash: (accountId) =>
      engine.read(() => {
        const hash = { passwordHash: accounts.passwordHash };
        return orm.select(hash).from(accounts).where(eq(accounts.id, accountId)).get()?.passwordHash ?? null;
      }),

    findHeld: (accountId) => engine.read(() => holdings.read(accountId)),

    list: () => engine.read(() => orm.select(accountColumns).from(accounts).orderBy(asc(accounts.number)).all()),

    hasAnyPassword: () => engine.read(() => findPassword.get() !== null),

    update: (id, patch, context) =>
      engine.write(() => {
        const changed = Object.keys(patch);
        if (changed.length > 0) orm.update(accounts).set(patch).where(eq(accounts.id, id)).run();
        const account = selectById(id);
        if (account === null) return null;
        const details = { changed };
        changes.record(context, { accountId: id, action: "account.update", targetId: id, details });
        return account;
      }),

    setPassword: (id, passwordHash, keptSessionId, context) =>
      engine.write(() => {
        const account = selectById(id);
        if (account !== null) replacePassword(engine, changes, { id, passwordHash, keptSessionId }, context);
        return account;
      }),

    delete: async (id, context) => {
      const isDeleted = await engine.write(() => {
        const number = changes.findAccountNumber(id);
        if (number === null) return false;
        // Without the account, no key, session or embed token is valid; its companions are deleted later, in chunks.
        orm.delete(apiKeys).where(eq(apiKeys.accountNumber, number)).run();
        orm.delete(sessions).where(eq(sessions.accountId, id)).run();
        orm.delete(oneTimeLinks).where(eq(oneTimeLinks.accountId, id)).run();
        orm.delete(idempotency).where(eq(idempotency.accountId, id)).run();
        orm.delete(accounts).where(eq(accounts.id, id)).run();
        removals.add("account", id, number, context.nowMs);
        changes.record(context, { accountId: id, action: "account.delete", targetId: id, details: {} });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}
