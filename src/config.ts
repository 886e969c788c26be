/** The only reader of the environment: turns flags, variables and the env file into one validated, frozen object. */
import { join, resolve } from "node:path";
import { ConfigError } from "./config/config-error.ts";
import { type GivenSetting, listGiven } from "./config/given.ts";
import { offerModels } from "./config/offered-models.ts";
import { readPrices } from "./config/prices.ts";
import { type NamedProvider, readProviders } from "./config/providers.ts";
import { type Flags, mergeVariables, type Problem, readSettings, type Variables } from "./config/read-settings.ts";
import type { SettingValues } from "./config/settings.ts";
import { readSupervisor, type SupervisorFacts } from "./config/supervisor.ts";
import type { HoldingsByPlan, Plan } from "./domain/account.ts";
import type { JsonObject } from "./domain/companion.ts";
import { type ModelRoutes, plainProviderName } from "./domain/model-routes.ts";
import type { PriceList } from "./domain/prices.ts";
import type { TotpRequirement } from "./domain/second-factor.ts";
import type { AllowedHost } from "./lib/allowed-hosts.ts";
import type { LogLevel } from "./lib/log.ts";
import type { RateSettings } from "./limits/rules.ts";

export { ConfigError };

export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** Paths of PEM files, or null for plain HTTP. */
    readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
    /** Number of trusted proxies in front of the server. */
    readonly trustProxy: number;
  };
  /** An absolute path. */
  readonly dataDir: string;
  /**
   * PostgreSQL, or null for a file in the data directory. `url` names host and database, and holds the password. Pass
   * the database's name to the driver separately: otherwise PGDATABASE would overrule the URL.
   */
  readonly database: { readonly url: string; readonly pool: number; readonly poolHeavy: number } | null;
  /** With the password, or null for counting in memory. Never set without `database`. */
  readonly redisUrl: string | null;
  /** Where other instances reach this one, as an origin; null for the address that it listens on. Unused without `database`. */
  readonly instanceUrl: string | null;
  /** An origin without a trailing slash, or null: then it is derived from each request. */
  readonly publicUrl: string | null;
  /** Whether `serve` keeps a demo companion. */
  readonly isDemo: boolean;
  readonly llm: {
    /** With neither a key nor a base URL, the demo provider is used. */
    readonly apiKey: string | null;
    /** Without a trailing slash; null means OpenAI itself. */
    readonly baseUrl: string | null;
    readonly model: string;
    /** The models that companions may choose, `model` first. */
    readonly models: readonly string[];
    readonly maxOutputTokens: number;
    /** Of the provider of the plain settings; null: knowledge is found by words alone. */
    readonly embeddingModel: string | null;
    /** For the provider of the plain settings alone. */
    readonly extra: JsonObject;
    /** An absolute path, or null without further providers. */
    readonly providersFile: string | null;
    readonly providers: readonly NamedProvider[];
    readonly aliases: ModelRoutes["aliases"];
  };
  readonly prices: PriceList;
  readonly voice: {
    readonly apiKey: string | null;
    readonly baseUrl: string;
    readonly webhookSecret: string | null;
  };
  readonly knowledge: {
    /** What sources may be read from besides public hosts. */
    readonly privateSources: readonly AllowedHost[];
  };
  readonly rates: RateSettings;
  /** Concurrent chat streams per client address. */
  readonly streamsPerIp: number;
  readonly messagesPerDay: ByPlan;
  readonly voiceSessionsPerDay: ByPlan;
  readonly holdings: HoldingsByPlan;
  /** As given: 32 bytes in base64, or null if the key is in a file in the data directory. */
  readonly secretKey: string | null;
  readonly requireTotp: TotpRequirement;
  readonly metrics: { readonly token: string | null; readonly port: number | null };
  readonly backup: { readonly cron: string | null; readonly dir: string; readonly keep: number };
  readonly log: { readonly level: LogLevel };
  /** What somebody has set, without the values. */
  readonly given: readonly GivenSetting[];
  readonly supervisor: SupervisorFacts;
}

type ByPlan = Readonly<Record<Plan, number>>;

export interface ConfigSources {
  /** Replaces the environment of the process. */
  environment?: Variables;
  envFilePath?: string | undefined;
  flags?: Flags & { demo?: boolean | undefined; "tls-cert"?: string | undefined; "tls-key"?: string | undefined };
}

