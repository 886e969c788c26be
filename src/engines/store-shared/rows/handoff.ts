/** What is kept of people who step into conversations, as both engines store it and as the domain knows it. */
import type { LiveMessage } from "../../../contracts/store/handoffs.ts";
import { type ConversationKey, type Message, textParts } from "../../../domain/conversation.ts";
import type { Handoff, Person } from "../../../domain/handoff.ts";
import { toVisitorId } from "./conversation.ts";

/** A boolean as either engine gives it. */
type Flag = boolean | number;

type Encoded =
  | "person"
  | "reserved"
  | "tags"
  | "wasPresent"
  | "isAsked"
  | "isOffered"
  | "isResolved"
  | "hasContact"
  | "conversationId";

export interface HandoffRow extends Omit<Handoff, Encoded> {
  person: string | null;
  reserved: string | null;
  tags: string;
  wasPresent: Flag;
  isAsked: Flag;
  isOffered: Flag;
  isResolved: Flag | null;
  hasContact: Flag;
}

export const handoffFields = [
  ...(["accountId", "companionId", "state", "reason", "person", "reserved", "sinceMs", "untilMs"] as const),
  ...([
    "owedSinceMs",
    "wasPresent",
    "isAsked",
    "isOffered",
    "status",
    "assigneeId",
    "tags",
    "reachSeq",
    "returnedAtMs",
    "plainSeq",
  ] as const),
  ...(["seenSeq", "missedAtMs", "isResolved", "resolvedSeq", "resolvedAtMs", "hasContact"] as const),
  ...(["noticeSinceMs", "noticeAtMs", "noticedAtMs", "answerMailAtMs", "day", "dayMessages", "change"] as const),
] satisfies (keyof HandoffRow)[];

const toPerson = (text: string | null): Person | null => (text === null ? null : JSON.parse(text));
const toText = (person: Person | null): string | null => (person === null ? null : JSON.stringify(person));

/** `row` may have more than a record's fields. */
export function toHandoff(conversationId: string, row: HandoffRow): Handoff {
  const read = Object.fromEntries(handoffFields.map((field) => [field, row[field]])) as unknown as HandoffRow;
  return {
    ...read,
    conversationId,
    person: toPerson(row.person),
    reserved: toPerson(row.reserved),
    tags: JSON.parse(row.tags),
    wasPresent: Boolean(row.wasPresent),
    isAsked: Boolean(row.isAsked),
    isOffered: Boolean(row.isOffered),
    isResolved: row.isResolved === null ? null : Boolean(row.isResolved),
    hasContact: Boolean(row.hasContact),
  };
}

/** The record as a row of its table. */
export function toHandoffRow(conversationNumber: number, { conversationId: _, ...handoff }: Handoff) {
  const { person, reserved, tags, noticeAtMs, answerMailAtMs } = handoff;
  const mailTimes = [noticeAtMs, answerMailAtMs].filter((atMs) => atMs !== null);
  return {
    ...handoff,
    conversationNumber,
    person: toText(person),
    personId: person?.id ?? reserved?.id ?? null,
    reserved: toText(reserved),
    tags: JSON.stringify(tags),
    mailAtMs: mailTimes.length === 0 ? null : Math.min(...mailTimes),
  };
}

/** What a conversation's record is before its first change. */
export function newHandoff(conversationId: string, accountId: string, companionId: string): Handoff {
  return {
    ...{ conversationId, accountId, companionId, state: "companion", reason: null, person: null, reserved: null },
    ...{
      sinceMs: null,
      untilMs: null,
      owedSinceMs: null,
      wasPresent: false,
      isAsked: false,
      isOffered: false,
      status: null,
      assigneeId: null,
      tags: [],
    },
    ...{ reachSeq: 0, returnedAtMs: null, plainSeq: 0, seenSeq: 0, missedAtMs: null, isResolved: null },
    ...{ resolvedSeq: null, resolvedAtMs: null, hasContact: false, noticeSinceMs: null, noticeAtMs: null },
    ...{ noticedAtMs: null, answerMailAtMs: null },
    ...{ day: "", dayMessages: 0, change: 0 },
  };
}

export interface KeyRow {
  companionId: string;
  sessionId: string;
  visitorId: string;
}

export const toKey = ({ companionId, sessionId, visitorId }: KeyRow): ConversationKey => {
  return { companionId, sessionId, visitorId: toVisitorId(visitorId) };
};

/** What a message of a history has beside its words: nothing, or the name of the person who wrote it. */
export function authorOf(stored: string | null | undefined): { author?: string | null } {
  const person = toPerson(stored ?? null);
  return person === null ? {} : { author: person.name };
}

export interface LiveRow extends Omit<Message, "parts" | "complete" | "tokensEstimated"> {
  seq: number;
  complete: Flag;
  tokensEstimated: Flag;
  text: string;
  clientId: string | null;
  author: string | null;
}

export function toLiveMessage({ seq, text, clientId, author, ...row }: LiveRow): LiveMessage {
  const flags = { complete: Boolean(row.complete), tokensEstimated: Boolean(row.tokensEstimated) };
  return { seq, message: { ...row, ...flags, parts: textParts(text) }, author: toPerson(author), clientId };
}

/** That the companion of the conversation `v` is there: conversations of a deleted one only wait for their own deletion. */
export const hasCompanion = "EXISTS (SELECT 1 FROM companions c WHERE c.id = v.companion_id)";
