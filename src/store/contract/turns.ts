/** The turns of conversations: the history that a model reads, and the one commit that settles a turn. */
import type { ArrivalMark } from "../../coordination/coordination.ts";
import type { ConversationKey, HistoryMessage, Message } from "../../domain/conversation.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { TokenUsage } from "../../domain/usage.ts";

/** One exchange, settled: what is kept of it and what it cost. */
export interface SettledTurn {
  accountId: string;
  key: ConversationKey;
  /** Used when the conversation is new. */
  conversationId: string;
  /** The visitor's, then whatever the turn made, in order; nothing where the visitor left before the first text. */
  messages: readonly Message[];
  /** When the message came; it may have waited for its turn. */
  arrivalMark: ArrivalMark;
  /** Of the whole turn; a message tells its own share. */
  usage: TokenUsage;
  /** Why the provider did not finish it: counted as an error in usage, and under its kind. Null where it did. */
  failure: FailureKind | null;
  /** The key that made the companion, under which usage counts; null for the dashboard. */
  keyId: string | null;
  /** UTC day of admission, under which quota and usage count. */
  day: string;
}

/** A turn without a conversation (`test-chat`): one message in usage and of the day's quota. */
export interface UnkeptTurn {
  accountId: string;
  companionId: string;
  keyId: string | null;
  day: string;
  usage: TokenUsage;
  failure: FailureKind | null;
}

/** A reply that failed before it began: nothing of it is kept, and it costs nothing. */
export interface FailedTurn {
  accountId: string;
  companionId: string;
  keyId: string | null;
  day: string;
  kind: FailureKind;
}

export interface TurnStore {
  /** Messages of the conversation newest first, read until their text passes `maxBytes` of UTF-8 in all (the last read included). */
  listHistory(key: ConversationKey, maxBytes: number): Promise<HistoryMessage[]>;
  /**
   * Keeps the turn: conversation, messages, usage and the day's quota count in one commit. A companion that was
   * deleted meanwhile leaves usage only; a visitor or a conversation that was erased since the message came, no messages.
   * A conversation's turns stay in the order in which they were settled, also when the clock was set back, and a turn's
   * messages in the order of the list.
   * Resolves once durable.
   */
  settle(turn: SettledTurn): Promise<void>;
  /** Counts the turn in one commit. A companion that was deleted meanwhile leaves usage only. Resolves once durable. */
  settleUnkept(turn: UnkeptTurn): Promise<void>;
  /** Counts an error in usage and under its kind; no message, and none of the day's. */
  recordFailure(turn: FailedTurn): Promise<void>;
  /** Messages that count against the day's quota so far. */
  countDay(companionId: string, day: string): Promise<number>;
}
