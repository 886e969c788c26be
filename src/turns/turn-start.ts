/** What a turn is given: whose it is and what it says, the right that it was begun with, and who keeps it. */
import type { Plan } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import type { HistoryMessage, MessagePart } from "../domain/conversation.ts";
import type { AppError } from "../domain/errors.ts";
import type { FailureKind } from "../domain/reply-failure.ts";
import type { TokenUsage } from "../domain/usage.ts";
import type { ReplyRequest } from "../llm/provider.ts";

export interface TurnStart {
  companion: Companion;
  /** Of its account. */
  plan: Plan;
  message: string;
  requestId: string;
  /** What the limit of turns under way counts; null where there is none. */
  address: string | null;
  right: TurnRight;
  keeper: TurnKeeper;
}

/** An embed token as a rule, which can be taken away while the turn runs. */
export interface TurnRight {
  /** Whether it still opens the companion. */
  check(): Promise<boolean>;
  /** What whoever asks without it is told. */
  refusal(): AppError;
}

/** What a turn needs of whoever keeps it: what was said before, and the one commit at its end. */
export interface TurnKeeper {
  /** Turns with the same one run one after the other, in the order of arrival; null: it waits for none. */
  readonly queueKey: string | null;
  /**
   * Called once, when the turn's time has come. Resolves with earlier messages, newest first: all of them, or as many
   * as it takes to pass `maxBytes` of UTF-8.
   */
  begin(maxBytes: number): Promise<readonly HistoryMessage[]>;
  /** Called once, unless the provider failed before its first text. Resolves once durable. */
  settle(result: TurnResult): Promise<void>;
}

/** A turn as it is to be kept. */
export interface TurnResult {
  /** What the model was asked. */
  readonly request: ReplyRequest;
  /** What the model said, well-formed; nothing where the turn was stopped before that. */
  readonly reply: readonly MessagePart[];
  /** Whether the provider brought it to its end. */
  readonly complete: boolean;
  /** Why a reply counts as an error in usage. Null if it is complete, or was stopped, but not for its length. */
  readonly failure: FailureKind | null;
  readonly usage: TokenUsage;
  /** UTC day of admission, under which quota and usage count. */
  readonly day: string;
  /** Milliseconds from the call to the first text; null where none came. */
  readonly firstTextMs: number | null;
}
