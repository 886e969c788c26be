/** The outbox of mail: what is kept, what is due, and what became of it. */
import type { DueMail, MailAdded, MailStore, NewMail } from "../../../contracts/store/mails.ts";
import { mailsPerDay } from "../../../domain/mail.ts";
import { toUtcDay } from "../../../lib/clock.ts";
import { all, get, insert, run, type Script, type ScriptRunner } from "./script.ts";

type Listener = Parameters<MailStore["onAdded"]>[0];

/** Announces that mail was stored, or should have been. */
export class MailBell {
  #listener: Listener | null = null;

  listen(listener: Listener): void {
    this.#listener = listener;
  }

  /** Call it after the commit. */
  ring: Listener = (accountId, added) => {
    if (added.length > 0) this.#listener?.(accountId, added);
  };
}

const selectAccount = "SELECT 1 AS one FROM accounts WHERE id = $1 FOR KEY SHARE";
const selectCompanion = "SELECT 1 AS one FROM companions WHERE id = $1 FOR KEY SHARE";
const selectConversation = "SELECT 1 AS one FROM conversations WHERE id = $1 FOR KEY SHARE";
const countMail = `INSERT INTO mail_days (account_id, day, mails) VALUES ($1, $2, 1)
  ON CONFLICT (account_id) DO UPDATE SET day = excluded.day,
    mails = CASE WHEN mail_days.day = excluded.day THEN mail_days.mails + 1 ELSE 1 END
  RETURNING mails`;
const selectDue = `SELECT m.id, m.account_id AS "accountId", m.companion_id AS "companionId",
    m.conversation_id AS "conversationId", m.member_id AS "memberId", m.kind, m.sealed, m.tries,
    m.created_at AS "createdAtMs", m.due_at AS "dueAtMs", m.expires_at AS "expiresAtMs"
  FROM mails m WHERE m.problem IS NULL AND m.due_at <= $1 ORDER BY m.due_at, m.number LIMIT $2`;
const lease = "UPDATE mails SET due_at = $2, tries = tries + 1 WHERE id = ANY ($1::text[])";
const selectNextDue = `SELECT due_at AS "dueAt" FROM mails WHERE problem IS NULL ORDER BY due_at LIMIT 1`;
const purge = "DELETE FROM mails WHERE number IN (SELECT number FROM mails WHERE due_at < $1 LIMIT $2)";

/** For tests of their plans. */
export const mailQueries = { due: selectDue, nextDue: selectNextDue };

/** Parts of other scripts: mail that is kept in the commit of what it is about, and mail of someone who is gone. */
export const mailScripts = {
  /** Ring the bell after the commit with what this returns. */
  *add(mail: NewMail): Script<MailAdded> {
    const { createdAtMs, dueAtMs, expiresAtMs, ...row } = mail;
    for (const [select, id] of [
      [selectAccount, mail.accountId],
      [selectCompanion, mail.companionId],
      [selectConversation, mail.conversationId],
    ] as const) {
      if (id !== null && (yield* get(select, id)) === null) return { result: "absent" };
    }
    const counted = yield* get<{ mails: number }>(countMail, mail.accountId, toUtcDay(createdAtMs));
    const isOver = (counted?.mails ?? 0) - mailsPerDay;
    if (isOver > 0) return { result: "dropped", isFirst: isOver === 1 };
    yield* insert("mails", { ...row, createdAt: createdAtMs, dueAt: dueAtMs, expiresAt: expiresAtMs });
    return { result: "kept" };
  },

  *removeOfMember(accountId: string, memberId: string): Script<void> {
    yield* run("DELETE FROM mails WHERE account_id = $1 AND member_id = $2", accountId, memberId);
  },
};

export function createMailStore(scripts: ScriptRunner, bell: MailBell): MailStore {
  return {
    async add(mail) {
      const added = await scripts.write(() => mailScripts.add(mail));
      bell.ring(mail.accountId, [added]);
      return added;
    },

    onAdded: (listener) => bell.listen(listener),

    async takeDue(nowMs, untilMs, limit) {
      if ((await scripts.read(() => get(selectDue, nowMs, 1))) === null) return [];
      return await scripts.write(function* () {
        const due = yield* all<DueMail>(`${selectDue} FOR UPDATE SKIP LOCKED`, nowMs, limit);
        const ids = due.map(({ id }) => id);
        if (ids.length > 0) yield* run(lease, ids, untilMs);
        return due;
      });
    },

    async finish(id, end, nowMs) {
      await scripts.write(function* () {
        if (end.state === "done") yield* run("DELETE FROM mails WHERE id = $1", id);
        else if (end.state === "waiting") yield* run("UPDATE mails SET due_at = $2 WHERE id = $1", id, end.dueAtMs);
        // From then on it is the time of its failure.
        else
          yield* run("UPDATE mails SET sealed = NULL, problem = $2, due_at = $3 WHERE id = $1", id, end.problem, nowMs);
      });
    },

    findNextDue: async () => (await scripts.read(() => get<{ dueAt: number }>(selectNextDue)))?.dueAt ?? null,

    purge: (beforeMs, limit) => scripts.writeHeavy(() => run(purge, beforeMs, limit)),
  };
}
