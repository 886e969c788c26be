/** Dashboard sessions and one-time links in SQLite. */
import { and, desc, eq, lte, ne, or } from "drizzle-orm";
import { later } from "../../lib/later.ts";
import type { SessionStore } from "../contract/sessions.ts";
import { accountColumns } from "./accounts.ts";
import type { ChangeRecorder } from "./changes.ts";
import type { SqliteEngine } from "./engine.ts";
import { setLastUse } from "./last-use.ts";
import { accounts, oneTimeLinks, sessions } from "./schema/accounts.ts";

const sessionColumns = later(() => ({
  id: sessions.id,
  accountId: sessions.accountId,
  userAgent: sessions.userAgent,
  ipPrefix: sessions.ipPrefix,
  createdAt: sessions.createdAt,
  lastUsedAt: sessions.lastUsedAt,
  expiresAt: sessions.expiresAt,
}));

export function createSessionStore(engine: SqliteEngine, changes: ChangeRecorder): SessionStore {
  const { orm } = engine;
  const recordUse = engine.query<null, [number, string]>(`UPDATE sessions SET ${setLastUse} WHERE id = ?`);

  return {
    create: (session, hash, context) =>
      engine.write(() => {
        const { id, accountId } = session;
        changes.requireAccount(accountId);
        orm
          .insert(sessions)
          .values({ ...session, hash })
          .run();
        changes.record(context, { accountId, action: "session.create", targetId: id, details: {} }, session);
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

    revokeAll: (accountId, exceptId, context) =>
      engine.write(() => {
        const others = and(
          eq(sessions.accountId, accountId),
          exceptId === null ? undefined : ne(sessions.id, exceptId),
        );
        const count = orm.delete(sessions).where(others).returning({ id: sessions.id }).all().length;
        if (count === 0) return;
        changes.record(context, { accountId, action: "session.revoke", targetId: null, details: { count } });
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

    createLink: (link) =>
      engine.write(() => {
        const { kind, accountId } = link;
        const sameAccount = accountId === null ? undefined : eq(oneTimeLinks.accountId, accountId);
        const replaced = and(eq(oneTimeLinks.kind, kind), kind === "setup" ? undefined : sameAccount);
        orm.delete(oneTimeLinks).where(replaced).run();
        orm.insert(oneTimeLinks).values(link).run();
      }),

    takeLink: (hash, nowMs) =>
      engine.write(() => {
        const [link] = orm.delete(oneTimeLinks).where(eq(oneTimeLinks.hash, hash)).returning().all();
        return link !== undefined && link.expiresAt > nowMs ? link : null;
      }),
  };
}
