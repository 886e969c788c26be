/** One chat completion, as the objects that OpenAI's clients read. */
import type { TurnResult } from "../../core/turns/turn-start.ts";
import { type FinishReason, toFinishReason as findFinishReason, textOf } from "../../domain/conversation.ts";
import type { TokenUsage } from "../../domain/usage.ts";

/** What all objects of one completion begin with. */
export interface CompletionHead {
  readonly id: string;
  /** Whole seconds. */
  readonly created: number;
  /** The companion's id. */
  readonly model: string;
}

/** Only what OpenAI's clients know: whatever else a provider says, the model had come to its end. */
export function toFinishReason(reason: string | null): FinishReason {
  return findFinishReason(reason) ?? "stop";
}

export function toWireUsage({ inputTokens, outputTokens, cachedTokens }: TokenUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

export function toWireCompletion({ id, created, model }: CompletionHead, { reply, finishReason, usage }: TurnResult) {
  const message = { role: "assistant", content: textOf({ parts: reply }), refusal: null };
  return {
    ...{ id, object: "chat.completion", created, model },
    choices: [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(finishReason) }],
    usage: toWireUsage(usage),
  };
}
