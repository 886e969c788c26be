/** The settings that requests and costs depend on: kept with recordings, so that a replay needs none of them. */
import type { Config } from "../config/config.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";

/** By the variables that set them; what is set for a replay wins, and shows as a difference. */
const variables = {
  model: "COMPANIOND_MODEL",
  maxOutputTokens: "COMPANIOND_MAX_OUTPUT_TOKENS",
  maxContextTokens: "COMPANIOND_MAX_CONTEXT_TOKENS",
  embeddingModel: "COMPANIOND_EMBEDDING_MODEL",
  extra: "COMPANIOND_LLM_EXTRA",
} as const satisfies Partial<Record<keyof Config["llm"], string>>;
type Kept = keyof typeof variables;
const kept = Object.keys(variables) as Kept[];

export function toRecordedSettings({ llm, prices }: Config): JsonObject {
  const settings = Object.fromEntries(kept.map((name) => [variables[name], llm[name] as JsonValue]));
  return { ...settings, COMPANIOND_PRICES: prices.tokens.map((one) => ({ ...one, price: { ...one.price } })) };
}

/** `models`: offered besides those of the settings, since a replay pays for none. */
export function takeRecordedSettings(config: Config, settings: JsonObject, models: readonly string[]): Config {
  const isSet = (variable: string) =>
    !Object.hasOwn(settings, variable) ||
    config.given.some(({ name }) => name === variable || name === `${variable}_FILE`);
  const taken = Object.fromEntries(
    kept.filter((name) => !isSet(variables[name])).map((name) => [name, settings[variables[name]]]),
  ) as Partial<Pick<Config["llm"], Kept>>;
  const llm = { ...config.llm, ...taken };
  const tokens = settings["COMPANIOND_PRICES"] as unknown as Config["prices"]["tokens"];
  return {
    ...config,
    llm: { ...llm, models: [...new Set([llm.model, ...llm.models, ...models])] },
    prices: isSet("COMPANIOND_PRICES") ? config.prices : { ...config.prices, tokens },
  };
}
