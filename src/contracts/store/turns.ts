/** The turns of conversations: the history for the model, and the single commit that settles a turn. */
import type { ConversationKey, HistoryMessage, Message } from "../../domain/conversation.ts";
import type { Cost } from "../../domain/money.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { Answerer, CountedTokens, TokenUsage } from "../../domain/usage.ts";
import type { ArrivalMark, TicketId } from "../coordination.ts";
import type { ReachedBudget, Spend } from "./spending.ts";
import type { TurnEvents } from "./webhooks.ts";

/** What is counted of a turn. */
export interface CountedTurn {
  /** Of the turn that was admitted. */
  readonly ticketId: TicketId;
  /**
   * Whether it is one of the day's messages, in usage and in quotas: neither a turn that is run again, which was counted
   * when it ran first, nor one that failed without an answer of any kind.
   */
  readonly isCounted: boolean;
  /** Of the whole turn; each message has its own share. */
  readonly usage: TokenUsage;
  /** Who replied, or was asked when it was stopped; null if no one was asked. */
  readonly answeredBy: Answerer | null;
  /** Null for a model without a price. */
  readonly cost: Cost | null;
  /** Null if it neither has a price nor a reservation. */
  readonly spend: Spend | null;
  /** Why the provider did not finish: counted as an error in usage, and under its kind. Null if it finished. */
  readonly failure: FailureKind | null;
  /** The key that created the companion, for usage; null for the dashboard. */
  readonly keyId: string | null;
  /** UTC day of admission, for quota and usage. */
  readonly day: string;
}

/** One settled exchange: what is stored of it and what it cost. */
export interface SettledTurn extends CountedTurn {
  accountId: string;
  key: ConversationKey;
  /** Used if the conversation is new. */
  conversationId: string;
  /**
   * The visitor's message, then what the turn produced, in order. A turn that is run again has no visitor's message: it
   * is stored already; and none at all if nothing was produced this time either, or if only what the provider counted
   * is to be stored.
   */
  messages: readonly Message[];
  /** The client's name for the exchange, in lower case, stored with each of the messages; null if it gave none. */
  messageId: string | null;
  /** Why an exchange with a `messageId` ended without a complete reply, where the server ended it. */
  endCode: StreamErrorCode | null;
  /** Null unless the visitor is verified. */
  visitor: SettledVisitor | null;
  /** When the message arrived; it may have waited for its turn. */
  arrivalMark: ArrivalMark;
  /** Null if the account has no webhooks. */
  events: TurnEvents | null;
}

export interface SettledVisitor {
  /** Replaces the conversation's data of its visitor. */
  sealed: string;
  /** Whether the message counts in the visitor's own day. */
  isLimited: boolean;
}

/** An exchange that a client has named, as it was stored. */
export interface StoredExchange {
  conversationId: string;
  /** Of the visitor's message. */
  questionId: string;
  /** Null if nothing of a reply was stored. */
  replyId: string | null;
  question: string;
  /** Null if nothing of a reply was stored. */
  reply: string | null;
  isComplete: boolean;
  endCode: StreamErrorCode | null;
  /** Of the reply; without one, when the message was sent. */
  endedAtMs: number;
  /** How often it ran again without a reply: up to `freeRepeats`, which stands for more as well. */
  repeats: number;
}

/** A turn without a conversation (`test-chat`). */
export interface UnkeptTurn extends CountedTurn {
  accountId: string;
  companionId: string;
}

/** A call that is no message: texts that were embedded, or one after which the same reply was asked for again. */
export interface RecordedCall {
  accountId: string;
  companionId: string;
  keyId: string | null;
  /** UTC day under which it counts. */
  day: string;
  usage: CountedTokens;
  answeredBy: Answerer;
  /** Null for a model without a price. */
  cost: Cost | null;
  spend: Spend | null;
}

export interface HistoryOptions {
  /** Without the messages of this exchange. */
  readonly exceptMessageId?: string;
  /** Fills `author`. Asked for where people have stepped in; left out, nothing more is read. */
  readonly withAuthors?: boolean;
}

export interface TurnStore {
  /**
   * Messages of the conversation, newest first, read until their text exceeds `maxBytes` of UTF-8 (the last one
   * included).
   */
  listHistory(key: ConversationKey, maxBytes: number, options?: HistoryOptions): Promise<HistoryMessage[]>;
  /** The exchange of that `messageId` in the conversation; null if there is none, or it was erased. One indexed lookup. */
  findExchange(key: ConversationKey, messageId: string): Promise<StoredExchange | null>;
  /**
   * Stores the turn: conversation, messages, usage and the day's quota in one commit. If the companion was deleted
   * meanwhile, only usage is stored; if the visitor or conversation was erased after the message arrived, no messages
   * are, and the visitor's own day is not counted. The turns of a conversation stay in the order in which they were
   * settled, even if the clock is set back, and the messages of a turn in the order of the list. Resolves once durable.
   * The ticket ends in the same commit; it does not matter if it was gone before.
   *
   * A turn that is run again and produces nothing updates `endCode` and `repeats` of the stored message. An exchange that
   * is stored with its reply already, by an instance that others had given up, stays as it is: of the second turn only
   * what it cost is counted.
   *
   * Resolves with the budgets whose limit it was the first to reach.
   */
  settle(turn: SettledTurn): Promise<readonly ReachedBudget[]>;
  /**
   * Counts the turn in one commit. If the companion was deleted meanwhile, only usage is stored. Resolves once durable,
   * with the budgets whose limit it was the first to reach.
   */
  settleUnkept(turn: UnkeptTurn): Promise<readonly ReachedBudget[]>;
  /** Counts tokens under the answerer, and what they cost; resolves as `settleUnkept`. */
  recordCall(call: RecordedCall): Promise<readonly ReachedBudget[]>;
  /** Messages counted in the day's quota so far. */
  countDay(companionId: string, day: string): Promise<number>;
  /** Input and output tokens of the account's companion that are counted in usage of the UTC month (`YYYY-MM`) so far. */
  countMonthTokens(accountId: string, companionId: string, month: string): Promise<number>;
  /** Messages counted in a verified visitor's own day so far: those that were settled as `isLimited`. */
  countVisitorDay(companionId: string, visitorId: string, day: string): Promise<number>;
}
