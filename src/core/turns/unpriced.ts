/** What of a companion has no price: under a budget that stops, its calls are refused, so no one should cause that. */
import type { CompanionChoice } from "../../contracts/store/store.ts";
import type { Services } from "../dependencies.ts";

export type PricedServices = Pick<Services, "settings" | "llm" | "voice">;

/** Names of models, and of the voice provider as prices name it (`voice/elevenlabs`); each once. */
export function listUnpriced(
  services: PricedServices,
  choices: readonly Pick<CompanionChoice, "model" | "hasVoice">[],
): string[] {
  const names = choices.flatMap((choice) => [
    ...findUnpricedModel(services, choice),
    ...findUnpricedVoice(services, choice),
  ]);
  return [...new Set(names)];
}

/** Whether any choice of a companion could be without a price: nothing needs to be looked up where none can. */
export function mayBeUnpriced(services: PricedServices): boolean {
  const { models } = services.settings.llm;
  return (
    listUnpriced(
      services,
      models.map((model) => ({ model, hasVoice: true })),
    ).length > 0
  );
}

export function findUnpricedModel({ settings, llm }: PricedServices, choice: Pick<CompanionChoice, "model">): string[] {
  // As a turn chooses it.
  const model = settings.llm.models.find((name) => name === choice.model) ?? settings.llm.model;
  const answerers = llm.listAnswerers(model);
  return answerers.some((answerer) => settings.prices.findTokenPrice(answerer) === null) ? [model] : [];
}

export function findUnpricedVoice(
  { settings, voice }: PricedServices,
  { hasVoice }: Pick<CompanionChoice, "hasVoice">,
) {
  const { pricedAs } = voice;
  if (!hasVoice || pricedAs === null || settings.prices.findMinutePrice(pricedAs) !== null) return [];
  return [`voice/${pricedAs}`];
}
