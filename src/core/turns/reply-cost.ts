/** What a call costs at most, before it is made, and what it has cost. */
import { type AnswererBound, type ReplyRequest, textsOf } from "../../contracts/llm/provider.ts";
import { type Cost, ceilToMicros } from "../../domain/money.ts";
import { costOfTokens, type Prices, type TokenPrice, worstCostOfTokens } from "../../domain/prices.ts";
import type { ChargedCall, CountedTokens } from "../../domain/usage.ts";
import type { CallBound } from "./spending.ts";

/** What providers add to each message for their own framing, in tokens. */
const framingTokens = 64;

/** A token has at least one byte. */
export function boundOfInput(request: ReplyRequest): number {
  const texts = textsOf(request);
  // Thoughts that go back are of a form that is their provider's own, and say what the calls beside them say.
  for (const { carry } of request.rounds ?? []) if (carry !== null) texts.push(JSON.stringify(carry));
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

/**
 * What the provider counted, or what is estimated of a whole reply. Without a count, one that was left, broke or was refused
 * is the most that it can have been, for what was sent and what has come.
 */
export function costOfCall(
  price: TokenPrice,
  request: ReplyRequest,
  {
    usage,
    reasoningBytes = 0,
    callBytes = 0,
    sentOutputTokens = request.maxOutputTokens,
  }: Omit<ChargedCall, "answeredBy">,
  { tokens, text, isWhole }: { tokens: CountedTokens; text: string; isWhole: boolean },
): Cost {
  if (usage !== null || isWhole) return costOfTokens(price, tokens);
  // A token has at least one byte.
  const outputTokens = Math.min(Buffer.byteLength(text) + reasoningBytes + callBytes, sentOutputTokens);
  return worstCostOfTokens(price, { inputTokens: boundOfInput(request), outputTokens });
}
