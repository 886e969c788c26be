/** Who listens to conversations here, and what is sent to them; nothing of it is stored. */
import type { LiveConversation, LiveMessage } from "../../contracts/store/handoffs.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Handoff } from "../../domain/handoff.ts";
import type { OpenTurns } from "../turns/open-turns.ts";

/** Why nothing more is sent to a listener. `over`: the companion answers; `again`: come back. */
export type LiveEnd = "again" | "unavailable" | "visitor_unverified" | "replaced" | "over";

/** What a listener of one conversation gets, in order. */
export type LiveEvent =
  | { readonly type: "state"; readonly handoff: Handoff | null }
  | { readonly type: "message"; readonly message: LiveMessage }
  /** Of a person. */
  | { readonly type: "typing"; readonly isTyping: boolean }
  | { readonly type: "end"; readonly reason: LiveEnd };

/** What the team gets of an account's conversations. */
export type InboxEvent =
  /** Null: some of them may have changed. */
  | { readonly type: "changed"; readonly conversationId: string | null }
  | { readonly type: "typing"; readonly typing: Typing }
  /** Who is present may have changed. */
  | { readonly type: "presence" }
  | { readonly type: "end"; readonly reason: LiveEnd };

export interface ConversationChange {
  readonly accountId: string;
  /** Null: several of the account's, in what only its team sees. */
  readonly conversationId: string | null;
  /** Where it is known. Of one that was given to another visitor: what it was before. */
  readonly key?: ConversationKey;
  /** Whose message was added, which they no longer type. */
  readonly wrote?: "visitor" | "person" | null;
}

export interface Typing {
  readonly accountId: string;
  readonly companionId: string;
  readonly conversationId: string;
  readonly by: "visitor" | "person";
  readonly personId: string | null;
  readonly name: string | null;
  readonly isTyping: boolean;
}

export interface LiveListener {
  /** A promise: it takes nothing more until that resolves, and waits for no more than what it holds already. */
  take(event: LiveEvent): Promise<void> | undefined;
}

export interface InboxListener {
  take(event: InboxEvent): void;
}

/** What ends listeners at a time of their own, or when their right is lost. */
export interface ListenerRight {
  /** The same for all that listen with the same token, key or session. */
  readonly name: string;
  /** False once it is lost. Rejects if the store is unavailable. */
  check(): Promise<boolean>;
  /** When a visitor's token ends, in epoch milliseconds; null for never. */
  readonly tokenEndsAtMs: number | null;
}

/** One who listens to a conversation. Gets nothing before `start`. */
export interface Listening {
  /** As it stood when the listener began. */
  readonly opened: LiveConversation;
  /**
   * Sends the state (unless `isSilent`), every message beyond `afterSeq`, then what comes. With `stays` false it ends when
   * the companion answers. Resolves when all that there was has been sent; rejects if it could not be read.
   */
  start(options: { afterSeq: number; stays: boolean; isSilent?: boolean; right: ListenerRight }): Promise<void>;
  /** Call it once it is over, however it ended. */
  leave(): void;
}

/** One of the streams, or polls that wait, that may be open at the same time. */
export interface LiveSlot {
  release(): void;
}

export interface LiveHub {
  /** Call it after each commit that changes or extends the conversation, at any instance. Cheap where no one listens. */
  noteChanged(change: ConversationChange): void;
  /** Conversations of the companion, or of any with null, were erased: listeners of one of them get nothing more. */
  noteErased(companionId: string | null): void;
  noteTyping(typing: Typing): void;
  notePresence(accountId: string): void;
  /** Whether a listener or poll of the visitor was here, or at another instance, within the last 30 s. */
  isReached(conversationId: string): boolean;

  /** Throws `rate_limited` if the address has too many, `unavailable` if this instance has. Null: not counted by address. */
  takeSlot(address: string | null): LiveSlot;
  /** One read. Null if there is no such conversation. The sixth listener of one ends the first. */
  listen(key: ConversationKey, listener: LiveListener): Promise<Listening | null>;
  /** A poll of the visitor was here. Returns the state that the last one got within 30 s, and keeps what this one gets. */
  notePoll(conversationId: string, state: string): string | null;
  /** `memberId`: present as long as it listens; null for keys. Returns what ends it. */
  listenInbox(
    account: { readonly accountId: string; readonly memberId: string | null; readonly right: ListenerRight },
    listener: InboxListener,
  ): () => void;
  /** Rights that are checked while used for listening: what ends without a change in the store is announced here. */
  readonly rights: Pick<OpenTurns, "expectEnd">;
  /** The server shuts down: all listeners come back elsewhere. */
  endAll(): void;
  /** Streams, and polls that wait. */
  readonly size: number;
  stop(): void;
}
