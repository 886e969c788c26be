/** What visitors leave for the team: a contact, and what they think of replies. Gone with their conversation. */
import type { ConversationKey, Message } from "../../domain/conversation.ts";
import type { Rating } from "../../domain/feedback.ts";
import type { Handoff } from "../../domain/handoff.ts";
import type { Page, PageRequest } from "./page.ts";
import type { NewEvent } from "./webhooks.ts";
import type { WriteContext } from "./write-context.ts";

/** Kept by a revision of the conversation's record (`HandoffChange.contact`). */
export interface NewContact {
  /** JSON of `ContactFacts`. */
  readonly sealed: string;
  /** As the visitor has read it. */
  readonly consentText: string;
  readonly consentedAt: number;
}

export interface StoredContact extends NewContact {
  readonly conversationId: string;
  readonly companionId: string;
  /** How many mails brought the visitor what people wrote, when the last one was kept, and up to which `seq`. */
  readonly mails: number;
  readonly mailedAt: number | null;
  readonly mailedSeq: number;
}

export interface ListedContact extends StoredContact {
  readonly id: string;
  readonly updatedAt: number;
}

export interface ContactQuery {
  readonly companionId: string | null;
  readonly fromMs: number | null;
  /** Exclusive. */
  readonly toMs: number | null;
}

export interface StoredRating extends Pick<Rating, "rating" | "reasons" | "createdAt"> {
  readonly sealedComment: string | null;
}

export interface RatingRequest {
  readonly key: ConversationKey;
  /** The client's name of the exchange. */
  readonly clientId: string;
  /** Null takes it back. */
  readonly rating: StoredRating | null;
  /** Given the conversation's id and what is known of its visitor, sealed; null for no event. */
  event(of: { conversationId: string; sealedVisitor: string | null }): NewEvent | null;
}

export interface FeedbackStore {
  /** Null if the visitor has left none, or their companion is deleted. */
  findContact(accountId: string, conversationId: string): Promise<StoredContact | null>;
  /**
   * By consent, newest first unless the page says otherwise. An item's `id` is the conversation's, and its
   * `updatedAt` the consent's time, which cursors need: a newer contact moves in the list.
   */
  listContacts(accountId: string, query: ContactQuery, page: PageRequest): Promise<Page<ListedContact>>;
  /** False if there is none. Mail to it that waits goes as well. Audit: `lead.delete`. */
  deleteContact(accountId: string, conversationId: string, context: WriteContext): Promise<boolean>;

  /** The last one counts; to take back what is not there reports nothing. False if the companion has no reply of that name in the conversation. One commit. */
  rate(request: RatingRequest): Promise<boolean>;
  /** Of replies among these messages of the conversation, by the message's id. */
  listRatings(
    accountId: string,
    conversationId: string,
    messages: readonly Pick<Message, "id" | "createdAt">[],
  ): Promise<Map<string, StoredRating>>;

  /** Conversations of which mail is due (`noticeAtMs`, `answerMailAtMs`), those that wait longest first. */
  listMailDue(nowMs: number, limit: number): Promise<{ key: ConversationKey; handoff: Handoff }[]>;
  /** Null if there is none. */
  findNextMail(): Promise<number | null>;
}
