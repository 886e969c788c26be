/** Who is asked for which model: the operator's providers by name, and chains of them under an alias. */
import type { Answerer } from "./usage.ts";

/** The provider of the plain settings. */
export const plainProviderName = "default";

/** Names with a meaning of their own, which no provider of the operator's file may have. */
export const reservedProviderNames: readonly string[] = [plainProviderName, "demo", "voice"];

export interface ModelRoutes {
  readonly providers: readonly { readonly name: string }[];
  /** From what companions ask for to who is asked, in this order. */
  readonly aliases: Readonly<Record<string, readonly Answerer[]>>;
}

/** An alias comes first; then `provider/model`, if a provider has that name; anything else is the plain provider's. */
export function findAnswerers({ providers, aliases }: ModelRoutes, model: string): readonly Answerer[] {
  if (Object.hasOwn(aliases, model)) return aliases[model] ?? [];
  const named = splitName(model);
  const isNamed = named !== null && providers.some(({ name }) => name === named.provider);
  return [isNamed ? named : { provider: plainProviderName, model }];
}

/** Everyone who may answer for the models that companions may choose, and those in chains; each once. */
export function listReplyAnswerers(routes: ModelRoutes & { readonly models: readonly string[] }): Answerer[] {
  const all = [
    ...routes.models.flatMap((model) => findAnswerers(routes, model)),
    ...Object.values(routes.aliases).flat(),
  ];
  return [...new Map(all.map((one) => [nameAnswerer(one), one])).values()];
}

/** What stands before and after the first slash; null without one. */
export function splitName(text: string): Answerer | null {
  const slash = text.indexOf("/");
  return slash === -1 ? null : { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** The reverse: names of providers have no slash, so no two answerers share one. */
export function nameAnswerer({ provider, model }: Answerer): string {
  return `${provider}/${model}`;
}