/** Throws `ConfigError` with all problems at once. Reads files, opens nothing. */
export function loadConfig(sources: ConfigSources = {}): Config {
  const flags = sources.flags ?? {};
  const problems: Problem[] = [];
  const environment = sources.environment ?? process.env;
  const variables = mergeVariables(environment, sources.envFilePath, problems);
  const values = readSettings(variables, flags, problems);

  const certFile = flags["tls-cert"];
  const keyFile = flags["tls-key"];
  const isTls = certFile !== undefined && keyFile !== undefined;
  if (!isTls && (certFile ?? keyFile) !== undefined) {
    problems.push({ sentence: "--tls-cert and --tls-key must be given together.", isFlag: true });
  }
  if (values.metricsPort !== null && values.metricsPort !== 0 && values.metricsPort === values.port) {
    problems.push({ sentence: "COMPANIOND_METRICS_PORT must differ from the port of the server.", isFlag: false });
  }
  for (const sentence of findConflicts(variables)) problems.push({ sentence, isFlag: false });
  const models = readModels(values, variables, (sentence) => problems.push({ sentence, isFlag: false }));
  if (problems.length > 0) throw new ConfigError(problems, resolve(values.dataDir));
  return toConfig(values, models, isTls ? { certFile, keyFile } : null, {
    isDemo: flags.demo ?? false,
    given: listGiven(variables, environment, flags),
    supervisor: readSupervisor(environment),
  });
}

type ReadModels = Pick<Config["llm"], "model" | "models" | "providersFile" | "providers" | "aliases"> &
  Pick<Config, "prices">;

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

/** Looks at what is given, not at what it says: a bad value is one problem, and not also a missing one. */
function findConflicts(variables: ReadonlyMap<string, string>): string[] {
  const isGiven = (variable: string) => variables.has(variable) || variables.has(`${variable}_FILE`);
  const conflicts: string[] = [];
  if (isGiven("COMPANIOND_EMBEDDING_MODEL") && !isGiven("OPENAI_API_KEY") && !isGiven("OPENAI_BASE_URL")) {
    conflicts.push("COMPANIOND_EMBEDDING_MODEL needs OPENAI_API_KEY or OPENAI_BASE_URL: it is that provider's model.");
  }
  if (!isGiven("DATABASE_URL")) {
    if (!isGiven("REDIS_URL")) return conflicts;
    conflicts.push(
      "REDIS_URL needs DATABASE_URL: Redis only counts, and instances share everything else in PostgreSQL.",
    );
    return conflicts;
  }
  if (!isGiven("COMPANIOND_SECRET_KEY")) {
    conflicts.push("DATABASE_URL needs COMPANIOND_SECRET_KEY: all instances open the same sealed secrets with it.");
  }
  if (isGiven("COMPANIOND_BACKUP_CRON")) {
    conflicts.push("COMPANIOND_BACKUP_CRON does not work with DATABASE_URL: back PostgreSQL up with pg_dump.");
  }
  return conflicts;
}

function toConfig(
  values: SettingValues,
  { prices, ...models }: ReadModels,
  tls: Config["server"]["tls"],
  others: Pick<Config, "isDemo" | "given" | "supervisor">,
): Config {
  const dataDir = resolve(values.dataDir);
  return deepFreeze({
    server: { host: values.host, port: values.port, tls, trustProxy: values.trustProxy },
    dataDir,
    database:
      values.databaseUrl === null
        ? null
        : { url: values.databaseUrl, pool: values.databasePool, poolHeavy: values.databasePoolHeavy },
    redisUrl: values.redisUrl,
    instanceUrl: values.instanceUrl,
    publicUrl: values.publicUrl,
    llm: {
      apiKey: values.openaiKey,
      baseUrl: values.openaiBaseUrl,
      ...models,
      maxOutputTokens: values.maxOutputTokens,
      embeddingModel: values.embeddingModel,
      extra: values.llmExtra,
    },
    prices,
    voice: {
      apiKey: values.elevenlabsKey,
      baseUrl: values.elevenlabsBaseUrl,
      webhookSecret: values.elevenlabsWebhookSecret,
    },
    knowledge: { privateSources: values.privateSources },
    rates: {
      ratePerToken: { free: values.ratePerToken, paid: values.ratePerTokenPaid ?? values.ratePerToken },
      ratePerIp: values.ratePerIp,
      ratePerKey: values.ratePerKey,
      chatRatePerKey: values.chatRatePerKey,
    },
    streamsPerIp: values.streamsPerIp,
    messagesPerDay: { free: values.dailyFree, paid: values.dailyPaid },
    voiceSessionsPerDay: { free: values.dailyVoiceFree, paid: values.dailyVoicePaid },
    holdings: {
      free: {
        companions: values.maxCompanionsFree,
        keys: values.maxKeysFree,
        tokensPerCompanion: values.maxTokensFree,
        bytes: values.maxBytesFree,
      },
      paid: {
        companions: values.maxCompanionsPaid,
        keys: values.maxKeysPaid,
        tokensPerCompanion: values.maxTokensPaid,
        bytes: values.maxBytesPaid,
      },
    },
    secretKey: values.secretKey,
    requireTotp: values.requireTotp,
    metrics: { token: values.metricsToken, port: values.metricsPort },
    backup: {
      cron: values.backupCron,
      dir: values.backupDir === null ? join(dataDir, "backups") : resolve(values.backupDir),
      keep: values.backupKeep,
    },
    log: { level: values.logLevel },
    ...others,
  });
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
