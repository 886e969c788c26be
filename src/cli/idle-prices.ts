/** Which prices are of models that nobody can be asked for: told at start and by `doctor`. */
import type { Config } from "../config/config.ts";
import { findAnswerers, nameAnswerer, plainProviderName } from "../domain/model-routes.ts";
import { findIdlePrices } from "../domain/prices.ts";
import type { Answerer } from "../domain/usage.ts";

const voiceProviders = ["elevenlabs"];

/** Everyone who may answer for a model that companions may choose, and who embeds. */
export function listAnswerers({ llm }: Pick<Config, "llm">): Answerer[] {
  const all = llm.models.flatMap((model) => findAnswerers(llm, model));
  if (llm.embeddingModel !== null) all.push({ provider: plainProviderName, model: llm.embeddingModel });
  return [...new Map(all.map((one) => [nameAnswerer(one), one])).values()];
}

/** As the operator wrote them. */
export function listIdlePrices(config: Pick<Config, "llm" | "prices">): string[] {
  return findIdlePrices(config.prices, listAnswerers(config), voiceProviders);
}
