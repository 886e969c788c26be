/** Picks the engines of language models and embeddings. */
import type { AttemptingProvider } from "../contracts/llm/attempt.ts";
import type { EmbeddingProvider } from "../contracts/llm/embeddings.ts";
import type { LlmProvider } from "../contracts/llm/provider.ts";
import { type ChainEntry, type ChainOptions, createChains } from "../core/llm/chain.ts";
import { checkEntries, checkLlm, type EntryCheck } from "../core/llm/check.ts";
import { Circuit } from "../core/llm/circuit.ts";
import type { JsonObject } from "../domain/companion.ts";
import type { LlmApi } from "../domain/llm-api.ts";
import type { ShutdownDates } from "../domain/model-dates.ts";
import { findAnswerers, type ModelRoutes, nameAnswerer, plainProviderName } from "../domain/model-routes.ts";
import type { ReasoningEffort } from "../domain/reasoning.ts";
import type { Answerer } from "../domain/usage.ts";
import { createDemoProvider } from "../engines/demo/demo.ts";
import { createOpenAiEmbeddings } from "../engines/openai/embeddings.ts";
import { listShutdownDates } from "../engines/openai/models.ts";
import { createOpenAiProvider } from "../engines/openai/openai.ts";
import type { Log } from "../lib/log.ts";
import type { Probe } from "../lib/probe.ts";

export interface LlmConfig {
  readonly apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. Works without a key. */
  readonly baseUrl: string | null;
  /** Merged into every request. */
  readonly extra: JsonObject | null;
  /** Added to every request; values can be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** `auto` unless given. */
  readonly api?: LlmApi;
  /** Of every provider without one of its own, for requests that name none; null leaves it to the wire. */
  readonly reasoningEffort?: ReasoningEffort | null;
  /** Added to the bound of models that think; 0 unless given. */
  readonly reasoningTokens?: number;
}

export interface ChainsConfig extends LlmConfig, ModelRoutes {
  /** For companions without a model of their own. */
  readonly model: string;
  /** Null without further providers and aliases. */
  readonly providersFile: string | null;
  readonly providers: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly apiKey: string | null;
    readonly models: readonly string[];
    readonly extra: JsonObject;
    readonly headers: Readonly<Record<string, string>>;
    readonly api?: LlmApi;
    readonly reasoningEffort?: ReasoningEffort | null;
  }[];
}

/** The demo is used only if nothing is configured: never instead of a provider that fails. */
export function openLlmProvider(config: LlmConfig, { log }: { log: Log }): LlmProvider {
  const plain = openPlain(config, log);
  if (plain !== null) return plain;
  log.warn("no language model is configured: the built-in demo replies", { set: "OPENAI_API_KEY or OPENAI_BASE_URL" });
  return createDemoProvider();
}

function openPlain(config: LlmConfig, log: Log): AttemptingProvider | null {
  const { apiKey, baseUrl, extra, headers, api = "auto", reasoningEffort = null, reasoningTokens = 0 } = config;
  if (apiKey === null && baseUrl === null) return null;
  return createOpenAiProvider({
    ...{ apiKey, baseUrl, extra: extra ?? {}, headers, api, reasoningEffort, reasoningTokens, log },
  });
}

export interface OpenedLlm {
  llm: LlmProvider;
  /** Whether it reports each call to `calls` itself, since one reply may take several. */
  tellsCalls: boolean;
  probes: readonly Probe[];
}

/** With the plain settings alone there is no chain in between. */
export function openLlm(config: ChainsConfig, deps: Pick<ChainOptions, "log" | "calls" | "clock">): OpenedLlm {
  if (config.providersFile !== null) return openChains(config, deps);
  return { llm: openLlmProvider(config, deps), tellsCalls: false, probes: [] };
}

