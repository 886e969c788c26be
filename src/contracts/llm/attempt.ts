/** What a chain asks of an engine beyond the contract: a part of the time, and no retries while another is left. */
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "./provider.ts";

export interface ReplyAttempt {
  /** From this call to the first text, including all retries and the waits between them. */
  firstTextMs: number;
  /** What others have already used of the reply's whole time. */
  spentMs: number;
  /** Further attempts after the first. */
  maxRetries: number;
}

export interface AttemptingProvider extends LlmProvider {
  /** As in the contract; without `attempt` the engine has all of the time and its retries. */
  streamReply(
    request: ReplyRequest,
    sink: ReplySink,
    signal: StopSignal,
    attempt?: ReplyAttempt,
  ): Promise<ReplyOutcome>;
  /** How it would be asked now, by what is known of the model. */
  foresee(request: ReplyRequest): ForeseenCall;
}

export interface ForeseenCall {
  readonly wire: "chat" | "responses";
  /** Null: none is sent. */
  readonly effort: ReasoningEffort | null;
  /** As it is sent: what a visitor may see, and the room for thinking. */
  readonly maxOutputTokens: number;
}

/** Further attempts after the first, of the provider asked last. */
export const maxRetries = 2;

export interface ReplyDeadlines {
  /** From the call to the first text, including all attempts and the waits between them. */
  firstTextMs: number;
  /** The same for a model that is seen to think first. */
  reasoningMs: number;
  /** Between two reads from the provider. */
  silenceMs: number;
  totalMs: number;
  /** From the `finish_reason` to the end: usage is worth waiting for, but the reply is complete. */
  finishMs: number;
}

export const replyDeadlines: ReplyDeadlines = {
  firstTextMs: 60_000,
  reasoningMs: 300_000,
  silenceMs: 60_000,
  totalMs: 600_000,
  finishMs: 5_000,
};
