/** What companions may choose where there are providers beside the plain settings. */
import { findAnswerers, nameAnswerer, plainProviderName } from "../domain/model-routes.ts";
import type { ProvidersFile } from "./providers.ts";

interface PlainModels {
  /** Whether the plain settings name a provider. */
  hasPlain: boolean;
  /** COMPANIOND_MODEL; null if it is not set. */
  model: string | null;
  /** What the plain provider is asked for if nothing is set. */
  fallback: string;
  /** COMPANIOND_MODELS. */
  models: readonly string[];
}

/** The default first, then what the settings offer, the aliases, and the models of each provider. */
export function offerModels(
  file: ProvidersFile,
  { hasPlain, model, fallback, models }: PlainModels,
  refuse: (sentence: string) => void,
): { model: string; models: readonly string[] } {
  const ofFile = [
    ...Object.keys(file.aliases),
    ...file.providers.flatMap(({ name, models: own }) =>
      own.map((one) => nameAnswerer({ provider: name, model: one })),
    ),
  ];
  const chosen = model ?? (hasPlain ? fallback : ofFile[0]);
  if (chosen === undefined)
    refuse("COMPANIOND_PROVIDERS_FILE: there is no model: give a provider models, or an alias.");
  const given: [variable: string, model: string][] = models.map((one) => ["COMPANIOND_MODELS", one]);
  if (model !== null) given.unshift(["COMPANIOND_MODEL", model]);
  for (const [variable, one] of given) {
    const problem = findProblem(file, hasPlain, one);
    if (problem !== null) refuse(`${variable} names ${one}, ${problem}`);
  }
  return { model: chosen ?? fallback, models: [...new Set([chosen ?? fallback, ...models, ...ofFile])] };
}

function findProblem(file: ProvidersFile, hasPlain: boolean, model: string): string | null {
  if (Object.hasOwn(file.aliases, model)) return null;
  const [answerer] = findAnswerers(file, model);
  if (answerer === undefined || answerer.provider === plainProviderName) {
    return hasPlain ? null : "which is neither an alias nor provider/model of COMPANIOND_PROVIDERS_FILE.";
  }
  const own = file.providers.find(({ name }) => name === answerer.provider)?.models ?? [];
  return own.length === 0 || own.includes(answerer.model)
    ? null
    : `which is not among the models of ${answerer.provider} in COMPANIOND_PROVIDERS_FILE.`;
}
