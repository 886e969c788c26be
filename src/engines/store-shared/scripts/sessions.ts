/** Dashboard sessions and one-time links. */
import type { OneTimeLink, Session, SessionStore, ShownAccess } from "../../../contracts/store/sessions.ts";
import { type Account, asMember } from "../../../domain/account.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Identity } from "../../../domain/member.ts";
import { accountColumns, findAccount, hasAnyPassword, insertAccount } from "./accounts.ts";
import { changes } from "./changes.ts";
import { endLinks, findJoined, findMember, join, replacePassword, signInOf } from "./members.ts";
import { all, columns, get, insert, lock, run, type Script, type ScriptRunner } from "./script.ts";

/**
 * When sessions and embed tokens were last used: a later use replaces an earlier one. Sets many in one commit,
 * differently in each engine. Unknown ids are ignored.
 */
export type RecordLastUses = (
  table: "sessions" | "embed_tokens",
  uses: readonly { id: string; lastUsedAt: number }[],
) => Promise<void>;

/** A session with its account, as that is. */
export interface FoundSession extends Session, Omit<Account, "id" | "createdAt"> {
  accountCreatedAt: number;
}

/** By the hash of its cookie, in each engine differently: every request of the dashboard asks. */
export type SessionLookup = (hash: string) => Promise<FoundSession | null>;

const shown = columns<Session>("s", [
  "id",
  "accountId",
  "memberId",
  "userAgent",
  "ipPrefix",
  "createdAt",
  "lastUsedAt",
  "expiresAt",
]);
const selectOfPerson = `SELECT ${shown} FROM sessions s
  WHERE s.account_id = $1 AND s.member_id IS NOT DISTINCT FROM $2 ORDER BY s.created_at DESC, s.id DESC`;
const selectWithPassword = `SELECT ${accountColumns}, password_hash AS "passwordHash" FROM accounts WHERE email = $1`;
const selectLink = `SELECT ${columns<OneTimeLink>("l", ["hash", "kind", "accountId", "memberId", "expiresAt"])}
  FROM one_time_links l WHERE l.hash = $1 AND l.expires_at > $2`;
// What another server deletes or uses at this moment is left to it, or to the next time.
const purgeSessions = `DELETE FROM sessions WHERE id IN
  (SELECT id FROM sessions WHERE expires_at <= $1 OR last_used_at <= $2 FOR UPDATE SKIP LOCKED)`;
const purgeLinks = `DELETE FROM one_time_links WHERE hash IN
  (SELECT hash FROM one_time_links WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)`;

/** Stands in the audit log for the account that a set-up link has yet to create. */
const noAccount = "";
/** Of all that depends on no one having set up the server yet. */
const setUpLock = "set-up";

const findLink = (hash: string, nowMs: number) => get<OneTimeLink>(selectLink, hash, nowMs);

/** False, leaving the link, if it is of another kind or past its end. */
function* takeLink(hash: string, kind: OneTimeLink["kind"], nowMs: number): Script<boolean> {
  const text = "DELETE FROM one_time_links WHERE hash = $1 AND kind = $2 AND expires_at > $3";
  return (yield* run(text, hash, kind, nowMs)) > 0;
}

function* findShown(person: Identity): Script<ShownAccess | null> {
  const { table, owner, id } = signInOf(person);
  const text = `SELECT password_hash AS "passwordHash", totp_confirmed_at AS "totpConfirmedAt"
    FROM ${table} WHERE id = $1 AND ${owner} = $2`;
  return yield* get<ShownAccess>(text, id, person.accountId);
}

function* isStill(person: Identity, shown: ShownAccess): Script<boolean> {
  const row = yield* findShown(person);
  return row?.passwordHash === shown.passwordHash && row.totpConfirmedAt === shown.totpConfirmedAt;
}

