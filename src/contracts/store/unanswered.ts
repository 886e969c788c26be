/** What turns found in knowledge, and the questions that had no answer there. */
import type { ConversationKey } from "../../domain/conversation.ts";
import type { PassageRef, Source, UnansweredQuestion } from "../../domain/knowledge.ts";
import type { NewSource } from "./knowledge.ts";
import type { Page, PageRequest } from "./page.ts";
import type { NewEvent } from "./webhooks.ts";
import type { WriteContext } from "./write-context.ts";

/** A passage that a model saw. */
export interface SeenPassage extends PassageRef {
  /** Its number in that request. */
  n: number;
  /** Whether the reply cites it. */
  isCited: boolean;
}

/** The same with where it comes from; `source` is null once that was deleted or read again. */
export interface ShownPassage extends SeenPassage {
  source: { id: string; title: string; url: string | null; page: number | null; text: string } | null;
}

/** Of one turn, noted after it was stored. */
export interface KnowledgeNote {
  key: ConversationKey;
  /** The stored message whose question had no answer, and the name of those that ask the same; null if it had one. */
  unanswered: { messageId: string; groupId: string; event?: NewEvent | null } | null;
  /** The stored reply, and what the model saw for it; null for nothing. */
  seen: { messageId: string; passages: readonly SeenPassage[] } | null;
}

/**
 * Visitors' words are not stored here: an asking refers to its message and is gone with it, however that was erased.
 */
export interface UnansweredStore {
  /**
   * Notes what a stored turn found. Nothing is written for messages that are gone. Of a companion, the `maxAskings` newest
   * askings are kept.
   */
  note(note: KnowledgeNote): Promise<void>;
  /** What models saw for these messages of the conversation, by the message's id; those without anything are left out. */
  listSeen(conversationId: string, messageIds: readonly string[]): Promise<Map<string, ShownPassage[]>>;
  /** By the last asking, the newest first unless the page asks otherwise. Null if the account has no such companion. */
  list(accountId: string, companionId: string, page: PageRequest): Promise<Page<UnansweredQuestion> | null>;
  /** The same of all companions of the account. */
  listOfAccount(accountId: string, page: PageRequest): Promise<Page<UnansweredQuestion>>;
  find(accountId: string, companionId: string, id: string): Promise<UnansweredQuestion | null>;
  /** False if absent. Audit: `unanswered.dismiss`. */
  dismiss(accountId: string, companionId: string, id: string, context: WriteContext): Promise<boolean>;
  /**
   * Makes the source, as `KnowledgeStore.create` does, and removes the question, in one commit. Null if absent.
   *
   * A source with its companion's id is the one for the answers of a companion that is full: it may be one more than
   * `maxSources`. If it exists, the upload's bytes (at most 2 MiB) are appended to its own, and it is queued again,
   * which is audited as `source.update`; rejects with `conflict` if they would be more than `maxUploadBytes`.
   */
  answer(
    accountId: string,
    companionId: string,
    id: string,
    source: NewSource,
    context: WriteContext,
  ): Promise<Source | null>;
}
