/** The only reader of the environment: turns flags, variables and the env file into one validated, frozen object. */
import { resolve } from "node:path";
import { findAnswerers, nameAnswerer, plainProviderName } from "../domain/model-routes.ts";
import { findConflicts, findIdle } from "./conflicts.ts";
import { listGiven } from "./given.ts";
import { readPrices } from "./prices.ts";
import { type ProvidersFile, readProviders } from "./providers.ts";
import { type Flags, judgeNames, mergeVariables, type Problem, readSettings, type Variables } from "./read-settings.ts";
import type { FlagName } from "./setting.ts";
import type { SettingValues } from "./settings.ts";
import { readSupervisor } from "./supervisor.ts";
import { type AcmeConfig, type BackupStorageConfig, type Config, type ReadModels, toConfig } from "./to-config.ts";

export type { AcmeConfig, BackupStorageConfig, Config };

export interface ConfigSources {
  /** Replaces the environment of the process. */
  environment?: Variables | undefined;
  envFilePath?: string | undefined;
  flags?: Flags & { demo?: boolean | undefined };
}

/**
 * What another process of this program needs of the environment to reach the network as this one does: authorities to
 * trust, and proxies.
 */
export function readNetworkVariables(environment: Variables = process.env): Readonly<Record<string, string>> {
  const names = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
  const found: Record<string, string> = {};
  for (const name of [...names, ...names.map((one) => one.toLowerCase())]) {
    const value = environment[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Every problem with the configuration, one sentence per line. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  /** As far as it could be read; an absolute path. */
  readonly dataDir: string;

  constructor(problems: readonly Problem[], dataDir: string) {
    super(problems.map((problem) => problem.sentence).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
    this.dataDir = dataDir;
  }
}

/** `JOURNAL_STREAM`, also where the configuration cannot be used. */
export function findJournalStream(environment: Variables = process.env): string | null {
  return readSupervisor(environment).journalStream;
}

/**
 * For `update`, which the rest must not stop: it may be meant for the version that is to come. Throws `ConfigError` if what
 * is about releases cannot be read.
 */
export function loadReleases({ environment = process.env, envFilePath }: ConfigSources): Config["releases"] {
  const problems: Problem[] = [];
  const { variables } = mergeVariables(environment, envFilePath, problems);
  const read = readSettings(variables, {}, problems, ["releasesUrl", "releasesKey", "dataDir"]);
  if (problems.length > 0) throw new ConfigError(problems, resolve(read.dataDir));
  return { url: read.releasesUrl, key: read.releasesKey };
}

/** Throws `ConfigError` with all problems together. Reads files, opens nothing. */
export function loadConfig(sources: ConfigSources = {}): Config {
  const flags = sources.flags ?? {};
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const environment = sources.environment ?? process.env;
  const { variables, lines } = mergeVariables(environment, sources.envFilePath, problems);
  judgeNames(environment, { path: sources.envFilePath, lines }, { problems, warnings });
  const values = readSettings(variables, flags, problems);

  if (values.metricsPort !== null && values.metricsPort !== 0 && values.metricsPort === values.port) {
    problems.push({ sentence: "COMPANIOND_METRICS_PORT must differ from the port of the server." });
  }
  const isGiven = (variable: string, flag?: FlagName) =>
    (flag !== undefined && flags[flag] !== undefined) || variables.has(variable) || variables.has(`${variable}_FILE`);
  warnings.push(...findIdle(isGiven));
  for (const sentence of findConflicts(isGiven)) problems.push({ sentence });
  const models = readModels(values, variables, (sentence) => problems.push({ sentence }));
  if (problems.length > 0) throw new ConfigError(problems, resolve(values.dataDir));
  const config = toConfig(values, models, { isDemo: flags.demo ?? false, hasHost: isGiven("HOST", "host") });
  const given = listGiven(variables, environment, flags);
  return deepFreeze({ ...config, given, warnings, supervisor: readSupervisor(environment) });
}

/** Providers, the models that they offer, and what these cost. */
function readModels(
  values: SettingValues,
  variables: ReadonlyMap<string, string>,
  refuse: (sentence: string) => void,
): ReadModels {
  const isGiven = (variable: string) => variables.has(variable) || variables.has(`${variable}_FILE`);
  const hasPlain = isGiven("OPENAI_API_KEY") || isGiven("OPENAI_BASE_URL");
  const providersFile = values.providersFile === null ? null : resolve(values.providersFile);
  const read =
    providersFile === null
      ? null
      : readProviders(providersFile, hasPlain, (sentence) => refuse(`COMPANIOND_PROVIDERS_FILE: ${sentence}`));
  const { providers, aliases } = read ?? { providers: [], aliases: {} };
  const isProvider = (name: string) => name === plainProviderName || providers.some((one) => one.name === name);
  const offered = { hasPlain, model: isGiven("COMPANIOND_MODEL") ? values.model : null, models: values.models ?? [] };
  return {
    ...(read === null
      ? { model: values.model, models: [...new Set([values.model, ...offered.models])] }
      : offerModels(read, { ...offered, fallback: values.model }, refuse)),
    ...{ providersFile, providers, aliases },
    prices: readPrices(values.prices ?? {}, isProvider, (sentence) => refuse(`COMPANIOND_PRICES: ${sentence}`)),
  };
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

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

/**
 * What companions may choose where there are providers beside the plain settings. The default first, then what the
 * settings offer, the aliases, and the models of each provider.
 */
function offerModels(
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
