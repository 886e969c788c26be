/** What a reply costs: at most before it is asked for, and by what the provider counted, or an estimate, once it has ended. */
import { estimateTokens, textOf } from "../domain/conversation.ts";
import { ceilToMicros } from "../domain/money.ts";
import { type Prices, worstCostOfTokens } from "../domain/prices.ts";
import type { CountedTokens, TokenUsage } from "../domain/usage.ts";
import type { AnswererBound, ReplyRequest } from "../llm/provider.ts";
import type { CallBound } from "./spending.ts";
import type { TurnOutcome } from "./turn-start.ts";

export const noTokens: CountedTokens = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** What providers add to each message for their own framing, in tokens. */
const framingTokens = 64;

/**
 * How far a count may be above what a request can come to: providers add instructions, and search results, that we do not
 * see, and some go past the bound. What is above that is no count, and would end the exactness of sums.
 */
const unseenTokens = 1024 * 1024;

/** A token has at least one byte. */
function boundOfInput({ systemPrompt, messages }: Pick<ReplyRequest, "systemPrompt" | "messages">): number {
  const texts = messages.map(textOf);
  if (systemPrompt !== null) texts.push(systemPrompt);
  let tokens = texts.length * framingTokens;
  for (const text of texts) tokens += Buffer.byteLength(text, "utf8");
  return tokens;
}

/** `bounds`: of those that may answer. */
export function boundOfReply(prices: Prices, request: ReplyRequest, bounds: readonly AnswererBound[]): CallBound {
  const inputTokens = boundOfInput(request);
  let dearest: CallBound | null = null;
  for (const { answerer, maxOutputTokens } of bounds) {
    const price = prices.findTokenPrice(answerer);
    if (price === null) return { answerer, micros: null };
    const micros = ceilToMicros(worstCostOfTokens(price, { inputTokens, outputTokens: maxOutputTokens }));
    if (dearest === null || dearest.micros === null || micros > dearest.micros) dearest = { answerer, micros };
  }
  return dearest ?? { answerer: { provider: "", model: request.model }, micros: null };
}

/** The provider's count of a call, as far as it can be one. */
export function countCall(request: ReplyRequest, counted: CountedTokens): CountedTokens {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = counted;
  const input = inputTokens <= unseenTokens ? inputTokens : Math.min(inputTokens, boundOfInput(request) + unseenTokens);
  const output = Math.min(outputTokens, 2 * request.maxOutputTokens + unseenTokens);
  const cached = Math.min(cachedTokens, input);
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens: cached,
    cacheWriteTokens: Math.min(cacheWriteTokens, input - cached),
    reasoningTokens: Math.min(reasoningTokens, output),
  };
}

/**
 * The provider's count of a reply. If it sent none, an estimate of what was sent and of what has come, seen or not: at most
 * what it was asked for, which budgets hold.
 */
export function countReply(request: ReplyRequest, text: string, outcome: TurnOutcome): TokenUsage {
  if (outcome.usage) return { ...countCall(request, outcome.usage), estimated: false };
  let inputTokens = request.systemPrompt === null ? 0 : estimateTokens(request.systemPrompt);
  for (const message of request.messages) inputTokens += estimateTokens(textOf(message));
  const { reasoningBytes = 0, sentOutputTokens = request.maxOutputTokens } = outcome;
  const thoughtTokens = Math.ceil(reasoningBytes / 4);
  const outputTokens = Math.min(estimateTokens(text) + thoughtTokens, sentOutputTokens);
  const reasoningTokens = Math.min(thoughtTokens, outputTokens);
  return { ...noTokens, inputTokens, outputTokens, reasoningTokens, estimated: true };
}
