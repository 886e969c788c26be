/** What a chain asks of an engine beyond the contract: a part of the time, and no retries while another is left. */

import type { CallPlan, Wire } from "../../engines/openai/wire.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "./provider.ts";

export interface ReplyAttempt {
  /** From this call to the first text, including all retries and the waits between them. */
  firstTextMs: number;
  /** What others have already taken of the reply's whole time. */
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

export interface ForeseenCall extends Pick<CallPlan, "effort" | "maxOutputTokens"> {
  readonly wire: Wire["name"];
}

/** Further attempts after the first, of whoever is asked last. */
export const maxRetries = 2;
