/**
 * Mail about conversations: to the team, of what waits for them, and to a visitor's contact, of what people wrote. When it is
 * due stands in the record; whether it is still wanted is decided then, and again when it is sent (`core/mail/letters.ts`).
 */
import type { HandoffChange, NewMail, StoredContact } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import {
  answerMailEveryMs,
  type Handoff,
  isWaitingForTeam,
  maxAnswerMails,
  noticeAfterMs,
} from "../../domain/handoff.ts";
import { reaches } from "../../domain/member.ts";
import { sealedMailName } from "../mail/keep-mail.ts";
import { listUnseen } from "../mail/letters.ts";
import { noNotice } from "./change.ts";
import type { PeopleServices, Revisions } from "./revisions.ts";

export interface Notices {
  keepDue(): Promise<void>;
  /** When the next mail is due; null for none. */
  findNext(): Promise<number | null>;
}

const chunk = 100;
/** What waited longer was not seen because no mail was sent: no one wants it now. */
const staleMs = 24 * 60 * 60_000;

export function createNotices(services: PeopleServices, revisions: Revisions): Notices {
  const { store, clock, ids, log, sealing } = services;

  async function keepDue(): Promise<void> {
    for (;;) {
      const due = await store.feedback.listMailDue(clock.nowMs(), chunk);
      let kept = 0;
      for (const { handoff } of due) if (await keep(handoff)) kept++;
      if (due.length < chunk || kept === 0) return;
    }
  }

  /** One that fails must not hold up the others. */
  async function keep(handoff: Handoff): Promise<boolean> {
    const { accountId, conversationId } = handoff;
    try {
      const companion = await store.companions.find(accountId, handoff.companionId);
      if (companion === null) return false;
      const [notice, answer] = [await planNotice(handoff, companion), await planAnswer(handoff, companion)];
      if (notice === null && answer === null) return false;
      const change: HandoffChange = {
        fields: { ...notice?.fields, ...answer?.fields },
        mails: [...(notice?.mails ?? []), ...(answer?.mails ?? [])],
        ...(answer?.contactMail && { contactMail: answer.contactMail }),
      };
      const revision = { conversation: { accountId, conversationId }, companion, actor: { type: "clock" } } as const;
      // Another server was first, or something has changed since it was read: then it is read again.
      const revised = await revisions.run(revision, (on) => (on.handoff?.change === handoff.change ? change : null));
      return revised?.hasChanged ?? false;
    } catch (error) {
      log.error("mail about a conversation is left for seconds", { error, conversationId });
      return false;
    }
  }

  const isDue = (atMs: number | null): atMs is number => atMs !== null && atMs <= clock.nowMs();

  async function planNotice(handoff: Handoff, companion: Companion): Promise<HandoffChange | null> {
    const { noticeAtMs, noticeSinceMs, accountId } = handoff;
    if (!isDue(noticeAtMs)) return null;
    const nowMs = clock.nowMs();
    const sinceMs = noticeSinceMs ?? nowMs;
    if (!isWaitingForTeam(handoff) || nowMs - sinceMs >= staleMs) return { fields: noNotice };
    const { person } = handoff;
    const present = await store.handoffs.listPresent(accountId, nowMs);
    const isPresent = present.some((one) =>
      person === null ? reaches(one, companion.id) : one.person.id === person.id,
    );
    if (isPresent && nowMs < sinceMs + noticeAfterMs) return { fields: { noticeAtMs: sinceMs + noticeAfterMs } };
    const members = (await store.members.list(accountId)).filter(
      (member) =>
        member.notify.mail &&
        (member.joinedAt !== null || member.id === accountId) &&
        (person === null ? reaches(member, companion.id) : member.id === person.memberId),
    );
    const mails = members.map(({ id: memberId }) => newMail(handoff, { id: ids.uuid(), kind: "notice", memberId }));
    return { fields: { ...noNotice, ...(mails.length > 0 && { noticedAtMs: nowMs }) }, mails };
  }

  async function planAnswer(handoff: Handoff, { id }: Companion): Promise<HandoffChange | null> {
    const { answerMailAtMs, conversationId, accountId } = handoff;
    if (!isDue(answerMailAtMs)) return null;
    const nowMs = clock.nowMs();
    const contact = await store.feedback.findContact(accountId, conversationId);
    const nextMs = contact === null ? null : nextMailMs(contact);
    if (contact === null || nextMs === null) return { fields: { answerMailAtMs: null } };
    if (nextMs > nowMs) return { fields: { answerMailAtMs: nextMs } };
    const range = { afterSeq: contact.mailedSeq, untilSeq: Number.MAX_SAFE_INTEGER };
    const seq = (await listUnseen(store, handoff, range)).at(-1)?.seq;
    if (seq === undefined) return { fields: { answerMailAtMs: null } };
    const mailId = ids.uuid();
    const content = JSON.stringify({ afterSeq: contact.mailedSeq, untilSeq: seq });
    const sealed = await sealing.seal(sealedMailName(accountId, mailId), content);
    return {
      fields: { answerMailAtMs: null },
      mails: [newMail(handoff, { id: mailId, kind: "answer", companionId: id, sealed })],
      contactMail: { seq, atMs: nowMs },
    };
  }

  function nextMailMs({ mails, mailedAt }: StoredContact): number | null {
    if (mails >= maxAnswerMails) return null;
    return mailedAt === null ? 0 : mailedAt + answerMailEveryMs;
  }

  function newMail(
    { accountId, companionId, conversationId }: Handoff,
    fields: Pick<NewMail, "id" | "kind"> & Partial<NewMail>,
  ): NewMail {
    const nowMs = clock.nowMs();
    const about = { accountId, companionId, conversationId, memberId: null, sealed: null };
    return { ...about, createdAtMs: nowMs, dueAtMs: nowMs, expiresAtMs: null, ...fields };
  }

  return { keepDue, findNext: () => store.feedback.findNextMail() };
}
