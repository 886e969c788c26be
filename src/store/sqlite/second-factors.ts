/** Second factors, their recovery codes, and the server's sealed values in SQLite. */
import { and, asc, count, eq, isNotNull, isNull, lt, or } from "drizzle-orm";
import type { SecondFactorStore, ServerSecretStore } from "../contract/second-factors.ts";
import { endSessions } from "./account-changes.ts";
import type { SqliteEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import { accounts, recoveryCodes } from "./schema/accounts.ts";

export function createSecondFactorStore(engine: SqliteEngine, changes: ChangeRecorder): SecondFactorStore {
  const { orm } = engine;

  function countCodes(accountId: string): number {
    const own = orm.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.accountId, accountId));
    return own.get()?.left ?? 0;
  }

  return {
    find: (accountId) =>
      engine.read(() => {
        const { totpSecret, totpConfirmedAt, totpLastStep } = accounts;
        const row = orm
          .select({ sealedSecret: totpSecret, confirmedAt: totpConfirmedAt, lastStep: totpLastStep })
          .from(accounts)
          .where(eq(accounts.id, accountId))
          .get();
        if (row === undefined || row.sealedSecret === null) return null;
        return { ...row, sealedSecret: row.sealedSecret, recoveryCodesLeft: countCodes(accountId) };
      }),

    listHolders: (limit) =>
      engine.read(() => {
        const holders = orm.select({ email: accounts.email }).from(accounts).where(isNotNull(accounts.totpSecret));
        const rows = holders.orderBy(asc(accounts.number)).limit(limit).all();
        return rows.map(({ email }) => email);
      }),

    begin: (accountId, sealedSecret, context) =>
      engine.write(() => {
        const isOpen = and(eq(accounts.id, accountId), isNull(accounts.totpConfirmedAt));
        const begun = orm.update(accounts).set({ totpSecret: sealedSecret, totpLastStep: null }).where(isOpen);
        if (begun.returning({ id: accounts.id }).all().length === 0) return false;
        changes.record(context, { accountId, action: "totp.begin", targetId: accountId, details: {} });
        return true;
      }),

    confirm: (accountId, { sealedSecret, step, recoveryHashes, keptSessionId }, context) =>
      engine.write(() => {
        const isWaiting = and(
          eq(accounts.id, accountId),
          eq(accounts.totpSecret, sealedSecret),
          isNull(accounts.totpConfirmedAt),
        );
        const confirmed = { totpConfirmedAt: context.nowMs, totpLastStep: step };
        const rows = orm.update(accounts).set(confirmed).where(isWaiting).returning({ id: accounts.id }).all();
        if (rows.length === 0) return false;
        orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)).run();
        orm
          .insert(recoveryCodes)
          .values(recoveryHashes.map((hash) => ({ accountId, hash })))
          .run();
        const details = { sessions_ended: endSessions(orm, accountId, keptSessionId) };
        changes.record(context, { accountId, action: "totp.enable", targetId: accountId, details });
        return true;
      }),

    takeStep: (accountId, step) =>
      engine.write(() => {
        const isNewer = or(isNull(accounts.totpLastStep), lt(accounts.totpLastStep, step));
        const own = and(eq(accounts.id, accountId), isNotNull(accounts.totpConfirmedAt), isNewer);
        const taken = orm.update(accounts).set({ totpLastStep: step }).where(own).returning({ id: accounts.id }).all();
        return taken.length > 0;
      }),

    takeRecoveryCode: (accountId, hash, context) =>
      engine.write(() => {
        const own = and(eq(recoveryCodes.accountId, accountId), eq(recoveryCodes.hash, hash));
        if (orm.delete(recoveryCodes).where(own).returning().all().length === 0) return false;
        const details = { left: countCodes(accountId) };
        changes.record(context, { accountId, action: "totp.recover", targetId: accountId, details });
        return true;
      }),

    remove: (accountId, context) =>
      engine.write(() => {
        const own = and(eq(accounts.id, accountId), isNotNull(accounts.totpSecret));
        const none = { totpSecret: null, totpConfirmedAt: null, totpLastStep: null };
        if (orm.update(accounts).set(none).where(own).returning({ id: accounts.id }).all().length === 0) return false;
        orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)).run();
        changes.record(context, { accountId, action: "totp.disable", targetId: accountId, details: {} });
        return true;
      }),
  };
}

export function createServerSecretStore(engine: SqliteEngine): ServerSecretStore {
  // Plain SQL: it runs at every start, where the query builder's first query takes longer than opening the database.
  const select = engine.query<{ sealed: string }, [string]>("SELECT sealed FROM server_secrets WHERE name = ?");
  const insert = engine.query<null, [string, string]>(
    "INSERT INTO server_secrets (name, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const replace = engine.query<null, [string, string]>("UPDATE server_secrets SET sealed = ? WHERE name = ?");
  return {
    find: (name) => engine.read(() => select.get(name)?.sealed ?? null),
    replace: (name, sealed) => engine.write(() => void replace.run(sealed, name)),
    keep: (name, sealed) =>
      engine.write(() => {
        insert.run(name, sealed);
        return select.get(name)?.sealed ?? sealed;
      }),
  };
}
