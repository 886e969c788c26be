/** The configuration as the program uses it, made of checked values, with the meaning of each part. */
import { join, resolve } from "node:path";
import type { StorageLocation } from "../contracts/backup-storage.ts";
import type { RateSettings } from "../contracts/limiter/rules.ts";
import type { HoldingsByPlan } from "../domain/account.ts";
import type { ModelRoutes } from "../domain/model-routes.ts";
import type { PriceList } from "../domain/prices.ts";
import type { GivenSetting } from "./given.ts";
import type { NamedProvider } from "./providers.ts";
import type { SettingValues } from "./settings.ts";
import type { SupervisorFacts } from "./supervisor.ts";

export interface AcmeConfig {
  /** In lower case; the first is the one in the public URL. */
  readonly domains: readonly string[];
  readonly email: string | null;
  /** The URL of the authority's directory. */
  readonly directory: string;
  /** For challenges and redirects. */
  readonly httpPort: number;
}

/** Where backups are uploaded, and how. */
export interface BackupStorageConfig extends StorageLocation {
  /** Uploads are encrypted to this age public key; null for none. */
  readonly ageRecipient: string | null;
}

/** What providers and prices make of the values. */
export interface ReadModels {
  readonly model: string;
  /** The models that companions may choose, `model` first. */
  readonly models: readonly string[];
  /** An absolute path, or null without further providers. */
  readonly providersFile: string | null;
  readonly providers: readonly NamedProvider[];
  readonly aliases: ModelRoutes["aliases"];
  readonly prices: PriceList;
}

export type Config = ReturnType<typeof toConfig> & {
  /** What is set, without the values. */
  readonly given: readonly GivenSetting[];
  readonly supervisor: SupervisorFacts;
  /** Sentences about what was given and has no effect; for the log of `serve` and for `doctor`. */
  readonly warnings: readonly string[];
};

