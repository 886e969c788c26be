/** Members, and what is the same of everyone who signs in: a member, or an account's own sign-in. */
import type { MemberStore } from "../../../contracts/store/members.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Identity, Member } from "../../../domain/member.ts";
import { changes } from "./changes.ts";
import { holdings } from "./holdings.ts";
import { mailScripts } from "./mails.ts";
import { all, columns, get, insert, lock, run, type Script, type ScriptRunner } from "./script.ts";

interface MemberRow extends Omit<Member, "companionIds" | "notify"> {
  companionIds: string | null;
  notifyMail: boolean | number;
  notifyWords: boolean | number;
}

const shared = ["id", "email", "name", "notifyMail", "notifyWords", "totpConfirmedAt", "createdAt"] as const;
const shown = columns<MemberRow>("m", [...shared, "accountId", "role", "companionIds", "joinedAt"]);
const selectMembers = `SELECT ${shown} FROM members m`;
const selectOwn = `SELECT ${columns<MemberRow>("a", shared)}, a.id AS "accountId", 'owner' AS role,
    NULL AS "companionIds", a.created_at AS "joinedAt" FROM accounts a WHERE a.id = $1`;
const selectJoined = `${selectMembers} WHERE m.email = $1 AND m.joined_at IS NOT NULL`;
const selectTaken = `SELECT 1 AS one FROM accounts WHERE email = $1
  UNION ALL SELECT 1 FROM members WHERE email = $1 AND joined_at IS NOT NULL`;

const toMember = ({ companionIds, notifyMail, notifyWords, ...row }: MemberRow): Member => ({
  ...row,
  companionIds: companionIds === null ? null : JSON.parse(companionIds),
  notify: { mail: Boolean(notifyMail), words: Boolean(notifyWords) },
});

export function* findMember(accountId: string, id: string): Script<Member | null> {
  const row =
    id === accountId
      ? yield* get<MemberRow>(selectOwn, id)
      : yield* get<MemberRow>(`${selectMembers} WHERE m.id = $1 AND m.account_id = $2`, id, accountId);
  return row && toMember(row);
}

export function* findJoined(email: string): Script<Member | null> {
  const row = yield* get<MemberRow>(selectJoined, email);
  return row && toMember(row);
}

/** What signs a person in has the same columns in both tables. `owner`: the column of the account's id. */
export const signInOf = ({ accountId, memberId }: Identity) =>
  memberId === null
    ? ({ table: "accounts", owner: "id", id: accountId } as const)
    : ({ table: "members", owner: "account_id", id: memberId } as const);

/** Whether the address signs in; until the transaction ends, no one else makes it do so. */
export function* isAddressTaken(email: string): Script<boolean> {
  yield* lock(`address ${email}`);
  return (yield* get(selectTaken, email)) !== null;
}

const ofPerson = "account_id = $1 AND member_id IS NOT DISTINCT FROM $2";
export const recoveryCodesOf = `recovery_codes WHERE ${ofPerson}`;

/** Returns how many there were. */
export const endSessions = ({ accountId, memberId }: Identity, keptId: string | null): Script<number> =>
  run(`DELETE FROM sessions WHERE ${ofPerson} AND id IS DISTINCT FROM $3`, accountId, memberId, keptId);

export const endLinks = ({ accountId, memberId }: Identity): Script<number> =>
  run(`DELETE FROM one_time_links WHERE ${ofPerson}`, accountId, memberId);

interface NewPassword {
  passwordHash: string;
  keptSessionId: string | null;
  isJoining?: boolean;
}

/** Also ends sessions and links: anyone who knew the old password, or held a link, is signed out. False without the person. */
export function* replacePassword(
  person: Identity,
  { passwordHash, keptSessionId, isJoining = false }: NewPassword,
  context: WriteContext,
): Script<boolean> {
  const { table, owner, id } = signInOf(person);
  const set = `UPDATE ${table} SET password_hash = $3 WHERE id = $1 AND ${owner} = $2`;
  if ((yield* run(set, id, person.accountId, passwordHash)) === 0) return false;
  yield* endLinks(person);
  const sessions_ended = yield* endSessions(person, keptSessionId);
  if (isJoining) yield* recordOf(person, context, {}, "member.join");
  else yield* recordOf(person, context, { changed: ["password"], sessions_ended });
  return true;
}

/** Names the person, as what changes them is called in the audit log. */
function* recordOf(
  { accountId, memberId }: Identity,
  context: WriteContext,
  details: Record<string, string[] | number>,
  action = memberId === null ? "account.update" : "member.update",
): Script<void> {
  yield* changes.record(context, { accountId, action, targetId: memberId ?? accountId, details });
}

