/** Conversations that people have stepped into: their state, who wrote, notes, marks, and who is present. */
import type { ConversationKey, Message } from "../../domain/conversation.ts";
import type { Handoff, HandoffEvent, Person } from "../../domain/handoff.ts";
import type { ArrivalMark } from "../coordination.ts";
import type { NewContact } from "./feedback.ts";
import type { NewMail } from "./mails.ts";
import type { Page, PageRequest } from "./page.ts";
import type { NewEvent } from "./webhooks.ts";
import type { WriteContext } from "./write-context.ts";

/** A conversation by its key, which a visitor knows, or by its id through the account. */
export type ConversationRef =
  | { readonly key: ConversationKey }
  | { readonly accountId: string; readonly conversationId: string };

/** What a decision sees, read inside its transaction. */
export interface DecidedOn {
  readonly key: ConversationKey;
  readonly accountId: string;
  readonly conversationId: string;
  /** What is known of a verified visitor, for events; null for others. */
  readonly sealedVisitor: string | null;
  /** Null as long as the conversation has no record. */
  readonly handoff: Handoff | null;
  /** The `seq` of the newest message; 0 without one. */
  readonly newestSeq: number;
  /** The `seq` of the message that has the client's name already; null if none has, or none was asked for. */
  readonly knownSeq: number | null;
  /** The id of that message if it is a visitor's to which nothing came: no reply, and people were not left it. */
  readonly unansweredId: string | null;
}

/** What is written. Members that are left out stay. */
export interface HandoffChange {
  readonly fields?: Partial<Omit<Handoff, "conversationId" | "accountId" | "companionId" | "change">>;
  /** Lines of the conversation's history of people, in order. */
  readonly events?: readonly HandoffEvent[];
  /** One of the visitor's or of a person's; `author` null for the visitor's. Its time is made later than the last one's. */
  readonly message?: {
    readonly message: Message;
    readonly author: Person | null;
    /** The client's name: of a visitor's message the exchange's; of a person's unique among theirs. */
    readonly clientId: string | null;
    /** Replaces what is known of the visitor; null leaves it. */
    readonly sealedVisitor: string | null;
  };
  /** The visitor's message that has the name already is people's from now on, as one of `message` is. */
  readonly leavesKnown?: boolean;
  /** The audit entry's, with `conversationId` as its target; null for a change that has none. */
  readonly audit?: {
    readonly action: string;
    readonly details: Record<string, string | number | boolean | null>;
  } | null;
  /** For webhooks, if the account has any. */
  readonly webhookEvents?: readonly NewEvent[];
  /** Replaces the visitor's contact; how often mail went to it stays. */
  readonly contact?: NewContact;
  /** Mail about it, stored in the same commit. */
  readonly mails?: readonly NewMail[];
  /** One of them brings the visitor's contact what people wrote, up to this `seq`. */
  readonly contactMail?: { readonly seq: number; readonly atMs: number };
}

/** Decides what becomes of a conversation. Pure: it may be called again. Throws to refuse; null changes nothing. */
export type HandoffDecision = (on: DecidedOn) => HandoffChange | null;

export interface RevisionRequest {
  readonly conversation: ConversationRef;
  /** Made if the conversation is missing; null: then there is no decision. Only with a key. */
  readonly newConversationId: string | null;
  /** Whether a message with this name is there already (see `DecidedOn.knownSeq`); null: not asked. */
  readonly clientId: string | null;
  /** Whose names those are. */
  readonly clientIdOf: "visitor" | "person";
  /** Nothing is decided, as if the conversation were missing, if it was erased since. Null: not asked. */
  readonly arrivalMark: ArrivalMark | null;
  readonly decide: HandoffDecision;
}

export interface Revised {
  readonly key: ConversationKey;
  readonly conversationId: string;
  /** As it is now; null if it still has no record. */
  readonly handoff: Handoff | null;
  /** What it was before. */
  readonly before: Handoff | null;
  /** Of the message that was kept, or was there already; null without one. */
  readonly seq: number | null;
  readonly hasChanged: boolean;
}

/** A conversation as listeners find it. */
export interface LiveConversation {
  readonly accountId: string;
  readonly conversationId: string;
  /** 0 without a message. */
  readonly newestSeq: number;
  /** Null if it has no record. */
  readonly handoff: Handoff | null;
}

/** A message as people read it live. */
export interface LiveMessage {
  /** Its position in the conversation, in the order of commits: the first is 1. */
  readonly seq: number;
  readonly message: Message;
  /** Null for the visitor and the companion. */
  readonly author: Person | null;
  /** The client's name for the exchange, or of a person's message. */
  readonly clientId: string | null;
}

export interface ConversationNote {
  readonly id: string;
  readonly author: Person;
  readonly sealedText: string;
  readonly createdAt: number;
}

