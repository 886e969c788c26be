/** Every setting in one place: its variable, flag, parser, default and purpose. */
import type { JsonObject } from "../domain/companion.ts";
import type { TotpRequirement } from "../domain/second-factor.ts";
import type { AllowedHost } from "../lib/allowed-hosts.ts";
import type { LogLevel } from "../lib/log.ts";
import { databaseUrl, redisUrl } from "./server-urls.ts";
import { optional, plain, type Setting, setting, withFlag } from "./setting.ts";
import {
  allowedHosts,
  baseUrl,
  byteCount,
  cronSchedule,
  jsonObject,
  oneOf,
  originUrl,
  path,
  requestFields,
  sealingKey,
  secret,
  wholeNumber,
  word,
  wordList,
} from "./values.ts";

const perMinute = wholeNumber(1, 1_000_000_000);
const held = wholeNumber(0, 1_000_000_000);
const connections = wholeNumber(1, 1000);
const totpRequirements = ["none", "operators", "all"] as const;
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export const settings = {
  host: withFlag("host", plain("HOST", "127.0.0.1", word, "The address to listen on; 0.0.0.0 or :: for all.")),
  port: withFlag("port", plain("PORT", 3000, wholeNumber(0, 65_535), "The port to listen on; 0 takes a free one.")),
  dataDir: withFlag(
    "data-dir",
    plain("COMPANIOND_DATA_DIR", "./companiond-data", path, "Where everything durable is kept; created if missing."),
  ),
  publicUrl: optional({
    variable: "COMPANIOND_PUBLIC_URL",
    parse: originUrl,
    about: "How the outside reaches this server, for snippets and links; needed off loopback and behind a proxy.",
  }),
  trustProxy: plain(
    "COMPANIOND_TRUST_PROXY",
    0,
    wholeNumber(0, 100),
    "How many proxies in front are trusted for the client's address, protocol and host.",
  ),
  openaiKey: optional({
    variable: "OPENAI_API_KEY",
    isSecret: true,
    parse: secret,
    about: "The key of the language-model provider. Without key and base URL, the built-in demo replies.",
  }),
  openaiBaseUrl: optional({
    variable: "OPENAI_BASE_URL",
    parse: baseUrl,
    about:
      "Any OpenAI-compatible endpoint, up to and including /v1; without it, OpenAI itself. With it, the key is optional.",
  }),
  model: plain("COMPANIOND_MODEL", "gpt-5-mini", word, "The model for companions that name none."),
  models: optional({
    variable: "COMPANIOND_MODELS",
    parse: wordList,
    about: "Further models that companions may ask for, separated by commas; COMPANIOND_MODEL always is one.",
  }),
  maxOutputTokens: plain(
    "COMPANIOND_MAX_OUTPUT_TOKENS",
    4096,
    wholeNumber(1, 10_000_000),
    "The longest reply that a companion may ask for, in tokens; also the bound of those that set none.",
  ),
  llmExtra: setting<JsonObject>({
    variable: "COMPANIOND_LLM_EXTRA",
    parse: jsonObject(requestFields),
    fallback: {},
    defaultText: "",
    about: 'A JSON object merged into every request to the provider, such as {"reasoning_effort":"minimal"}.',
  }),
  providersFile: optional({
    variable: "COMPANIOND_PROVIDERS_FILE",
    parse: path,
    about: "A JSON file that names further providers, and chains of models that stand in for one another.",
  }),
  prices: optional<JsonObject>({
    variable: "COMPANIOND_PRICES",
    hasFile: true,
    parse: jsonObject([]),
    about:
      'What models cost, in US dollars per million tokens: {"gpt-5-mini":{"input":0.25,"cached_input":0.025,"output":2}}; ' +
      'voice per minute: {"voice/elevenlabs":{"minute":0.1}}.',
  }),
  elevenlabsKey: optional({
    variable: "ELEVENLABS_API_KEY",
    isSecret: true,
    parse: secret,
    about: "The key of the voice-agent provider. Without it companions have no voice.",
  }),
  elevenlabsBaseUrl: plain(
    "ELEVENLABS_BASE_URL",
    "https://api.elevenlabs.io",
    baseUrl,
    "The voice-agent provider's address.",
  ),
  elevenlabsWebhookSecret: optional({
    variable: "ELEVENLABS_WEBHOOK_SECRET",
    isSecret: true,
    parse: secret,
    about: "Proves that transcripts come from the voice-agent provider; without it none are taken.",
  }),
  embeddingModel: optional({
    variable: "COMPANIOND_EMBEDDING_MODEL",
    parse: word,
    about: "The provider's model for vectors, by which knowledge is also found; without it, by words alone.",
  }),
  privateSources: setting<readonly AllowedHost[]>({
    variable: "COMPANIOND_PRIVATE_SOURCES",
    parse: allowedHosts,
    fallback: [],
    defaultText: "",
    about: "Hosts or ranges of private networks that sources of knowledge may be read from, separated by commas.",
  }),
  ratePerToken: plain("COMPANIOND_RATE_PER_TOKEN", 30, perMinute, "Embed requests a minute by embed token."),
  ratePerTokenPaid: optional({
    variable: "COMPANIOND_RATE_PER_TOKEN_PAID",
    parse: perMinute,
    about: "The same for companions of accounts on the paid plan; without it, as on the free one.",
  }),
  ratePerIp: plain("COMPANIOND_RATE_PER_IP", 10, perMinute, "Embed requests a minute by client address."),
  ratePerKey: plain(
    "COMPANIOND_RATE_PER_KEY",
    600,
    perMinute,
    "Management requests a minute by API key, and by dashboard session.",
  ),
  chatRatePerKey: plain(
    "COMPANIOND_CHAT_RATE_PER_KEY",
    600,
    perMinute,
    "Chats a minute by API key, through its own chat routes and /v1.",
  ),
  streamsPerIp: plain("COMPANIOND_STREAMS_PER_IP", 20, perMinute, "Open chat streams of one client address."),
  dailyFree: plain(
    "COMPANIOND_DAILY_FREE",
    1000,
    perMinute,
    "Messages a day (UTC) for each companion of an account on the free plan.",
  ),
  dailyPaid: plain("COMPANIOND_DAILY_PAID", 10_000, perMinute, "The same on the paid plan."),
  dailyVoiceFree: plain(
    "COMPANIOND_DAILY_VOICE_FREE",
    200,
    perMinute,
    "Voice sessions a day (UTC) for each companion of an account on the free plan.",
  ),
  dailyVoicePaid: plain("COMPANIOND_DAILY_VOICE_PAID", 2000, perMinute, "The same on the paid plan."),
  maxCompanionsFree: plain("COMPANIOND_MAX_COMPANIONS_FREE", 10_000, held, "Companions of an account, free plan."),
  maxCompanionsPaid: plain("COMPANIOND_MAX_COMPANIONS_PAID", 1_000_000, held, "The same on the paid plan."),
  maxKeysFree: plain("COMPANIOND_MAX_KEYS_FREE", 100, held, "API keys of an account, free plan."),
  maxKeysPaid: plain("COMPANIOND_MAX_KEYS_PAID", 1000, held, "The same on the paid plan."),
  maxTokensFree: plain("COMPANIOND_MAX_TOKENS_FREE", 20, held, "Embed tokens of a companion, free plan."),
  maxTokensPaid: plain("COMPANIOND_MAX_TOKENS_PAID", 100, held, "The same on the paid plan."),
  maxBytesFree: setting({
    variable: "COMPANIOND_MAX_BYTES_FREE",
    parse: byteCount,
    fallback: 1024 ** 3,
    defaultText: "1GiB",
    about: "What an account's companions and their sources may take up, free plan; visitors' words are not counted.",
  }),
  maxBytesPaid: setting({
    variable: "COMPANIOND_MAX_BYTES_PAID",
    parse: byteCount,
    fallback: 100 * 1024 ** 3,
    defaultText: "100GiB",
    about: "The same on the paid plan.",
  }),
  secretKey: optional({
    variable: "COMPANIOND_SECRET_KEY",
    isSecret: true,
    parse: sealingKey,
    about:
      "Seals secrets in the database: 32 bytes in base64. Without it, kept in secret.key in the data directory; required " +
      "with DATABASE_URL.",
  }),
  requireTotp: plain<TotpRequirement>(
    "COMPANIOND_REQUIRE_TOTP",
    "none",
    oneOf(totpRequirements),
    "Who must have a second factor to use the dashboard: none, operators or all.",
  ),
  metricsToken: optional({
    variable: "COMPANIOND_METRICS_TOKEN",
    isSecret: true,
    parse: secret,
    about: "Opens GET /metrics to whoever sends it as a Bearer token.",
  }),
  metricsPort: optional({
    variable: "COMPANIOND_METRICS_PORT",
    parse: wholeNumber(0, 65_535),
    about: "Serves /metrics without a token on this loopback port of its own; 0 takes a free one.",
  }),
  databaseUrl: optional({
    variable: "DATABASE_URL",
    isSecret: true,
    parse: databaseUrl,
    about: "A PostgreSQL database that instances share, postgres://…; without it, the data is in the data directory.",
  }),
  redisUrl: optional({
    variable: "REDIS_URL",
    isSecret: true,
    parse: redisUrl,
    about: "Where instances count rates and failed sign-ins together, redis://… or rediss://…; needs DATABASE_URL.",
  }),
  instanceUrl: optional({
    variable: "COMPANIOND_INSTANCE_URL",
    parse: originUrl,
    about: "Where the other instances reach this one; without it, the address that it listens on.",
  }),
  databasePool: plain(
    "COMPANIOND_DATABASE_POOL",
    10,
    connections,
    "Connections of each instance to PostgreSQL for quick queries.",
  ),
  databasePoolHeavy: plain(
    "COMPANIOND_DATABASE_POOL_HEAVY",
    4,
    connections,
    "The same for lists, exports and other long queries.",
  ),
  backupCron: optional({
    variable: "COMPANIOND_BACKUP_CRON",
    parse: cronSchedule,
    about: 'When to back up by itself: five cron fields, local time, such as "0 3 * * *". Not with DATABASE_URL.',
  }),
  backupDir: optional({
    variable: "COMPANIOND_BACKUP_DIR",
    parse: path,
    about: "Where scheduled backups go; without it, backups/ in the data directory.",
  }),
  backupKeep: plain("COMPANIOND_BACKUP_KEEP", 7, wholeNumber(1, 100_000), "How many scheduled backups are kept."),
  logLevel: plain<LogLevel>("COMPANIOND_LOG", "info", oneOf(levels), "debug, info, warn or error."),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: (typeof settings)[Name]["fallback"] };