function openChains(
  config: ChainsConfig,
  { log, calls, clock }: Pick<ChainOptions, "log" | "calls" | "clock">,
): OpenedLlm {
  const engines = openEngines(config, log);
  const entries = new Map<string, ChainEntry>();
  const chains = new Map<string, readonly ChainEntry[]>();

  function findEntry(answerer: Answerer): ChainEntry[] {
    const name = nameAnswerer(answerer);
    const known = entries.get(name);
    if (known !== undefined) return [known];
    const engine = engines.get(answerer.provider);
    if (engine === undefined) return [];
    const entry = { answerer, engine, circuit: new Circuit() };
    entries.set(name, entry);
    return [entry];
  }

  /** Kept: what is asked for are the models that companions may choose, a list of the operator's. */
  function findEntries(model: string): readonly ChainEntry[] {
    let chain = chains.get(model);
    if (chain === undefined) {
      chain = findAnswerers(config, model).flatMap(findEntry);
      chains.set(model, chain);
    }
    return chain;
  }

  const chained = Object.keys(config.aliases).flatMap((alias) => {
    const chain = findEntries(alias);
    return chain.length > 1 ? chain : [];
  });
  const [first] = findAnswerers(config, config.model);
  const close = () => {
    for (const engine of engines.values()) engine.close();
  };
  return {
    llm: createChains({ name: first?.provider ?? plainProviderName, findEntries, close, log, calls, clock }),
    tellsCalls: true,
    probes: [...new Set(chained)].map(({ answerer: { provider, model }, circuit }) => ({
      name: "companiond_provider_passed_over",
      help: "1 while a provider's model is passed over because it kept failing; of those in chains.",
      labels: { provider, model },
      read: () => (circuit.isPassedOver(clock.monotonicMs(), null) ? 1 : 0),
    })),
  };
}

/** By name; the plain settings' among them if they name a provider. */
function openEngines(config: ChainsConfig, log: Log): Map<string, AttemptingProvider> {
  const { providers, reasoningTokens = 0 } = config;
  const engines = new Map<string, AttemptingProvider>();
  const plain = openPlain(config, log);
  if (plain !== null) engines.set(plainProviderName, plain);
  for (const provider of providers) {
    const reasoningEffort = provider.reasoningEffort ?? config.reasoningEffort ?? null;
    engines.set(provider.name, createOpenAiProvider({ ...provider, reasoningEffort, reasoningTokens, log }));
  }
  return engines;
}

export interface EmbeddingConfig extends Pick<LlmConfig, "apiKey" | "baseUrl" | "headers"> {
  /** Of the plain settings' provider; null without embeddings. */
  readonly embeddingModel: string | null;
}

/** Null where the operator has named no model. */
export function openEmbeddings(config: EmbeddingConfig, { log }: { log: Log }): EmbeddingProvider | null {
  const { apiKey, baseUrl, headers, embeddingModel: model } = config;
  return model === null ? null : createOpenAiEmbeddings({ apiKey, baseUrl, headers, model, log });
}

/** For `doctor`: embeds a word. Null where the operator has named no model. */
export async function checkEmbeddings(
  config: EmbeddingConfig,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<{ dimensions: number } | null> {
  const provider = openEmbeddings(config, { log });
  try {
    const embedded = await provider?.embed(["hello"], signal);
    return embedded === undefined ? null : { dimensions: embedded.vectors[0]?.length ?? 0 };
  } finally {
    provider?.close();
  }
}

/** For `doctor`: asks everyone whom replies may come from, or one model of a provider that nothing names. */
export async function checkModels(
  config: ChainsConfig & { readonly maxOutputTokens: number },
  log: Log,
): Promise<"demo" | readonly EntryCheck[]> {
  const { providersFile, providers, aliases, model, maxOutputTokens } = config;
  const engines = openEngines(config, log);
  try {
    if (providersFile !== null) {
      const models = [model, ...Object.keys(aliases)];
      for (const { name, models: own } of providers) {
        if (own[0] !== undefined) models.push(nameAnswerer({ provider: name, model: own[0] }));
      }
      const answerers = models.flatMap((one) => findAnswerers(config, one));
      return await checkEntries(engines, answerers, maxOutputTokens);
    }
    const plain = engines.get(plainProviderName);
    if (plain === undefined) return "demo";
    return [{ answerer: { provider: plain.name, model }, ...(await checkLlm(plain, model, { maxOutputTokens })) }];
  } finally {
    for (const engine of engines.values()) engine.close();
  }
}

/** When a provider's models are shut down; null for the demo, and where it gives no list. See `listShutdownDates`. */
export async function listModelDates(
  config: ChainsConfig,
  provider: string,
  signal: AbortSignal,
): Promise<ShutdownDates | null> {
  const plain = config.apiKey === null && config.baseUrl === null ? null : config;
  const access = config.providers.find(({ name }) => name === provider) ?? plain;
  return access === null ? null : await listShutdownDates(access, signal);
}
