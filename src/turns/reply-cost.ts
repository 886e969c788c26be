/** What a call costs at most, before it is made. */
import { textOf } from "../domain/conversation.ts";
import { ceilToMicros } from "../domain/money.ts";
import { type Prices, worstCostOfTokens } from "../domain/prices.ts";
import type { AnswererBound, ReplyRequest } from "../llm/provider.ts";
import type { CallBound } from "./spending.ts";

/** What providers add to each message for their own framing, in tokens. */
const framingTokens = 64;

/** A token has at least one byte. */
export function boundOfInput({ systemPrompt, messages }: Pick<ReplyRequest, "systemPrompt" | "messages">): number {
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
