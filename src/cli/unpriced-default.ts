/**
 * The default model without a price: under a budget that stops calls, what has no price is refused, so an update that
 * changes the default would silence every companion. Said at start and by `doctor`.
 */
import type { Config } from "../config/config.ts";
import { defaultModel } from "../config/provider-settings.ts";
import { findAnswerers } from "../domain/model-routes.ts";
import { createPrices } from "../domain/prices.ts";

/** Whether nobody has named a model, and the default cannot be priced. */
export function isDefaultUnpriced({ llm, prices }: Pick<Config, "llm" | "prices">): boolean {
  if (llm.model !== defaultModel || (llm.apiKey === null && llm.baseUrl === null)) return false;
  const { findTokenPrice } = createPrices(prices);
  return findAnswerers(llm, llm.model).some((answerer) => findTokenPrice(answerer) === null);
}

export function describeUnpricedDefault({ llm }: Pick<Config, "llm">): { detail: string; advice: string } {
  return {
    detail: `${llm.model}, the default model, has no price, and there is a budget that stops calls: every reply of it is refused.`,
    advice: "Add its price to COMPANIOND_PRICES, or set COMPANIOND_MODEL to a model that has one.",
  };
}
