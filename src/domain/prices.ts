/** What the operator's providers charge, and what a reply costs by that. */
import { type Cost, picosPerMicro } from "./money.ts";
import type { Answerer, TokenUsage } from "./usage.ts";

/** Millionths of a micro-dollar for one token. */
export interface TokenPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

export interface Prices {
  /** Null for a model without a price. */
  findTokenPrice(answerer: Answerer): TokenPrice | null;
  /** Millionths of a micro-dollar for one minute; null for a voice provider without a price. */
  findMinutePrice(provider: string): number | null;
}

export const noPrices: Prices = { findTokenPrice: () => null, findMinutePrice: () => null };

export function costOfTokens(
  { input, cachedInput, output }: TokenPrice,
  { inputTokens, cachedTokens, outputTokens }: Pick<TokenUsage, "inputTokens" | "cachedTokens" | "outputTokens">,
): Cost {
  const cached = Math.min(cachedTokens, inputTokens);
  return sumProducts([
    [inputTokens - cached, input],
    [cached, cachedInput],
    [outputTokens, output],
  ]);
}

/** Of so much speech, exactly, rounded up to a millionth of a micro-dollar. */
export function costOfSpeech(minutePrice: number, seconds: number): Cost {
  const [ms, perMinute, perMicro] = [BigInt(Math.ceil(seconds * 1000)), 60_000n, BigInt(picosPerMicro)];
  const picos = (ms * BigInt(minutePrice) + perMinute - 1n) / perMinute;
  return { micros: Number(picos / perMicro), picos: Number(picos % perMicro) };
}

/** Exact, however large: products of tokens and prices leave what a double holds. */
export function sumProducts(products: readonly (readonly [number, number])[]): Cost {
  let picos = 0n;
  for (const [count, price] of products) picos += BigInt(count) * BigInt(price);
  const perMicro = BigInt(picosPerMicro);
  return { micros: Number(picos / perMicro), picos: Number(picos % perMicro) };
}