const lockAssigned = `SELECT conversation_number FROM handoffs WHERE account_id = $1 AND assignee_id = $2
  ORDER BY conversation_number FOR UPDATE`;
const takeChanges = `UPDATE handoff_changes SET change = change + $2 WHERE account_id = $1 RETURNING change - $2 AS change`;
const unassign = `UPDATE handoffs SET assignee_id = NULL, change = $3 + numbered.rank
  FROM (SELECT conversation_number, row_number() OVER (ORDER BY conversation_number) AS rank
    FROM handoffs WHERE account_id = $1 AND assignee_id = $2) AS numbered
  WHERE handoffs.conversation_number = numbered.conversation_number`;

/** Records before their number, as those lock them who change one. What the member has of visitors goes back one by one. */
function* releaseMember(accountId: string, id: string): Script<void> {
  yield* run("DELETE FROM presence WHERE account_id = $1 AND person_id = $2", accountId, id);
  const assigned = yield* all(lockAssigned, accountId, id);
  if (assigned.length === 0) return;
  const before = yield* get<{ change: number }>(takeChanges, accountId, assigned.length);
  yield* run(unassign, accountId, id, before?.change ?? 0);
}

export function createMemberStore(scripts: ScriptRunner): MemberStore {
  return {
    create: (accountId, { companionIds, ...member }, invitation, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        const stored = { ...member, accountId, companionIds: companionIds && JSON.stringify(companionIds) };
        yield* insert("members", { ...stored, createdAt: context.nowMs });
        yield* insert("one_time_links", { ...invitation });
        yield* holdings.checkNewMember(accountId, context);
        const details = { role: member.role };
        yield* changes.record(context, { accountId, action: "member.create", targetId: member.id, details });
      }),

    list: (accountId) =>
      scripts.read(function* () {
        const own = yield* findMember(accountId, accountId);
        const others = yield* all<MemberRow>(`${selectMembers} WHERE m.account_id = $1 ORDER BY m.id`, accountId);
        return own === null ? [] : [own, ...others.map(toMember)];
      }),

    find: (accountId, id) => scripts.read(() => findMember(accountId, id)),

    update: (accountId, id, patch, context, check) =>
      scripts.change(accountId, function* () {
        const current = yield* findMember(accountId, id);
        if (current === null) return null;
        check?.(current);
        const updated = { ...current, ...patch };
        const { name, notify, role, companionIds } = updated;
        const person = { accountId, memberId: id === accountId ? null : id };
        const { table } = signInOf(person);
        const set = `UPDATE ${table} SET name = $2, notify_mail = $3, notify_words = $4`;
        if (person.memberId === null) yield* run(`${set} WHERE id = $1`, id, name, notify.mail, notify.words);
        else {
          const ids = companionIds && JSON.stringify(companionIds);
          yield* run(
            `${set}, role = $5, companion_ids = $6 WHERE id = $1 AND account_id = $7`,
            ...[id, name, notify.mail, notify.words, role, ids, accountId],
          );
        }
        yield* recordOf(person, context, { changed: Object.keys(patch) });
        return updated;
      }),

    remove: (accountId, id, context, check) =>
      scripts.change(accountId, function* () {
        const current = id === accountId ? null : yield* findMember(accountId, id);
        if (current === null) return false;
        check?.(current);
        const person = { accountId, memberId: id };
        yield* endSessions(person, null);
        yield* endLinks(person);
        yield* run(`DELETE FROM ${recoveryCodesOf}`, accountId, id);
        yield* mailScripts.removeOfMember(accountId, id);
        yield* releaseMember(accountId, id);
        yield* run("DELETE FROM members WHERE id = $1 AND account_id = $2", id, accountId);
        yield* changes.record(context, {
          accountId,
          action: "member.delete",
          targetId: id,
          details: { name: current.name },
        });
        return true;
      }),
  };
}

/** Throws `conflict` if the address signs in elsewhere. */
export function* join({ id, accountId, email }: Member, context: WriteContext): Script<void> {
  if (yield* isAddressTaken(email)) {
    const sentence =
      "This address signs in here already, and can belong to one account only. Ask for an invitation to another.";
    throw new AppError("conflict", sentence);
  }
  yield* run("UPDATE members SET joined_at = $3 WHERE id = $1 AND account_id = $2", id, accountId, context.nowMs);
}
