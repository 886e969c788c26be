/** Conversations, for the owner to read, search and erase. */
import type { Conversation, ConversationKey, Message, MessageChannel, MessageRole } from "../../domain/conversation.ts";
import type { ConversationStatus } from "../../domain/handoff.ts";
import type { ArrivalMark } from "../coordination.ts";
import type { Page, PageRequest } from "./page.ts";
import type { NewEvent } from "./webhooks.ts";
import type { WriteContext } from "./write-context.ts";

export interface ConversationQuery {
  companionId: string | null;
  visitorId: string | null;
  /** Inclusive, by creation; null for no bound. */
  fromMs: number | null;
  /** Exclusive, by creation; null for no bound. */
  toMs: number | null;
  /** Substring of any message's text, ignoring case. */
  q: string | null;
  /** Only those with something new at this time or later; the list is in the order of the last change then. */
  updatedSinceMs?: number | null;
  /** Outside `companion`: only those in this state. */
  state?: "waiting" | "person" | null;
  status?: ConversationStatus | null;
  assigneeId?: string | null;
  /** In lower case. */
  tag?: string | null;
  /** Only those with a status in which the visitor wrote what this person has not read. */
  unreadBy?: string | null;
  /** Only those with a reply that was rated so. */
  rating?: "up" | "down" | null;
  /** With, or without, a question for which the companion's sources had nothing. */
  unanswered?: boolean | null;
  /** With, or without, a reply that the model or the server failed to finish. */
  failed?: boolean | null;
  /** Of verified visitors, or of others. */
  verified?: boolean | null;
  /** With a message of this channel. */
  channel?: MessageChannel | null;
}

/** UTF-16 units of an excerpt, or of a hit with what is around it. */
export const maxExcerptLength = 200;

/** The beginning of a message on one line, at most `maxExcerptLength`. */
export interface Excerpt {
  role: MessageRole;
  text: string;
}

/** Where a message contains what was searched; together at most about `maxExcerptLength`. */
export interface SearchHit {
  role: MessageRole;
  before: string;
  match: string;
  after: string;
}

export interface ConversationExcerpts {
  /** The visitor's first message; null if there is none. */
  first: Excerpt | null;
  /** Anyone's. */
  last: Excerpt | null;
  unanswered: boolean;
  failed: boolean;
  channels: MessageChannel[];
  /** The newest three; empty if they are too far back, null without a search. */
  hits: SearchHit[] | null;
}

/** The position of a message in its conversation. */
export interface MessagePosition {
  createdAt: number;
  id: string;
}

export interface MessagePageRequest {
  /** At least 1. */
  limit: number;
  /** Only messages older than this; null starts with the newest. */
  before: MessagePosition | null;
}

export interface ConversationPage {
  conversation: Conversation;
  /** False if the companion never had a tool: then no reply has calls. */
  mayHaveCalls: boolean;
  /**
   * Oldest first. Fewer than the limit if they are long: pages are also bounded in bytes, but never empty because of
   * it.
   */
  messages: Message[];
  /** For the next, older page; null if there is none. */
  nextBefore: MessagePosition | null;
}

export const newestMessages: MessagePageRequest = { limit: 100, before: null };

/** A verified visitor who takes over the earlier messages. */
export interface TakingVisitor {
  readonly id: string;
  readonly sealed: string;
  /** When the request arrived, which may have waited. Left out: erasures since then are not asked for. */
  readonly arrivalMark?: ArrivalMark;
}

export interface ConversationStore {
  /**
   * By creation, or with `updatedSinceMs` by last change. With `q` or `updatedSinceMs` a page may have fewer than `limit`
   * items, or none, although more follow: it returns what it has found after a bounded amount of reading. So it does with
   * what is about people, which is in the order in which conversations were first stored unless `updatedSinceMs` is given:
   * where turns of several began at the same time, another one than that of creation; and with what `ConversationExcerpts`
   * marks.
   */
  list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>>;
  /** Of conversations that `list` returned, by id. Those that are gone have neither first nor last message. */
  readExcerpts(found: readonly Conversation[], q: string | null): Promise<Map<string, ConversationExcerpts>>;
  /**
   * Gives an anonymous conversation to a verified visitor, with all that is in it, and its voice sessions that wait for
   * their transcript. False, and nothing changes, if there is no such conversation, if it is a verified visitor's, if the
   * visitor has one of that session already, or was erased after the request arrived. Call it only while no turn of the
   * conversation runs.
   */
  merge(from: ConversationKey, visitor: TakingVisitor): Promise<boolean>;
  /** With a page of its messages, by default the newest hundred. */
  find(accountId: string, id: string, page?: MessagePageRequest): Promise<ConversationPage | null>;
  /**
   * Also deletes what its visitor has sent so far and is still being answered. No later read shows it; the engine
   * removes the text from its storage in the background, as documented there. Audit: `conversation.delete`.
   */
  delete(accountId: string, id: string, context: WriteContext): Promise<boolean>;
  /**
   * Erases all messages of these visitors to the companion, what is known of them and counted for them, and deletes
   * their voice sessions, so that no transcript follows. No later read shows it, and the engine has removed it from its
   * storage, as documented there. A turn that is still running is erased when it is settled. False if the account has no
   * such companion; true for visitors without conversations. Audit: `visitor.erase`, without the visitors' ids. `event`
   * is stored with it.
   */
  eraseVisitors(
    accountId: string,
    companionId: string,
    visitorIds: readonly string[],
    context: WriteContext,
    event?: NewEvent | null,
  ): Promise<boolean>;
  /** Deletes up to `limit` conversations past their companion's `retentionDays`; returns how many. */
  deleteExpired(nowMs: number, limit: number): Promise<number>;
}
