/** Writes the letters of the outbox when they are sent: links, and what is about conversations, to the team or to a contact. */
import type { LiveMessage } from "../../contracts/store/handoffs.ts";
import type { DueMail } from "../../contracts/store/mails.ts";
import type { Store } from "../../contracts/store/store.ts";
import { textOf } from "../../domain/conversation.ts";
import { type ContactFacts, sealedContactName } from "../../domain/feedback.ts";
import { type Handoff, isWaitingForTeam } from "../../domain/handoff.ts";
import type { JsonObject } from "../../domain/json.ts";
import { reaches } from "../../domain/member.ts";
import { openOrNull, type Sealing } from "../../lib/sealing.ts";
import type { Letter, LetterOfLink, LetterWriters } from "./mail.ts";
import {
  type MailText,
  type NoticeCause,
  writeAnswerText,
  writeInvitation,
  writeNoticeText,
  writeResetLink,
} from "./texts.ts";

type LetterServices = NoticeServices & { readonly publicUrl: string | null };

export function createLetterWriters({ publicUrl, ...services }: LetterServices): LetterWriters {
  const urlOf = (path: string) => (publicUrl === null ? null : publicUrl + path);

  function writeLink(content: JsonObject | null, write: (link: LetterOfLink, url: string | null) => MailText): Letter {
    const link = content as LetterOfLink;
    return { to: { name: "", address: link.to }, replyTo: null, ...write(link, urlOf(link.path)) };
  }

  return {
    invitation: (_, content) => writeLink(content, (link, url) => writeInvitation({ ...link, url })),
    reset_link: (_, content) => writeLink(content, (link, url) => writeResetLink({ ...link, url })),
    notice: (mail) => writeNotice(services, mail, urlOf),
    answer: (mail, content) => writeAnswer(services, mail, content as unknown as AnswerRange),
  };
}

export interface NoticeServices {
  readonly store: Store;
  readonly sealing: Sealing;
}

/** What people wrote beyond a `seq`, up to another one. */
export interface AnswerRange {
  readonly afterSeq: number;
  readonly untilSeq: number;
}

const pageLimit = 100;
/** UTF-16 code units of one mail; who wrote more is read in the chat. */
const maxText = 100_000;
const maxWords = 4_000;

/** Of people's messages in that range those that neither a listener has seen nor a stream without events has brought. */
export async function listUnseen(
  { handoffs }: Pick<Store, "handoffs">,
  { conversationId, seenSeq, plainSeq }: Handoff,
  { afterSeq, untilSeq }: AnswerRange,
): Promise<LiveMessage[]> {
  const unseen: LiveMessage[] = [];
  let left = maxText;
  for (let seq = Math.max(afterSeq, seenSeq, plainSeq); ; ) {
    const { messages } = await handoffs.listLive(conversationId, seq, pageLimit);
    for (const one of messages) {
      if (one.seq > untilSeq) return unseen;
      if (one.author === null) continue;
      left -= textOf(one.message).length;
      if (left < 0) return unseen;
      unseen.push(one);
    }
    const last = messages.at(-1);
    if (last === undefined) return unseen;
    seq = last.seq;
  }
}

/** Null: someone has taken it, it is over, or the member no longer wants mail of it. */
export async function writeNotice(
  { store }: NoticeServices,
  { accountId, companionId, conversationId, memberId, createdAtMs }: DueMail,
  urlOf: (path: string) => string | null,
): Promise<Letter | null> {
  if (companionId === null || conversationId === null || memberId === null) return null;
  const member = await store.members.find(accountId, memberId);
  const companion = await store.companions.find(accountId, companionId);
  const handoff = (await store.handoffs.findOf(accountId, conversationId))?.handoff ?? null;
  if (member === null || !member.notify.mail || companion === null || !reaches(member, companionId)) return null;
  if (handoff === null || !isWaitingForTeam(handoff)) return null;
  const { state, reason, sinceMs } = handoff;
  // Someone had it meanwhile, or the visitor went back.
  if (state === "companion" && reason !== "missed" && (sinceMs ?? 0) > createdAtMs) return null;
  if (handoff.person !== null && handoff.person.memberId !== memberId) return null;
  const words = member.notify.words ? await findLastWords(store, accountId, conversationId) : null;
  const url = urlOf(`/app/conversations/${conversationId}`);
  const text = writeNoticeText(causeOf(handoff), { companion: companion.name, url, words });
  return { to: { name: member.name ?? "", address: member.email }, replyTo: null, ...text };
}

function causeOf({ state, hasContact }: Handoff): NoticeCause {
  if (state === "person") return "message";
  if (state === "waiting") return "waiting";
  return hasContact ? "contact" : "missed";
}

async function findLastWords(store: Store, accountId: string, conversationId: string): Promise<string | null> {
  const found = await store.conversations.find(accountId, conversationId, { limit: pageLimit, before: null });
  const last = found?.messages.findLast(({ role }) => role === "user");
  return last === undefined ? null : textOf(last).slice(0, maxWords);
}

/** Null: all of it was seen meanwhile, or the contact is gone. */
export async function writeAnswer(
  { store, sealing }: NoticeServices,
  { accountId, companionId, conversationId }: DueMail,
  range: AnswerRange,
): Promise<Letter | null> {
  if (companionId === null || conversationId === null) return null;
  const companion = await store.companions.find(accountId, companionId);
  const handoff = (await store.handoffs.findOf(accountId, conversationId))?.handoff ?? null;
  const contact = await store.feedback.findContact(accountId, conversationId);
  if (companion === null || handoff === null || contact === null) return null;
  const unseen = await listUnseen(store, handoff, range);
  const sealed = await openOrNull(sealing, sealedContactName(companionId), contact.sealed);
  if (unseen.length === 0 || sealed === null) return null;
  const { email, name }: ContactFacts = JSON.parse(sealed);
  const said = unseen.map(({ author, message }) => ({ name: author?.name ?? companion.name, text: textOf(message) }));
  const replyTo = companion.leads?.replyTo ?? null;
  return { to: { name: name ?? "", address: email }, replyTo, ...writeAnswerText(companion.name, said) };
}
