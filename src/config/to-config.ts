/** The configuration as the program uses it, made of checked values. */
import { join, resolve } from "node:path";
import type { BackupStorageConfig, Config, ReadModels } from "./config-shape.ts";
import type { SettingValues } from "./settings.ts";

export function toConfig(
  values: SettingValues,
  { prices, ...models }: ReadModels,
  { isDemo, hasHost }: { isDemo: boolean; hasHost: boolean },
): Omit<Config, "given" | "supervisor" | "warnings"> {
  const dataDir = resolve(values.dataDir);
  const { tlsCert, tlsKey, domains } = values;
  const isPublic = domains.length > 0;
  return {
    server: {
      // A name that others reach is of no use on loopback alone.
      host: isPublic && !hasHost ? "::" : values.host,
      port: isPublic ? values.httpsPort : values.port,
      tls: tlsCert === null || tlsKey === null ? null : { certFile: tlsCert, keyFile: tlsKey },
      acme: isPublic
        ? { domains, email: values.acmeEmail, directory: values.acmeDirectory, httpPort: values.httpPort }
        : null,
      trustProxy: values.trustProxy,
    },
    dataDir,
    database:
      values.databaseUrl === null
        ? null
        : { url: values.databaseUrl, pool: values.databasePool, poolHeavy: values.databasePoolHeavy },
    redisUrl: values.redisUrl,
    instanceUrl: values.instanceUrl,
    publicUrl: values.publicUrl ?? toOwnUrl(values),
    isDemo,
    llm: {
      apiKey: values.openaiKey,
      baseUrl: values.openaiBaseUrl,
      ...models,
      maxOutputTokens: values.maxOutputTokens,
      maxContextTokens: values.maxContextTokens,
      embeddingModel: values.embeddingModel,
      api: values.llmApi,
      reasoningEffort: values.reasoningEffort,
      reasoningTokens: values.reasoningTokens,
      extra: values.llmExtra,
      headers: values.llmHeaders,
    },
    prices,
    voice: {
      apiKey: values.elevenlabsKey,
      baseUrl: values.elevenlabsBaseUrl,
      webhookSecret: values.elevenlabsWebhookSecret,
    },
    knowledge: { privateSources: values.privateSources },
    privateTargets: values.privateTargets,
    rates: {
      ratePerToken: { free: values.ratePerToken, paid: values.ratePerTokenPaid ?? values.ratePerToken },
      ratePerIp: values.ratePerIp,
      configRatePerToken: values.configRatePerToken,
      configRatePerIp: values.configRatePerIp,
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
      storage: toBackupStorage(values),
    },
    releases: { url: values.releasesUrl, key: values.releasesKey },
    log: { level: values.logLevel },
  };
}

/** With domains, the public URL is known without being said. */
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
