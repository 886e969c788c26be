/** Conversations as their owner reads, searches and erases them. */
import type { Conversation, Message } from "../../domain/conversation.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export interface ConversationQuery {
  companionId: string | null;
  visitorId: string | null;
  /** Inclusive, by creation; null is open. */
  fromMs: number | null;
  /** Exclusive, by creation; null is open. */
  toMs: number | null;
  /** Substring of any message's text, any case. */
  q: string | null;
}

/** The place of a message in its conversation. */
export interface MessagePosition {
  createdAt: number;
  id: string;
}

export interface MessagePageRequest {
  /** At least 1. */
  limit: number;
  /** Only older ones than this; null begins with the newest. */
  before: MessagePosition | null;
}

export interface ConversationPage {
  conversation: Conversation;
  /** Oldest first. Fewer than the limit where they are long: a page is bounded in bytes too, and never empty for that. */
  messages: Message[];
  /** Leads on to older ones; null where there are none. */
  nextBefore: MessagePosition | null;
}

export const newestMessages: MessagePageRequest = { limit: 100, before: null };

export interface ConversationStore {
  /**
   * Newest first by creation. With `q` a page may hold fewer than `limit`, or none, while more follow: a search hands
   * back what it has found after a bounded amount of reading.
   */
  list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>>;
  /** With a page of its messages, the newest hundred unless told otherwise. */
  find(accountId: string, id: string, page?: MessagePageRequest): Promise<ConversationPage | null>;
  /**
   * With what its visitor has sent until now and is still being answered. No later read shows it; the engine takes its
   * words off its media behind everything else, as its own page says. Audit: `conversation.delete`.
   */
  delete(accountId: string, id: string, context: WriteContext): Promise<boolean>;
  /**
   * Erases all that this visitor said to the companion, and forgets their voice sessions, so that no transcript follows.
   * No later read shows it, and the engine has taken it off its media as its own page says. What is being answered goes
   * when it is settled. False where the account has no such companion; a visitor without conversations is erased all the same.
   * Audit: `visitor.erase`, without the visitor's id.
   */
  eraseVisitor(accountId: string, companionId: string, visitorId: string, context: WriteContext): Promise<boolean>;
  /** Deletes up to `limit` conversations past their companion's `retentionDays`; returns how many. */
  deleteExpired(nowMs: number, limit: number): Promise<number>;
}
