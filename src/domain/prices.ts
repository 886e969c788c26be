/** What the operator's providers charge, and what a reply costs by that. */
import { nameAnswerer } from "./model-routes.ts";
import { type Cost, picosPerMicro } from "./money.ts";
import type { Answerer, CountedTokens } from "./usage.ts";

/** Millionths of a micro-dollar for one token. */
export interface TokenPrice {
  readonly input: number;
  readonly cachedInput: number;
  /** Of input that the provider writes into its cache. */
  readonly cacheWrite: number;
  readonly output: number;
}

export interface Prices {
  /** Null for a model without a price. */
  findTokenPrice(answerer: Answerer): TokenPrice | null;
  /** Millionths of a micro-dollar for one minute; null for a voice provider without a price. */
  findMinutePrice(provider: string): number | null;
}

export const noPrices: Prices = { findTokenPrice: () => null, findMinutePrice: () => null };

/** What the operator has set, in the units of `Prices`. */
export interface PriceList {
  /** `provider` is null where the price holds for every provider of that model. */
  readonly tokens: readonly { readonly provider: string | null; readonly model: string; readonly price: TokenPrice }[];
  readonly minutes: readonly { readonly provider: string; readonly price: number }[];
}

/** The price of `provider/model` wins over that of the model. */
export function createPrices({ tokens, minutes }: PriceList): Prices {
  if (tokens.length + minutes.length === 0) return noPrices;
  const byModel = new Map<string, TokenPrice>();
  const byAnswerer = new Map<string, TokenPrice>();
  for (const { provider, model, price } of tokens) {
    if (provider === null) byModel.set(model, price);
    else byAnswerer.set(nameAnswerer({ provider, model }), price);
  }
  const byVoiceProvider = new Map(minutes.map(({ provider, price }) => [provider, price]));
  return {
    findTokenPrice: (answerer) => byAnswerer.get(nameAnswerer(answerer)) ?? byModel.get(answerer.model) ?? null,
    findMinutePrice: (provider) => byVoiceProvider.get(provider) ?? null,
  };
}

/** The entries, as the operator wrote them, that price no available model: most likely a slip of the pen. */
export function findIdlePrices(
  { tokens, minutes }: PriceList,
  answerers: readonly Answerer[],
  voiceProviders: readonly string[],
): string[] {
  const isIdle = ({ provider, model }: PriceList["tokens"][number]) =>
    !answerers.some((one) => one.model === model && (provider === null || one.provider === provider));
  return [
    ...tokens
      .filter(isIdle)
      .map(({ provider, model }) => (provider === null ? model : nameAnswerer({ provider, model }))),
    ...minutes.filter(({ provider }) => !voiceProviders.includes(provider)).map(({ provider }) => `voice/${provider}`),
  ];
}

export function costOfTokens(
  { input, cachedInput, cacheWrite, output }: TokenPrice,
  { inputTokens, cachedTokens, cacheWriteTokens, outputTokens }: Omit<CountedTokens, "reasoningTokens">,
): Cost {
  const cached = Math.min(cachedTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  return sumProducts([
    [inputTokens - cached - written, input],
    [cached, cachedInput],
    [written, cacheWrite],
    [outputTokens, output],
  ]);
}

/** Before it is known what the provider's cache does. */
export function worstCostOfTokens(
  { input, cacheWrite, output }: TokenPrice,
  { inputTokens, outputTokens }: Pick<CountedTokens, "inputTokens" | "outputTokens">,
): Cost {
  return sumProducts([
    [inputTokens, Math.max(input, cacheWrite)],
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