export function createSessionStore(
  scripts: ScriptRunner,
  recordLastUses: RecordLastUses,
  lookup: SessionLookup,
): SessionStore {
  return {
    create: (session, hash, context, shown) =>
      scripts.change(session.accountId, function* () {
        const { id, accountId } = session;
        yield* changes.requireAccount(accountId);
        if (shown !== undefined && !(yield* isStill(session, shown))) return false;
        yield* insert("sessions", { ...session, hash });
        yield* changes.record(context, { accountId, action: "session.create", targetId: id, details: {} });
        return true;
      }),

    async findByHash(hash) {
      const found = await lookup(hash);
      if (found === null) return null;
      const { email, plan, role, suspendedAt, totpConfirmedAt, accountCreatedAt: createdAt, ...session } = found;
      const { accountId, memberId } = session;
      const account = { id: accountId, email, plan, role, suspendedAt, totpConfirmedAt, createdAt };
      if (memberId === null) return { session, account, member: null };
      const member = await scripts.read(() => findMember(accountId, memberId));
      return member && { session, account: asMember(account, member), member };
    },

    findAccess: (email) =>
      scripts.read(function* () {
        const own = yield* get<Account & { passwordHash: string | null }>(selectWithPassword, email);
        if (own !== null) {
          const { passwordHash, ...account } = own;
          return { account, member: null, passwordHash };
        }
        const member = yield* findJoined(email);
        const account = member && (yield* findAccount(member.accountId));
        if (member === null || account === null) return null;
        const { accountId, id: memberId } = member;
        const passwordHash = (yield* findShown({ accountId, memberId }))?.passwordHash ?? null;
        return { account: asMember(account, member), member, passwordHash };
      }),

    list: ({ accountId, memberId }) => scripts.read(() => all<Session>(selectOfPerson, accountId, memberId)),

    revoke: ({ accountId, memberId }, sessionId, context) =>
      scripts.change(accountId, function* () {
        const deleteOwn = `DELETE FROM sessions
          WHERE id = $1 AND account_id = $2 AND member_id IS NOT DISTINCT FROM $3`;
        if ((yield* run(deleteOwn, sessionId, accountId, memberId)) === 0) return false;
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
      const { kind, memberId } = link;
      const accountId = link.accountId ?? noAccount;
      function* create(): Script<void> {
        if (kind === "setup") {
          yield* lock(setUpLock);
          yield* run("DELETE FROM one_time_links WHERE kind = $1", kind);
        } else {
          if (memberId !== null && (yield* findMember(accountId, memberId)) === null) {
            throw new AppError("not_found", "There is no such member.");
          }
          yield* endLinks({ accountId, memberId });
        }
        yield* insert("one_time_links", { ...link });
        const change = { accountId, action: "link.create", targetId: memberId ?? link.accountId, details: { kind } };
        yield* changes.record(context, change);
      }
      return kind === "setup" ? scripts.write(create) : scripts.change(accountId, create);
    },

    findLink: (hash, nowMs) => scripts.read(() => findLink(hash, nowMs)),

    spendSetUpLink: (hash, account, context) =>
      scripts.write(function* (): Script<Account | null> {
        yield* lock(setUpLock);
        if ((yield* hasAnyPassword()) || !(yield* takeLink(hash, "setup", context.nowMs))) return null;
        const made = yield* insertAccount(account, context);
        // The new operator's audit log starts with the set-up links and who created them.
        yield* run("UPDATE audit SET account_id = $1 WHERE account_id = $2", made.id, noAccount);
        return made;
      }),

    async spendResetLink(hash, passwordHash, context) {
      const id = (await scripts.read(() => findLink(hash, context.nowMs)))?.accountId ?? null;
      if (id === null) return null;
      return await scripts.change(id, function* () {
        if (!(yield* takeLink(hash, "reset", context.nowMs))) return null;
        const account = yield* findAccount(id);
        const person = { accountId: id, memberId: null };
        if (account !== null) yield* replacePassword(person, { passwordHash, keptSessionId: null }, context);
        return account;
      });
    },

    async spendInvitation(hash, passwordHash, context) {
      const link = await scripts.read(() => findLink(hash, context.nowMs));
      if (link === null || link.accountId === null || link.memberId === null) return null;
      const { accountId, memberId } = link;
      return await scripts.change(accountId, function* () {
        if (!(yield* takeLink(hash, "invitation", context.nowMs))) return null;
        const account = yield* findAccount(accountId);
        const found = yield* findMember(accountId, memberId);
        if (account === null || found === null) return null;
        const isJoining = found.joinedAt === null;
        if (isJoining) yield* join(found, context);
        yield* replacePassword({ accountId, memberId }, { passwordHash, keptSessionId: null, isJoining }, context);
        const member = { ...found, joinedAt: found.joinedAt ?? context.nowMs };
        return { account: asMember(account, member), member };
      });
    },
  };
}
