/** Who answers a conversation: records of what people do with it, read and revised. */
import type { ArrivalMark } from "../../../contracts/coordination.ts";
import type { HandoffChange, HandoffStore, Revised, RevisionRequest } from "../../../contracts/store/handoffs.ts";
import type { MailAdded } from "../../../contracts/store/mails.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { ConversationKey, Message } from "../../../domain/conversation.ts";
import type { Handoff } from "../../../domain/handoff.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import {
  type HandoffRow,
  handoffFields,
  hasCompanion,
  type KeyRow,
  newHandoff,
  toHandoff,
  toHandoffRow,
  toKey,
} from "../rows/handoff.ts";
import { changes } from "./changes.ts";
import { keepBeside } from "./feedback.ts";
import { findKnown } from "./known-messages.ts";
import type { MailBell } from "./mails.ts";
import { all, columns, get, insert, insertAll, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

/** What a revision leaves to each engine. */
export interface RevisionParts {
  /** Whether what arrived at that mark has been erased since; true if in doubt. */
  wasErased(key: ConversationKey, arrivalMark: ArrivalMark): Script<boolean>;
  addMessage(key: ConversationKey, conversationId: string, message: Message, facts: MessageFacts): Script<unknown>;
  /** Notes how the exchange of this name ended, of which there is no reply. */
  noteEnd(key: ConversationKey, clientId: string, endCode: StreamErrorCode): Script<unknown>;
  emit(events: readonly NewEvent[], conversationId: string): Script<unknown>;
  /** Of mail that a revision keeps. */
  mailBell: MailBell;
}

export interface MessageFacts {
  clientId: string | null;
  endCode: StreamErrorCode | null;
  sealedVisitor: string | null;
}

export const shown = columns<HandoffRow>("h", handoffFields);
export const placed = `v.id AS "conversationId", v.companion_id AS "companionId", v.session_id AS "sessionId", v.visitor_id AS "visitorId"`;
const isOfKey = "v.companion_id = $1 AND v.session_id = $2 AND v.visitor_id = $3";
const isOfAccount = "v.id = $1 AND v.account_id = $2";
const locked = (condition: string) => `SELECT ${placed}, v.number, v.account_id AS "accountId",
    v.message_count AS "messageCount", v.updated_at AS "updatedAt", v.sealed_visitor AS "sealedVisitor"
  FROM conversations v JOIN accounts a ON a.id = v.account_id
  WHERE ${condition} AND ${hasCompanion} FOR UPDATE OF v FOR KEY SHARE OF a`;
export const joined = `FROM handoffs h JOIN conversations v ON v.number = h.conversation_number`;
const held = (condition: string) => `SELECT ${placed} ${joined} WHERE ${condition} LIMIT $2`;

export const handoffQueries = {
  find: `SELECT v.id AS "conversationId", ${shown} ${joined} WHERE ${isOfKey}`,
  findOf: `SELECT v.session_id AS "sessionId", v.visitor_id AS "visitorId", v.companion_id AS "ofCompanion", ${shown}
    FROM conversations v LEFT JOIN handoffs h ON h.conversation_number = v.number WHERE ${isOfAccount} AND ${hasCompanion}`,
  lockOfKey: locked(isOfKey),
  lockOfAccount: locked(isOfAccount),
  lockRecord: `SELECT ${shown} FROM handoffs h WHERE h.conversation_number = $1 FOR UPDATE`,
  due: `SELECT ${placed}, ${shown} ${joined} WHERE h.until_ms <= $1 AND ${hasCompanion} ORDER BY h.until_ms LIMIT $2`,
  nextDue: `SELECT h.until_ms AS "untilMs" ${joined} WHERE h.until_ms IS NOT NULL AND ${hasCompanion}
    ORDER BY h.until_ms LIMIT 1`,
  heldOfCompanion: held("h.state <> 'companion' AND h.companion_id = $1"),
  heldOfPerson: held("h.person_id = $1"),
  // Ids of a key's people begin with its own and a colon.
  heldOfKey: held("h.person_id >= $1 || ':' AND h.person_id < $1 || ';'"),
};

const selectKey = `SELECT v.companion_id AS "companionId", v.session_id AS "sessionId", v.visitor_id AS "visitorId"
  FROM conversations v WHERE ${isOfAccount}`;
// The order of locks is that of settled turns: what belongs to companions and visitors is shared first.
const share = "SELECT share_companions(ARRAY[$1::text]), share_visitors(ARRAY[$1::text], ARRAY[$2::text])";
const insertConversation = `INSERT INTO conversations
    (id, account_id, companion_id, session_id, visitor_id, message_count, created_at, updated_at)
  SELECT $4, c.account_id, c.id, $2, $3, 0, $5, $5 FROM companions c WHERE c.id = $1
  ON CONFLICT (companion_id, session_id, visitor_id) DO NOTHING`;
const nextChange = `INSERT INTO handoff_changes (account_id, change) VALUES ($1, 1)
  ON CONFLICT (account_id) DO UPDATE SET change = handoff_changes.change + 1 RETURNING change`;
const recordColumns = Object.keys(toHandoffRow(0, newHandoff("", "", ""))).map(toSnakeCase);
const replaceRecord = `ON CONFLICT (conversation_number) DO UPDATE SET
  ${recordColumns.map((column) => `${column} = excluded.${column}`).join(", ")}`;
const notePeople = "UPDATE companions SET had_people = true WHERE id = $1 AND NOT had_people";

interface LockedRow extends KeyRow {
  conversationId: string;
  accountId: string;
  number: number;
  messageCount: number;
  updatedAt: number;
  sealedVisitor: string | null;
}

export const keyColumns = ({ companionId, sessionId, visitorId }: ConversationKey) => [
  companionId,
  sessionId,
  visitorId ?? "",
];

export type RevisingStore = Pick<HandoffStore, "find" | "findOf" | "revise" | "listDue" | "findNextDue" | "listHeld">;

export function createRevisions(scripts: ScriptRunner, parts: RevisionParts): RevisingStore {
  /** Null if there is none, or it was erased since the request arrived. */
  function* lock(
    { conversation, newConversationId, arrivalMark }: RevisionRequest,
    nowMs: number,
  ): Script<{
    row: LockedRow;
    isNew: boolean;
  } | null> {
    const isKey = "key" in conversation;
    const key = isKey
      ? conversation.key
      : yield* get<KeyRow>(selectKey, conversation.conversationId, conversation.accountId);
    if (key === null) return null;
    yield* lockRows(share, key.companionId, key.visitorId ?? "");
    const given = { companionId: key.companionId, sessionId: key.sessionId, visitorId: key.visitorId || null };
    if (arrivalMark !== null && (yield* parts.wasErased(given, arrivalMark))) return null;
    const find = () =>
      isKey
        ? get<LockedRow>(handoffQueries.lockOfKey, ...keyColumns(conversation.key))
        : get<LockedRow>(handoffQueries.lockOfAccount, conversation.conversationId, conversation.accountId);
    const found = yield* find();
    if (found !== null || !isKey || newConversationId === null) return found && { row: found, isNew: false };
    const made = yield* run(insertConversation, ...keyColumns(conversation.key), newConversationId, nowMs);
    const row = yield* find();
    return row && { row, isNew: made > 0 };
  }

  function* addMessage(row: LockedRow, added: NonNullable<HandoffChange["message"]>): Script<number> {
    const { message, author, clientId, sealedVisitor } = added;
    // Later than what is there, so that the order of times is that of commits.
    const createdAt = row.messageCount === 0 ? message.createdAt : Math.max(message.createdAt, row.updatedAt + 1);
    const ofVisitor = author === null ? clientId : null;
    const facts = { clientId: ofVisitor, endCode: ofVisitor === null ? null : ("taken" as const), sealedVisitor };
    yield* parts.addMessage(toKey(row), row.conversationId, { ...message, createdAt }, facts);
    const seq = row.messageCount + 1;
    if (author === null) return seq;
    const { number: conversationNumber } = row;
    const authored = { author: JSON.stringify(author), clientId: clientId ?? message.id };
    yield* insert("message_authors", { conversationNumber, seq, messageId: message.id, ...authored });
    return seq;
  }

  function* writeRecord(row: LockedRow, before: Handoff | null, change: HandoffChange): Script<Handoff> {
    const { accountId, companionId, conversationId, number } = row;
    const numbered = yield* get<{ change: number }>(nextChange, accountId);
    const handoff: Handoff = {
      ...(before ?? newHandoff(conversationId, accountId, companionId)),
      ...change.fields,
      change: numbered?.change ?? 0,
    };
    yield* insertAll("handoffs", [toHandoffRow(number, handoff)], replaceRecord);
    if (before === null) yield* run(notePeople, companionId);
    return handoff;
  }

  function* write(row: LockedRow, before: Handoff | null, change: HandoffChange, context: WriteContext) {
    const { accountId, companionId, conversationId, number: conversationNumber } = row;
    const seq = change.message === undefined ? null : yield* addMessage(row, change.message);
    const lines = (change.events ?? []).map(({ type, atMs, by, sealedReason }, at) => {
      const id = at === 0 ? context.auditId : `${context.auditId}-${at}`;
      return { id, conversationNumber, accountId, companionId, type, by: JSON.stringify(by), sealedReason, atMs };
    });
    yield* insertAll("handoff_events", lines);
    const { webhookEvents = [], audit = null } = change;
    if (webhookEvents.length > 0) yield* parts.emit(webhookEvents, conversationId);
    yield* changes.record(context, audit && { accountId, targetId: conversationId, ...audit });
    const mails = yield* keepBeside(row, before, change, context.nowMs);
    // Last, since its number keeps out all others of the account.
    return { seq, mails, handoff: yield* writeRecord(row, before, change) };
  }

  type Revision = Revised & { mails: MailAdded[] };

  function* revise(request: RevisionRequest, context: WriteContext): Script<Revision | null> {
    const found = yield* lock(request, context.nowMs);
    if (found === null) return null;
    const { row, isNew } = found;
    const { conversationId, accountId, number, sealedVisitor } = row;
    const stored = yield* get<HandoffRow>(handoffQueries.lockRecord, number);
    const before = stored && toHandoff(conversationId, stored);
    const known = yield* findKnown(request, number);
    const { seq: knownSeq, unansweredId } = known ?? { seq: null, unansweredId: null };
    const key = toKey(row);
    const ids = { key, accountId, conversationId, sealedVisitor };
    const change = request.decide({ ...ids, handoff: before, newestSeq: row.messageCount, knownSeq, unansweredId });
    if (change === null) {
      if (isNew) yield* run("DELETE FROM conversations WHERE number = $1", number);
      yield* changes.record(context, null);
      return { key, conversationId, handoff: before, before, seq: knownSeq, hasChanged: false, mails: [] };
    }
    if (change.leavesKnown && request.clientId !== null) yield* parts.noteEnd(key, request.clientId, "taken");
    const { seq, ...written } = yield* write(row, before, change, context);
    return { key, conversationId, before, ...written, seq: seq ?? knownSeq, hasChanged: true };
  }

  type Joined = HandoffRow & KeyRow & { conversationId: string };

  return {
    async find(key) {
      const row = await scripts.read(() => get<Joined>(handoffQueries.find, ...keyColumns(key)));
      return row && toHandoff(row.conversationId, row);
    },

    async findOf(accountId, conversationId) {
      type Found = Joined & { ofCompanion: string; state: string | null };
      const row = await scripts.read(() => get<Found>(handoffQueries.findOf, conversationId, accountId));
      if (row === null) return null;
      const handoff = row.state === null ? null : toHandoff(conversationId, row);
      return { key: toKey({ ...row, companionId: row.ofCompanion }), handoff };
    },

    async revise(request, context) {
      const { conversation } = request;
      const script = () => revise(request, context);
      // Limits of what is stored for repeats hold only where changes of the account follow each other.
      const revised = await (context.idempotent !== undefined
        ? scripts.change(context.idempotent.slot.accountId, script)
        : scripts.writeInOrder("key" in conversation ? conversation.key.companionId : conversation.accountId, script));
      if (revised !== null && revised.handoff !== null) parts.mailBell.ring(revised.handoff.accountId, revised.mails);
      return revised;
    },

    async listDue(nowMs, limit) {
      const rows = await scripts.read(() => all<Joined>(handoffQueries.due, nowMs, limit));
      return rows.map((row) => ({ key: toKey(row), handoff: toHandoff(row.conversationId, row) }));
    },

    findNextDue: () =>
      scripts.read(function* () {
        return (yield* get<{ untilMs: number }>(handoffQueries.nextDue))?.untilMs ?? null;
      }),

    async listHeld(of, limit) {
      const { heldOfCompanion, heldOfPerson, heldOfKey } = handoffQueries;
      const [text, id] =
        "companionId" in of
          ? [heldOfCompanion, of.companionId]
          : "personId" in of
            ? [heldOfPerson, of.personId]
            : [heldOfKey, of.keyId];
      return (await scripts.read(() => all<KeyRow>(text, id, limit))).map(toKey);
    },
  };
}