/** Someone who can be there for visitors. */
export interface Presence {
  readonly person: Person;
  /** Companions that they may see; null: all. */
  readonly companionIds: readonly string[] | null;
  readonly isAvailable: boolean;
  /** Of a member: when their dashboard last had a stream. */
  readonly seenAtMs: number | null;
  /** Of a key's person: until when it is present. Null for members. */
  readonly untilMs: number | null;
}

export interface HandoffStore {
  /** One lookup by the conversation's key. Null: plain talk. Never cached. */
  find(key: ConversationKey): Promise<Handoff | null>;
  /** Null: no such conversation in the account. */
  findOf(accountId: string, conversationId: string): Promise<{ key: ConversationKey; handoff: Handoff | null } | null>;
  /**
   * Reads the record, decides and writes in one transaction; other calls at the same instant wait, so that each decides on
   * what the other has left. Null if there is no such conversation. `context.actor` becomes the audit's.
   */
  revise(request: RevisionRequest, context: WriteContext): Promise<Revised | null>;
  /** Records whose deadline has come, oldest first. */
  listDue(nowMs: number, limit: number): Promise<{ key: ConversationKey; handoff: Handoff }[]>;
  /** The next deadline of all; null for none. */
  findNextDue(): Promise<number | null>;
  /**
   * In `person`, where the visitor waits for an answer, and its person was present since they took it and is so no
   * longer; who waits longest comes first.
   */
  listAbsent(nowMs: number, limit: number): Promise<{ key: ConversationKey; handoff: Handoff }[]>;
  /**
   * Outside `companion` although their companion has no `handoff` any more, or their person is gone: a key that has
   * ended, a member who was removed. Reads all that are outside.
   */
  listStray(nowMs: number, limit: number): Promise<{ key: ConversationKey; handoff: Handoff }[]>;
  /** Of all accounts, for metrics. */
  countState(state: "waiting" | "person"): Promise<number>;
  /** Outside `companion`: of a companion whose `handoff` became null; of someone who is gone also what is reserved for them. */
  listHeld(
    of: { companionId: string } | { personId: string } | { keyId: string },
    limit: number,
  ): Promise<ConversationKey[]>;

  /** What a listener begins with, as of one moment. Null: no such conversation. */
  findLive(key: ConversationKey): Promise<LiveConversation | null>;
  /** Messages beyond `afterSeq`, oldest first; at most `limit`, or fewer where they are long. */
  listLive(
    conversationId: string,
    afterSeq: number,
    limit: number,
  ): Promise<{ messages: LiveMessage[]; newestSeq: number }>;
  /**
   * Which of these conversations have another `change` or newest `seq` than the given ones, for callers that may have missed
   * news. Those that are gone are among them with `isGone`.
   */
  listChanged(
    known: readonly { conversationId: string; change: number; newestSeq: number }[],
  ): Promise<{ conversationId: string; isGone: boolean }[]>;
  /** Conversations of the account whose record changed after `change`, in the order of changes; only of `companionIds` unless null. */
  listSince(
    accountId: string,
    change: number,
    limit: number,
    companionIds: readonly string[] | null,
  ): Promise<{ conversationId: string; key: ConversationKey; handoff: Handoff }[]>;

  listEvents(
    accountId: string,
    conversationId: string,
    page: PageRequest,
  ): Promise<Page<HandoffEvent & { id: string }> | null>;
  /** Audit: `conversation.note`. False if there is no such conversation. Rejects with `limit_reached` beyond `maxNotes`. */
  addNote(accountId: string, conversationId: string, note: ConversationNote, context: WriteContext): Promise<boolean>;
  deleteNote(accountId: string, conversationId: string, id: string, context: WriteContext): Promise<boolean>;
  /** Oldest first. */
  listNotes(accountId: string, conversationId: string): Promise<ConversationNote[]>;
  /** Never goes back, nor beyond the newest. False if nothing changed. Not audited. */
  markRead(accountId: string, conversationId: string, personId: string, seq: number): Promise<boolean>;
  /** The same for the visitor. False without a record. */
  markSeen(key: ConversationKey, seq: number): Promise<boolean>;
  /** Visitors' messages beyond what the person has read, by conversation, of the newest 1 000; only of those with a status. */
  countUnread(accountId: string, conversationIds: readonly string[], personId: string): Promise<Map<string, number>>;

  /**
   * Sets the switch of a member, or how long a key's person is present. What members may see is asked when it is read. Rejects
   * with `limit_reached` for one more than `maxPresent` whom keys named.
   */
  setPresence(accountId: string, presence: Presence): Promise<void>;
  /** Notes that the dashboards of these members have a stream. One commit. */
  recordSeen(personIds: readonly string[], atMs: number): Promise<void>;
  /** Everyone of the account whose switch is on, or whose key is present, at `nowMs`; members only if seen since then less `presentMs`. */
  listPresent(accountId: string, nowMs: number): Promise<Presence[]>;
  findPresence(accountId: string, personId: string): Promise<Presence | null>;
  /** Whether people can have to do with conversations of the account: a companion has `handoff`, or a conversation a record. */
  areUsed(accountId: string): Promise<boolean>;
}
