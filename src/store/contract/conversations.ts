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

export interface ConversationStore {
  /**
   * Newest first by creation. With `q` a page may hold fewer than `limit`, or none, while more follow: a search hands
   * back what it has found after a bounded amount of reading.
   */
  list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>>;
  /** With its messages, oldest first. */
  find(accountId: string, id: string): Promise<{ conversation: Conversation; messages: Message[] } | null>;
  /** With what its visitor has sent until now and is still being answered. Audit: `conversation.delete`. */
  delete(accountId: string, id: string, context: WriteContext): Promise<boolean>;
  /**
   * Erases all that this visitor said to the companion, from the database's files too (free pages overwritten, WAL
   * truncated), and forgets their voice sessions, so that no transcript follows. What is being answered
   * goes when it is settled. False where the account has no such companion; a visitor without conversations is erased all the same.
   * Audit: `visitor.erase`, without the visitor's id.
   */
  eraseVisitor(accountId: string, companionId: string, visitorId: string, context: WriteContext): Promise<boolean>;
  /** Deletes up to `limit` conversations past their companion's `retentionDays`; returns how many. */
  deleteExpired(nowMs: number, limit: number): Promise<number>;
}
