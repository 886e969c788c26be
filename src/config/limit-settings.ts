/** How much visitors, keys and accounts may use and hold. */
import { optional, plain, type Setting, setting } from "./setting.ts";
import { byteCount, wholeNumber } from "./values.ts";

const perMinute = wholeNumber(1, 1_000_000_000);
const held = wholeNumber(0, 1_000_000_000);

export const limitSettings = {
  ratePerToken: plain("COMPANIOND_RATE_PER_TOKEN", 30, perMinute, "Embed requests a minute by embed token."),
  ratePerTokenPaid: optional({
    variable: "COMPANIOND_RATE_PER_TOKEN_PAID",
    parse: perMinute,
    about: "The same for companions of accounts on the paid plan; without it, as on the free one.",
  }),
  ratePerIp: plain("COMPANIOND_RATE_PER_IP", 10, perMinute, "Embed requests a minute by client address."),
  configRatePerToken: optional({
    variable: "COMPANIOND_CONFIG_RATE_PER_TOKEN",
    parse: perMinute,
    about: "Page views a minute by embed token, in windows of their own; without it, they count as embed requests.",
  }),
  configRatePerIp: optional({
    variable: "COMPANIOND_CONFIG_RATE_PER_IP",
    parse: perMinute,
    about:
      "The same by client address. One of the two gives page views both windows, with the usual number for the other.",
  }),
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
} satisfies Record<string, Setting<unknown>>;
