/** Dashboard sessions and one-time links in PostgreSQL. */
import type { Plan, Role } from "../../domain/account.ts";
import type { OneTimeLink, Session, SessionStore, ShownAccess } from "../contract/sessions.ts";
import { findAccount, hasAnyPassword, insertAccount, replacePassword } from "./account-changes.ts";
import type { PostgresEngine } from "./engine.ts";
import { createLastUses } from "./last-use.ts";
import type { ChangeRecorder } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { oneTimeLinks, sessions } from "./schema/accounts.ts";

interface FoundRow extends Session {
  lookupKey: string;
  email: string;
  plan: Plan;
  role: Role;
  suspendedAt: number | null;
  totpConfirmedAt: number | null;
  accountCreatedAt: number;
}

const sessionColumns = mapColumns(sessions, ["hash"]);
const linkColumns = mapColumns(oneTimeLinks);

const shown = sessionColumns.select("s");
const selectByHashes = `SELECT s.hash AS "lookupKey", ${shown}, a.email, a.plan, a.role,
    a.suspended_at::float8 AS "suspendedAt", a.totp_confirmed_at::float8 AS "totpConfirmedAt",
    a.created_at::float8 AS "accountCreatedAt"
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ANY($1::text[])`;
const selectOfAccount = `SELECT ${shown} FROM sessions s WHERE s.account_id = $1 ORDER BY s.created_at DESC, s.id DESC`;
const selectAccess = `SELECT password_hash AS "passwordHash", totp_confirmed_at::float8 AS "totpConfirmedAt"
  FROM accounts WHERE id = $1`;
const selectLink = `SELECT ${linkColumns.select("l")} FROM one_time_links l WHERE l.hash = $1 AND l.expires_at > $2`;
const takeLink = "DELETE FROM one_time_links WHERE hash = $1 AND kind = $2 AND expires_at > $3";
// What another server deletes or uses at this moment is left to it, or to the next time.
const purgeSessions = `DELETE FROM sessions WHERE id IN
  (SELECT id FROM sessions WHERE expires_at <= $1 OR last_used_at <= $2 FOR UPDATE SKIP LOCKED)`;
const purgeLinks = `DELETE FROM one_time_links WHERE hash IN
  (SELECT hash FROM one_time_links WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)`;

export function createSessionStore(engine: PostgresEngine, changes: ChangeRecorder): SessionStore {
  const lookup = engine.lookup<FoundRow>(selectByHashes);

  async function isStill(queries: Queries, accountId: string, access: ShownAccess): Promise<boolean> {
    const row = await queries.get<ShownAccess>(selectAccess, [accountId]);
    return row?.passwordHash === access.passwordHash && row.totpConfirmedAt === access.totpConfirmedAt;
  }

  function findLink(hash: string, nowMs: number): Promise<OneTimeLink | null> {
    return engine.quick.get<OneTimeLink>(selectLink, [hash, nowMs]);
  }

  return {
    create: (session, hash, context, access) =>
      engine.change(session.accountId, async (transaction) => {
        const { id, accountId } = session;
        await changes.requireAccount(transaction, accountId);
        if (access !== undefined && !(await isStill(transaction, accountId, access))) return false;
        await sessionColumns.insert(transaction, [{ ...session, hash }]);
        await changes.record(transaction, context, { accountId, action: "session.create", targetId: id, details: {} });
        return true;
      }),

    async findByHash(hash) {
      const row = await lookup(hash);
      return row === null ? null : toFound(row);
    },

    list: (accountId) => engine.quick.all<Session>(selectOfAccount, [accountId]),

    revoke: (accountId, sessionId, context) =>
      engine.change(accountId, async (transaction) => {
        const deleteOwn = "DELETE FROM sessions WHERE id = $1 AND account_id = $2";
        if ((await transaction.run(deleteOwn, [sessionId, accountId])) === 0) return false;
        const change = { accountId, action: "session.revoke", targetId: sessionId, details: {} };
        await changes.record(transaction, context, change);
        return true;
      }),

    async recordUses(uses) {
      if (uses.length === 0) return;
      const used = uses.map(({ sessionId: id, lastUsedAt }) => ({ id, lastUsedAt }));
      await createLastUses(engine)("sessions", used);
    },

    async purge(nowMs, idleBeforeMs) {
      await engine.writeHeavy(async (transaction) => {
        await transaction.run(purgeSessions, [nowMs, idleBeforeMs]);
        await transaction.run(purgeLinks, [nowMs]);
      });
    },

    async createLink(link, context) {
      const { kind } = link;
      const accountId = link.accountId ?? nobody;
      const create = async (transaction: Queries, replaced: string) => {
        const kindOf = kind === "setup" ? [kind] : [kind, accountId];
        await transaction.run(`DELETE FROM one_time_links WHERE ${replaced}`, kindOf);
        await linkColumns.insert(transaction, [link]);
        const change = { accountId, action: "link.create", targetId: link.accountId, details: { kind } };
        await changes.record(transaction, context, change);
      };
      if (kind === "reset") {
        await engine.change(accountId, (transaction) => create(transaction, "kind = $1 AND account_id = $2"));
      } else {
        await engine.write(async (transaction) => {
          await transaction.lock(setUpLock);
          await create(transaction, "kind = $1");
        });
      }
    },

    findLink,

    spendSetUpLink: (hash, account, context) =>
      engine.write(async (transaction) => {
        await transaction.lock(setUpLock);
        if (await hasAnyPassword(transaction)) return null;
        if ((await transaction.run(takeLink, [hash, "setup", context.nowMs])) === 0) return null;
        const made = await insertAccount(transaction, changes, account, context);
        // The new operator's audit log starts with the set-up links and who created them.
        await transaction.run("UPDATE audit SET account_id = $1 WHERE account_id = $2", [made.id, nobody]);
        return made;
      }),

    async spendResetLink(hash, passwordHash, context) {
      const id = (await findLink(hash, context.nowMs))?.accountId ?? null;
      if (id === null) return null;
      return await engine.change(id, async (transaction) => {
        if ((await transaction.run(takeLink, [hash, "reset", context.nowMs])) === 0) return null;
        const account = await findAccount(transaction, id);
        if (account === null) return null;
        await replacePassword(transaction, changes, { id, passwordHash, keptSessionId: null }, context);
        return account;
      });
    },
  };
}

/** Stands in the audit log for the account that a set-up link has yet to create. */
const nobody = "";
/** Of all that depends on nobody having set up the server yet. */
const setUpLock = "set-up";

function toFound(row: FoundRow): Awaited<ReturnType<SessionStore["findByHash"]>> {
  const { lookupKey, email, plan, role, suspendedAt, totpConfirmedAt, accountCreatedAt, ...session } = row;
  const account = { id: session.accountId, email, plan, role, suspendedAt, totpConfirmedAt };
  return { session, account: { ...account, createdAt: accountCreatedAt } };
}