export function toConfig(
  values: SettingValues,
  { prices, ...models }: ReadModels,
  { isDemo, hasHost }: { isDemo: boolean; hasHost: boolean },
) {
  const { tlsCert, tlsKey, domains } = values;
  const dataDir = resolve(values.dataDir);
  const isPublic = domains.length > 0;
  const acme: AcmeConfig | null = isPublic
    ? { domains, email: values.acmeEmail, directory: values.acmeDirectory, httpPort: values.httpPort }
    : null;
  const rates: RateSettings = {
    ratePerToken: { free: values.ratePerToken, paid: values.ratePerTokenPaid ?? values.ratePerToken },
    ratePerIp: values.ratePerIp,
    configRatePerToken: values.configRatePerToken,
    configRatePerIp: values.configRatePerIp,
    liveRatePerIp: values.liveRatePerIp,
    ratePerKey: values.ratePerKey,
    chatRatePerKey: values.chatRatePerKey,
    asksPerIp: values.asksPerIp,
  };
  const holdings: HoldingsByPlan = {
    free: {
      companions: values.maxCompanionsFree,
      keys: values.maxKeysFree,
      tokensPerCompanion: values.maxTokensFree,
      members: values.maxMembersFree,
      bytes: values.maxBytesFree,
    },
    paid: {
      companions: values.maxCompanionsPaid,
      keys: values.maxKeysPaid,
      tokensPerCompanion: values.maxTokensPaid,
      members: values.maxMembersPaid,
      bytes: values.maxBytesPaid,
    },
  };
  return {
    server: {
      // A name that others reach is of no use on loopback alone.
      host: isPublic && !hasHost ? "::" : values.host,
      port: isPublic ? values.httpsPort : values.port,
      /** Paths of PEM files, or null for plain HTTP, and where certificates are obtained. */
      tls: tlsCert === null || tlsKey === null ? null : { certFile: tlsCert, keyFile: tlsKey },
      /** Certificates obtained by ACME; null unless domains are given. Then `port` is that of HTTPS. Never with `tls`. */
      acme,
      /** Number of trusted proxies in front of the server. */
      trustProxy: values.trustProxy,
    },
    /** An absolute path. */
    dataDir,
    /**
     * PostgreSQL, or null for a file in the data directory. `url` names host and database, and holds the password. Pass
     * the database's name to the driver separately: otherwise PGDATABASE would overrule the URL.
     */
    database:
      values.databaseUrl === null
        ? null
        : { url: values.databaseUrl, pool: values.databasePool, poolHeavy: values.databasePoolHeavy },
    /** With the password, or null for counting in memory. Never set without `database`. */
    redisUrl: values.redisUrl,
    /** Where other instances reach this one, as an origin; null for the address that it listens on. Unused without `database`. */
    instanceUrl: values.instanceUrl,
    /** An origin without a trailing slash, or null: then it is derived from each request. */
    publicUrl: values.publicUrl ?? toOwnUrl(values),
    /** Whether `serve` keeps a demo companion. */
    isDemo,
    llm: {
      /** With neither a key nor a base URL, the demo provider is used. */
      apiKey: values.openaiKey,
      /** Without a trailing slash; null means OpenAI itself. */
      baseUrl: values.openaiBaseUrl,
      ...models,
      maxOutputTokens: values.maxOutputTokens,
      /** Of instructions, message and conversation together. */
      maxContextTokens: values.maxContextTokens,
      /** Of the provider of the plain settings; null: knowledge is found by words alone. */
      embeddingModel: values.embeddingModel,
      /** For the provider of the plain settings alone. */
      api: values.llmApi,
      /** For requests that name none, of every provider without one of its own; null leaves it to the API. */
      reasoningEffort: values.reasoningEffort,
      /** Added to the bound of a reply for models that think. */
      reasoningTokens: values.reasoningTokens,
      /** For the provider of the plain settings alone. */
      extra: values.llmExtra,
      /** Added to its requests; values can be secrets. For the provider of the plain settings alone. */
      headers: values.llmHeaders,
    },
    prices,
    voice: {
      apiKey: values.elevenlabsKey,
      baseUrl: values.elevenlabsBaseUrl,
      webhookSecret: values.elevenlabsWebhookSecret,
    },
    /** What sources may be read from besides public hosts. */
    knowledge: { privateSources: values.privateSources },
    /** What tools and webhooks may call besides public hosts. */
    privateTargets: values.privateTargets,
    rates,
    /** Concurrent chat streams per client address. */
    streamsPerIp: values.streamsPerIp,
    /** Open streams of those who listen to conversations: of a client address, and at this server. */
    live: { perAddress: values.livePerIp, maxStreams: values.liveStreams },
    messagesPerDay: { free: values.dailyFree, paid: values.dailyPaid },
    voiceSessionsPerDay: { free: values.dailyVoiceFree, paid: values.dailyVoicePaid },
    holdings,
    /** As given: 32 bytes in base64, or null if the key is in a file in the data directory. */
    secretKey: values.secretKey,
    requireTotp: values.requireTotp,
    /** Null: no mail is sent. */
    mail:
      values.smtpUrl === null || values.mailFrom === null ? null : { server: values.smtpUrl, from: values.mailFrom },
    metrics: { token: values.metricsToken, port: values.metricsPort },
    backup: {
      cron: values.backupCron,
      dir: values.backupDir === null ? join(dataDir, "backups") : resolve(values.backupDir),
      keep: values.backupKeep,
      /** Null: backups stay on this machine. */
      storage: toBackupStorage(values),
    },
    /** Where `update` checks for releases, and the public key (32 bytes in base64) instead of the one in the executable. */
    releases: { url: values.releasesUrl, key: values.releasesKey },
    log: { level: values.logLevel },
  } as const;
}

/** With domains, the public URL follows from them. */
function toOwnUrl({ domains, httpsPort }: SettingValues): string | null {
  const [name] = domains;
  if (name === undefined) return null;
  return httpsPort === 443 ? `https://${name}` : `https://${name}:${httpsPort}`;
}

function toBackupStorage(values: SettingValues): BackupStorageConfig | null {
  const { backupS3Bucket: bucket, backupS3KeyId: keyId, backupS3Secret: secret } = values;
  if (bucket === null || keyId === null || secret === null) return null;
  return {
    endpoint: values.backupS3Endpoint,
    region: values.backupS3Region,
    bucket,
    prefix: values.backupS3Prefix ?? "",
    keyId,
    secret,
    ageRecipient: values.backupAgeRecipient,
  };
}
