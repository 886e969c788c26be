/**
 * Builds the request to the model, from the companion's settings within the operator's bounds and as much history as
 * fits, and counts its tokens.
 */

import type { Settings } from "../dependencies.ts";
import { type Companion, companionDefaults } from "../domain/companion.ts";
import { estimateTokens, type HistoryMessage, selectHistory, textOf, textParts } from "../domain/conversation.ts";
import type { Cost } from "../domain/money.ts";
import { costOfTokens, type Prices } from "../domain/prices.ts";
import type { Answerer, TokenUsage } from "../domain/usage.ts";
import type { ReplyOutcome, ReplyRequest } from "../llm/provider.ts";

/** Tokens of the companion's context left for earlier turns, after its instructions and the new message; 0 or more. */
export function historyTokensOf(
  { contextTokens, systemPrompt }: Pick<Companion, "contextTokens" | "systemPrompt">,
  message: string,
): number {
  const promptTokens = systemPrompt === null ? 0 : estimateTokens(systemPrompt);
  return Math.max(0, (contextTokens ?? companionDefaults.contextTokens) - promptTokens - estimateTokens(message));
}

/** What a caller who keeps the conversation itself wants of the model, within the companion's bounds. */
export interface GivenPrompt {
  /** Appended to the companion's own instructions, in this order. */
  readonly instructions: readonly string[];
  /** Oldest first; all are sent, however long. */
  readonly messages: readonly HistoryMessage[];
  /** Null: the companion's. */
  readonly temperature: number | null;
  /** Null: the companion's. It never raises that one. */
  readonly maxOutputTokens: number | null;
  /** Texts before which the model stops. */
  readonly stop: readonly string[];
}

/** `earlier` is newest first, and may be more than fits. */
export function toReplyRequest(
  { model, models, maxOutputTokens }: Settings["llm"],
  companion: Companion,
  turn: { earlier: readonly HistoryMessage[]; message: string; requestId: string; given?: GivenPrompt | undefined },
): ReplyRequest {
  // The operator, who pays, may have removed the model since the companion was saved.
  const offered = models.find((name) => name === companion.model);
  const request: ReplyRequest = {
    systemPrompt: companion.systemPrompt,
    messages: turn.given?.messages ?? [
      ...selectHistory(turn.earlier, historyTokensOf(companion, turn.message)),
      { role: "user", parts: textParts(turn.message) },
    ],
    model: offered ?? model,
    temperature: companion.temperature,
    maxOutputTokens: Math.min(companion.maxOutputTokens ?? maxOutputTokens, maxOutputTokens),
    requestId: turn.requestId,
  };
  return turn.given === undefined ? request : narrow(request, turn.given);
}

function narrow(request: ReplyRequest, { instructions, temperature, maxOutputTokens, stop }: GivenPrompt) {
  const { systemPrompt } = request;
  // One message, the first: the templates of many models refuse instructions anywhere else.
  const prompts = systemPrompt === null ? instructions : [systemPrompt, ...instructions];
  return {
    ...request,
    systemPrompt: prompts.length === 0 ? null : prompts.join("\n\n"),
    temperature: temperature ?? request.temperature,
    maxOutputTokens: Math.min(maxOutputTokens ?? request.maxOutputTokens, request.maxOutputTokens),
    stop,
  };
}

/** The provider's count, or an estimate if it sent none. */
export function countTokens(request: ReplyRequest, text: string, outcome: ReplyOutcome): TokenUsage {
  if (outcome.usage) return { ...outcome.usage, estimated: false };
  let inputTokens = request.systemPrompt === null ? 0 : estimateTokens(request.systemPrompt);
  for (const message of request.messages) inputTokens += estimateTokens(textOf(message));
  return { inputTokens, outputTokens: estimateTokens(text), cachedTokens: 0, estimated: true };
}

/** Null for a model without a price. */
export function costOf(prices: Prices, answeredBy: Answerer, usage: TokenUsage): Cost | null {
  const price = prices.findTokenPrice(answeredBy);
  return price === null ? null : costOfTokens(price, usage);
}
