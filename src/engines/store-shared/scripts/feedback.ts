/** What visitors leave for the team, what is kept in the commit of a conversation's record, and mail that is due for it. */
import type { FeedbackStore, StoredContact, StoredRating } from "../../../contracts/store/feedback.ts";
import type { HandoffChange } from "../../../contracts/store/handoffs.ts";
import type { MailAdded } from "../../../contracts/store/mails.ts";
import { toPage } from "../../../contracts/store/page.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { Handoff } from "../../../domain/handoff.ts";
import { type HandoffRow, handoffFields, hasCompanion, type KeyRow, toHandoff, toKey } from "../rows/handoff.ts";
import { changes } from "./changes.ts";
import { ownsCompanion } from "./companions.ts";
import { mailScripts } from "./mails.ts";
import { all, columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";

const contactFields = ["companionId", "consentText", "consentedAt", "mails", "mailedAt", "mailedSeq"] as const;
const shownContact = `v.id AS "conversationId", k.sealed_contact AS "sealed",
  ${columns<StoredContact>("k", contactFields)}`;
const contacts = "FROM contacts k JOIN conversations v ON v.number = k.conversation_number";
const page = (owner: string, [following, direction]: readonly [string, string]) => `SELECT ${shownContact} ${contacts}
  WHERE ${owner} AND ${hasCompanion} AND k.consented_at >= $2 AND k.consented_at < $3
    AND (k.consented_at, k.conversation_number) ${following} ($4, $5)
  ORDER BY k.consented_at ${direction}, k.conversation_number ${direction} LIMIT $6`;
const pages = (owner: string) => ({ desc: page(owner, ["<", "DESC"]), asc: page(owner, [">", "ASC"]) });
const placed = `v.companion_id AS "companionId", v.session_id AS "sessionId", v.visitor_id AS "visitorId"`;

export const feedbackQueries = {
  contact: `SELECT ${shownContact} ${contacts} WHERE v.id = $1 AND v.account_id = $2 AND ${hasCompanion}`,
  ofAccount: pages("k.account_id = $1"),
  ofCompanion: pages("k.companion_id = $1"),
  position: "SELECT number FROM conversations WHERE id = $1 AND account_id = $2",
  reply: `SELECT 1 AS one FROM messages WHERE conversation_number = $1 AND client_id = $2 AND role = 'assistant' LIMIT 1`,
  // By the time of the messages, in this order: a long conversation may have many ratings.
  ratings: `SELECT m.id, r.rating, r.reasons, r.sealed_comment AS "sealedComment", r.created_at AS "createdAt"
    FROM conversations v CROSS JOIN messages m CROSS JOIN ratings r
    WHERE v.id = $1 AND v.account_id = $2 AND m.conversation_number = v.number
      AND m.created_at >= $3 AND m.created_at <= $4 AND m.id = ANY ($5::text[]) AND m.role = 'assistant'
      AND r.conversation_number = m.conversation_number AND r.client_id = m.client_id`,
  mailDue: `SELECT v.id AS "conversationId", ${placed}, ${columns<HandoffRow>("h", handoffFields)}
    FROM handoffs h JOIN conversations v ON v.number = h.conversation_number
    WHERE h.mail_at_ms <= $1 AND ${hasCompanion} ORDER BY h.mail_at_ms LIMIT $2`,
  nextMail: `SELECT h.mail_at_ms AS "atMs" FROM handoffs h JOIN conversations v ON v.number = h.conversation_number
    WHERE h.mail_at_ms IS NOT NULL AND ${hasCompanion} ORDER BY h.mail_at_ms LIMIT 1`,
};

const lockConversation = `SELECT v.number, v.id AS "conversationId", v.account_id AS "accountId",
    v.sealed_visitor AS "sealedVisitor"
  FROM conversations v WHERE v.companion_id = $1 AND v.session_id = $2 AND v.visitor_id = $3 FOR KEY SHARE`;
const lockListed = `SELECT v.number FROM conversations v
  WHERE v.id = $1 AND v.account_id = $2 AND ${hasCompanion} FOR KEY SHARE`;
const replaceContact = `ON CONFLICT (conversation_number) DO UPDATE SET sealed_contact = excluded.sealed_contact,
  consent_text = excluded.consent_text, consented_at = excluded.consented_at`;
const noteMail = `UPDATE contacts SET mails = mails + 1, mailed_at = $2, mailed_seq = $3 WHERE conversation_number = $1`;
const replaceRating = `ON CONFLICT (conversation_number, client_id) DO UPDATE SET rating = excluded.rating,
  reasons = excluded.reasons, sealed_comment = excluded.sealed_comment, created_at = excluded.created_at`;
const deleteRating = "DELETE FROM ratings WHERE conversation_number = $1 AND client_id = $2";
const deleteContact = "DELETE FROM contacts WHERE conversation_number = $1";
const deleteMails = "DELETE FROM mails WHERE conversation_id = $1 AND kind = 'answer'";
const forgetContact = `UPDATE handoffs SET has_contact = false, answer_mail_at_ms = NULL, mail_at_ms = notice_at_ms
  WHERE conversation_number = $1`;

interface Revised {
  readonly number: number;
  readonly accountId: string;
  readonly companionId: string;
}

/** What a revision writes beside the record. Returns what became of its mail. */
export function* keepBeside(
  { number: conversationNumber, accountId, companionId }: Revised,
  before: Handoff | null,
  change: HandoffChange,
  nowMs: number,
): Script<MailAdded[]> {
  const { contact, contactMail } = change;
  const of = { conversationNumber, accountId, companionId };
  if (contact !== undefined) {
    const { sealed: sealedContact, consentText, consentedAt } = contact;
    yield* insert("contacts", { ...of, sealedContact, consentText, consentedAt }, replaceContact);
  }
  if (contactMail !== undefined) yield* run(noteMail, conversationNumber, contactMail.atMs, contactMail.seq);
  for (const span of listSpans(before, change, nowMs)) yield* insert("handoff_spans", { ...of, ...span, atMs: nowMs });
  const added: MailAdded[] = [];
  for (const mail of change.mails ?? []) added.push(yield* mailScripts.add(mail));
  return added;
}

function listSpans(before: Handoff | null, { fields, message }: HandoffChange, nowMs: number) {
  const spans: { kind: "answer" | "person"; durationMs: number }[] = [];
  if (before === null) return spans;
  const isAnswer = message !== undefined && message.author !== null && before.owedSinceMs !== null;
  if (isAnswer) spans.push({ kind: "answer", durationMs: Math.max(0, nowMs - (before.owedSinceMs ?? nowMs)) });
  const isOver = before.state === "person" && before.sinceMs !== null && fields?.sinceMs !== undefined;
  if (isOver) spans.push({ kind: "person", durationMs: Math.max(0, nowMs - (before.sinceMs ?? nowMs)) });
  return spans;
}

type ContactRow = StoredContact;
type RatingRow = Omit<StoredRating, "reasons"> & { id: string; reasons: string };

export function createFeedbackStore(
  scripts: ScriptRunner,
  emit: (events: readonly NewEvent[], conversationId: string) => Script<unknown>,
): FeedbackStore {
  return {
    findContact: (accountId, conversationId) =>
      scripts.read(() => get<ContactRow>(feedbackQueries.contact, conversationId, accountId)),

    listContacts: (accountId, { companionId, fromMs, toMs }, { limit, afterId, afterUpdatedAt, order = "desc" }) =>
      scripts.read(function* () {
        // Also for a companion of another account.
        if (companionId !== null && !(yield* ownsCompanion(accountId, companionId))) {
          return { items: [], nextAfterId: null, nextUpdatedAt: null };
        }
        const end = order === "desc" ? Number.MAX_SAFE_INTEGER : -1;
        // Of one that is gone the time is left: better some of its millisecond twice than one never.
        const after = afterId && (yield* get<{ number: number }>(feedbackQueries.position, afterId, accountId));
        const { ofAccount, ofCompanion } = feedbackQueries;
        const text = (companionId === null ? ofAccount : ofCompanion)[order];
        const range = [
          fromMs ?? 0,
          toMs ?? Number.MAX_SAFE_INTEGER,
          afterUpdatedAt ?? end,
          after ? after.number : end,
          limit + 1,
        ];
        const rows = yield* all<ContactRow>(text, companionId ?? accountId, ...range);
        const items = rows.map((row) => ({ ...row, id: row.conversationId, updatedAt: row.consentedAt }));
        const page = toPage(items, limit);
        return { ...page, nextUpdatedAt: page.nextAfterId === null ? null : (page.items.at(-1)?.consentedAt ?? null) };
      }),

    deleteContact: (accountId, conversationId, context) =>
      scripts.change(accountId, function* () {
        const row = yield* get<{ number: number }>(lockListed, conversationId, accountId);
        if (row === null || (yield* run(deleteContact, row.number)) === 0) return false;
        yield* run(forgetContact, row.number);
        yield* run(deleteMails, conversationId);
        yield* changes.record(context, { accountId, action: "lead.delete", targetId: conversationId, details: {} });
        return true;
      }),

    rate: ({ key: { companionId, sessionId, visitorId }, clientId, rating, event }) =>
      scripts.append(function* () {
        type Row = { number: number; conversationId: string; accountId: string; sealedVisitor: string | null };
        const row = yield* get<Row>(lockConversation, companionId, sessionId, visitorId ?? "");
        if (row === null || (yield* get(feedbackQueries.reply, row.number, clientId)) === null) return false;
        const { number: conversationNumber, accountId } = row;
        if (rating !== null) {
          const stored = { ...rating, reasons: JSON.stringify(rating.reasons) };
          yield* insert("ratings", { conversationNumber, clientId, accountId, companionId, ...stored }, replaceRating);
        } else if ((yield* run(deleteRating, conversationNumber, clientId)) === 0) return true;
        const newEvent = event(row);
        if (newEvent !== null) yield* emit([newEvent], row.conversationId);
        return true;
      }),

    async listRatings(accountId, conversationId, messages) {
      if (messages.length === 0) return new Map();
      const times = messages.map(({ createdAt }) => createdAt);
      const range = [Math.min(...times), Math.max(...times), messages.map(({ id }) => id)];
      const rows = await scripts.read(() =>
        all<RatingRow>(feedbackQueries.ratings, conversationId, accountId, ...range),
      );
      return new Map(rows.map(({ id, reasons, ...rating }) => [id, { ...rating, reasons: JSON.parse(reasons) }]));
    },

    async listMailDue(nowMs, limit) {
      type Row = HandoffRow & KeyRow & { conversationId: string };
      const rows = await scripts.read(() => all<Row>(feedbackQueries.mailDue, nowMs, limit));
      return rows.map((row) => ({ key: toKey(row), handoff: toHandoff(row.conversationId, row) }));
    },

    findNextMail: async () => (await scripts.read(() => get<{ atMs: number }>(feedbackQueries.nextMail)))?.atMs ?? null,
  };
}
