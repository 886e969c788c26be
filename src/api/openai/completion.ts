/** One chat completion: the turn behind it, which keeps nothing but what it cost, and the objects that tell of it. */
import type { ReachedBudget, Store } from "../../contracts/store/store.ts";
import type { TurnKeeper, TurnResult } from "../../core/turns/turn-start.ts";
import type { Companion } from "../../domain/companion.ts";
import { type FinishReason, toFinishReason as findFinishReason, textOf } from "../../domain/conversation.ts";
import type { TokenUsage } from "../../domain/usage.ts";

/** Stores only what the completion cost. */
export class CompletionKeeper implements TurnKeeper {
  readonly queueKey = null;
  /** Null until the turn is stored. */
  result: TurnResult | null = null;

  constructor(
    private readonly store: Store,
    private readonly companion: Companion,
  ) {}

  async begin(): Promise<[]> {
    return [];
  }

  async settle(result: TurnResult): Promise<readonly ReachedBudget[]> {
    const { accountId, id: companionId } = this.companion;
    const { keyId, day, ticketId, usage, answeredBy, cost, spend, failure, isCounted } = result;
    const counted = { isCounted, usage, answeredBy, cost, spend, failure };
    const reached = await this.store.turns.settleUnkept({ ticketId, accountId, companionId, keyId, day, ...counted });
    this.result = result;
    return reached;
  }
}

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
