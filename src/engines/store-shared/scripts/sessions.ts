/** Dashboard sessions and one-time links. */
import type { OneTimeLink, Session, SessionStore, ShownAccess } from "../../../contracts/store/sessions.ts";
import type { Account } from "../../../domain/account.ts";
import { findAccount, hasAnyPassword, insertAccount, replacePassword } from "./accounts.ts";
import { changes } from "./changes.ts";
import { all, columns, get, insert, lock, run, type Script, type ScriptRunner } from "./script.ts";

/**
 * When sessions and embed tokens were last used: a later use replaces an earlier one. Sets many in one commit, in
 * each engine's own way. Unknown ids are ignored.
 */
export type RecordLastUses = (
  table: "sessions" | "embed_tokens",
  uses: readonly { id: string; lastUsedAt: number }[],
) => Promise<void>;

const shown = columns<Session>("s", [
  "id",
  "accountId",
  "userAgent",
  "ipPrefix",
  "createdAt",
  "lastUsedAt",
  "expiresAt",
]);
const selectOfAccount = `SELECT ${shown} FROM sessions s WHERE s.account_id = $1
  ORDER BY s.created_at DESC, s.id DESC`;
const selectAccess = `SELECT password_hash AS "passwordHash", totp_confirmed_at AS "totpConfirmedAt"
  FROM accounts WHERE id = $1`;
const selectLink = `SELECT ${columns<OneTimeLink>("l", ["hash", "kind", "accountId", "expiresAt"])}
  FROM one_time_links l WHERE l.hash = $1 AND l.expires_at > $2`;
// What another server deletes or uses at this moment is left to it, or to the next time.
const purgeSessions = `DELETE FROM sessions WHERE id IN
  (SELECT id FROM sessions WHERE expires_at <= $1 OR last_used_at <= $2 FOR UPDATE SKIP LOCKED)`;
const purgeLinks = `DELETE FROM one_time_links WHERE hash IN
  (SELECT hash FROM one_time_links WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)`;

/** Stands in the audit log for the account that a set-up link has yet to create. */
const nobody = "";
/** Of all that depends on nobody having set up the server yet. */
const setUpLock = "set-up";

const findLink = (hash: string, nowMs: number) => get<OneTimeLink>(selectLink, hash, nowMs);

/** False, leaving the link, if it is of another kind or past its end. */
function* takeLink(hash: string, kind: OneTimeLink["kind"], nowMs: number): Script<boolean> {
  const text = "DELETE FROM one_time_links WHERE hash = $1 AND kind = $2 AND expires_at > $3";
  return (yield* run(text, hash, kind, nowMs)) > 0;
}

function* isStill(accountId: string, shown: ShownAccess): Script<boolean> {
  const row = yield* get<ShownAccess>(selectAccess, accountId);
  return row?.passwordHash === shown.passwordHash && row.totpConfirmedAt === shown.totpConfirmedAt;
}

export function createSessionStore(
  scripts: ScriptRunner,
  recordLastUses: RecordLastUses,
  findByHash: SessionStore["findByHash"],
): SessionStore {
  return {
    create: (session, hash, context, shown) =>
      scripts.change(session.accountId, function* () {
        const { id, accountId } = session;
        yield* changes.requireAccount(accountId);
        if (shown !== undefined && !(yield* isStill(accountId, shown))) return false;
        yield* insert("sessions", { ...session, hash });
        yield* changes.record(context, { accountId, action: "session.create", targetId: id, details: {} });
        return true;
      }),

    findByHash,

    list: (accountId) => scripts.read(() => all<Session>(selectOfAccount, accountId)),

    revoke: (accountId, sessionId, context) =>
      scripts.change(accountId, function* () {
        const deleteOwn = "DELETE FROM sessions WHERE id = $1 AND account_id = $2";
        if ((yield* run(deleteOwn, sessionId, accountId)) === 0) return false;
        yield* changes.record(context, { accountId, action: "session.revoke", targetId: sessionId, details: {} });
        return true;
      }),

    recordUses: (uses) =>
      recordLastUses(
        "sessions",
        uses.map(({ sessionId: id, lastUsedAt }) => ({ id, lastUsedAt })),
      ),

    purge: (nowMs, idleBeforeMs) =>
      scripts.writeHeavy(function* () {
        yield* run(purgeSessions, nowMs, idleBeforeMs);
        yield* run(purgeLinks, nowMs);
      }),

    createLink(link, context) {
      const { kind } = link;
      const accountId = link.accountId ?? nobody;
      function* create(): Script<void> {
        if (kind === "reset") {
          yield* run("DELETE FROM one_time_links WHERE kind = $1 AND account_id = $2", kind, accountId);
        } else {
          yield* lock(setUpLock);
          yield* run("DELETE FROM one_time_links WHERE kind = $1", kind);
        }
        yield* insert("one_time_links", { ...link });
        const change = { accountId, action: "link.create", targetId: link.accountId, details: { kind } };
        yield* changes.record(context, change);
      }
      return kind === "reset" ? scripts.change(accountId, create) : scripts.write(create);
    },

    findLink: (hash, nowMs) => scripts.read(() => findLink(hash, nowMs)),

    spendSetUpLink: (hash, account, context) =>
      scripts.write(function* (): Script<Account | null> {
        yield* lock(setUpLock);
        if ((yield* hasAnyPassword()) || !(yield* takeLink(hash, "setup", context.nowMs))) return null;
        const made = yield* insertAccount(account, context);
        // The new operator's audit log starts with the set-up links and who created them.
        yield* run("UPDATE audit SET account_id = $1 WHERE account_id = $2", made.id, nobody);
        return made;
      }),

    async spendResetLink(hash, passwordHash, context) {
      const id = (await scripts.read(() => findLink(hash, context.nowMs)))?.accountId ?? null;
      if (id === null) return null;
      return await scripts.change(id, function* () {
        if (!(yield* takeLink(hash, "reset", context.nowMs))) return null;
        const account = yield* findAccount(id);
        if (account !== null) yield* replacePassword({ id, passwordHash, keptSessionId: null }, context);
        return account;
      });
    },
  };
}
