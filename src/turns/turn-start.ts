/** A turn's input: its companion and message, the right to run it, and where it is stored. */
import type { TicketId } from "../coordination/coordination.ts";
import type { Plan } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import type { HistoryMessage, MessagePart } from "../domain/conversation.ts";
import type { AppError } from "../domain/errors.ts";
import type { FailureKind } from "../domain/reply-failure.ts";
import type { TokenUsage } from "../domain/usage.ts";
import type { ReplyRequest } from "../llm/provider.ts";

export interface TurnStart {
  companion: Companion;
  /** The plan of the companion's account. */
  plan: Plan;
  message: string;
  requestId: string;
  /** What the limit of running turns counts by; null means no limit. */
  address: string | null;
  right: TurnRight;
  keeper: TurnKeeper;
}

/** The right to run a turn: usually an embed token, which can be revoked meanwhile. */
export interface TurnRight {
  /** Whether it still opens the companion. */
  check(): Promise<boolean>;
  /** The error for a request without this right. */
  refusal(): AppError;
}

/** Loads what was said before a turn, and stores the turn in one commit at its end. */
export interface TurnKeeper {
  /** Turns with the same key run one at a time, in the order of arrival; null: the turn does not queue. */
  readonly queueKey: string | null;
  /**
   * Called once, when the turn may run. Resolves with earlier messages, newest first: all of them, or as many as it
   * takes to exceed `maxBytes` of UTF-8.
   */
  begin(maxBytes: number): Promise<readonly HistoryMessage[]>;
  /** Called once, unless the provider failed before its first text. Resolves once durable. */
  settle(result: TurnResult): Promise<void>;
}

/** A turn as it is stored. */
export interface TurnResult {
  /** What the model was asked. */
  readonly request: ReplyRequest;
  /** What the model said, well-formed; empty if the turn was stopped before that. */
  readonly reply: readonly MessagePart[];
  /** Whether the provider finished it. */
  readonly complete: boolean;
  /** Why a reply counts as an error in usage. Null if it is complete, or was stopped, but not for its length. */
  readonly failure: FailureKind | null;
  readonly usage: TokenUsage;
  /** UTC day of admission, under which quota and usage count. */
  readonly day: string;
  readonly ticketId: TicketId;
  /** Milliseconds from the call to the first text; null if there was none. */
  readonly firstTextMs: number | null;
}
