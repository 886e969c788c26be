/** Dashboard sessions and one-time links in SQLite. */
import { and, desc, eq, getTableColumns, gt, lte, or } from "drizzle-orm";
import { later } from "../../lib/later.ts";
import type { OneTimeLink, SessionStore, ShownAccess } from "../contract/sessions.ts";
import { anyPassword, insertAccount, replacePassword } from "./account-changes.ts";
import { accountColumns } from "./accounts.ts";
import type { SqliteEngine } from "./engine.ts";
import { setLastUse } from "./last-use.ts";
import type { ChangeRecorder } from "./parts.ts";
import { accounts, audit, oneTimeLinks, sessions } from "./schema/accounts.ts";

const sessionColumns = later(() => {
  const { hash: _, ...shown } = getTableColumns(sessions);
  return shown;
});

export function createSessionStore(engine: SqliteEngine, changes: ChangeRecorder): SessionStore {
  const { orm } = engine;
  const recordUse = engine.query<null, [number, string]>(`UPDATE sessions SET ${setLastUse} WHERE id = ?`);

  const selectAnyPassword = engine.query(anyPassword);

  /** Call it inside a write; null, leaving the link, if it is of another kind or past its end. */
  function takeLink(hash: string, kind: OneTimeLink["kind"], nowMs: number): OneTimeLink | null {
    const spendable = and(eq(oneTimeLinks.hash, hash), eq(oneTimeLinks.kind, kind), gt(oneTimeLinks.expiresAt, nowMs));
    return orm.delete(oneTimeLinks).where(spendable).returning().all()[0] ?? null;
  }

  function isStill(accountId: string, shown: ShownAccess): boolean {
    const { passwordHash, totpConfirmedAt } = accounts;
    const row = orm.select({ passwordHash, totpConfirmedAt }).from(accounts).where(eq(accounts.id, accountId)).get();
    return row?.passwordHash === shown.passwordHash && row.totpConfirmedAt === shown.totpConfirmedAt;
  }

  return {
    create: (session, hash, context, shown) =>
      engine.write(() => {
        const { id, accountId } = session;
        changes.requireAccount(accountId);
        if (shown !== undefined && !isStill(accountId, shown)) return false;
        orm
          .insert(sessions)
          .values({ ...session, hash })
          .run();
        changes.record(context, { accountId, action: "session.create", targetId: id, details: {} });
        return true;
      }),

    findByHash: (hash) =>
      engine.read(() => {
        const found = orm
          .select({ session: sessionColumns, account: accountColumns })
          .from(sessions)
          .innerJoin(accounts, eq(accounts.id, sessions.accountId))
          .where(eq(sessions.hash, hash))
          .get();
        return found ?? null;
      }),

    list: (accountId) =>
      engine.read(() => {
        const own = orm.select(sessionColumns).from(sessions).where(eq(sessions.accountId, accountId));
        return own.orderBy(desc(sessions.createdAt), desc(sessions.id)).all();
      }),

    revoke: (accountId, sessionId, context) =>
      engine.write(() => {
        const own = and(eq(sessions.id, sessionId), eq(sessions.accountId, accountId));
        if (orm.delete(sessions).where(own).returning({ id: sessions.id }).all().length === 0) return false;
        changes.record(context, { accountId, action: "session.revoke", targetId: sessionId, details: {} });
        return true;
      }),

    recordUses: async (uses) => {
      if (uses.length === 0) return;
      await engine.append(() => {
        for (const { sessionId, lastUsedAt } of uses) recordUse.run(lastUsedAt, sessionId);
      });
    },

    purge: (nowMs, idleBeforeMs) =>
      engine.write(() => {
        orm
          .delete(sessions)
          .where(or(lte(sessions.expiresAt, nowMs), lte(sessions.lastUsedAt, idleBeforeMs)))
          .run();
        orm.delete(oneTimeLinks).where(lte(oneTimeLinks.expiresAt, nowMs)).run();
      }),

    createLink: (link, context) =>
      engine.write(() => {
        const { kind } = link;
        const accountId = link.accountId ?? nobody;
        const replaced = kind === "setup" ? eq(oneTimeLinks.kind, kind) : isResetLinkOf(accountId);
        orm.delete(oneTimeLinks).where(replaced).run();
        orm.insert(oneTimeLinks).values(link).run();
        const change = { accountId, action: "link.create", targetId: link.accountId, details: { kind } };
        changes.record(context, change);
      }),

    findLink: (hash, nowMs) =>
      engine.read(() => {
        const isAlive = and(eq(oneTimeLinks.hash, hash), gt(oneTimeLinks.expiresAt, nowMs));
        return orm.select().from(oneTimeLinks).where(isAlive).get() ?? null;
      }),

    spendSetUpLink: (hash, account, context) =>
      engine.write(() => {
        if (selectAnyPassword.get() !== null || takeLink(hash, "setup", context.nowMs) === null) return null;
        const made = insertAccount(engine, changes, account, context);
        // The new operator's audit log starts with the set-up links and who created them.
        orm.update(audit).set({ accountId: made.id }).where(eq(audit.accountId, nobody)).run();
        return made;
      }),

    spendResetLink: (hash, passwordHash, context) =>
      engine.write(() => {
        const link = takeLink(hash, "reset", context.nowMs);
        if (link === null || link.accountId === null) return null;
        const account = orm.select(accountColumns).from(accounts).where(eq(accounts.id, link.accountId)).get();
        if (account === undefined) return null;
        replacePassword(engine, changes, { id: account.id, passwordHash, keptSessionId: null }, context);
        return account;
      }),
  };
}

/** Stands in the audit log for the account that a set-up link has yet to create. */
const nobody = "";

function isResetLinkOf(accountId: string) {
  return and(eq(oneTimeLinks.kind, "reset"), eq(oneTimeLinks.accountId, accountId));
}
