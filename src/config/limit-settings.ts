/** How much visitors, keys and accounts may use and hold. */
import { optional, plain, type Setting, setting } from "./setting.ts";
import { byteCount, wholeNumber } from "./values.ts";

const perMinute = wholeNumber(1, 1_000_000_000);
const held = wholeNumber(0, 1_000_000_000);

export const limitSettings = {
  ratePerToken: plain("COMPANIOND_RATE_PER_TOKEN", 30, perMinute, "Embed requests per minute by embed token."),
  ratePerTokenPaid: optional({
    variable: "COMPANIOND_RATE_PER_TOKEN_PAID",
    parse: perMinute,
    about: "The same for companions of accounts on the paid plan; without it, as on the free one.",
  }),
  ratePerIp: plain("COMPANIOND_RATE_PER_IP", 10, perMinute, "Embed requests per minute by client address."),
  configRatePerToken: optional({
    variable: "COMPANIOND_CONFIG_RATE_PER_TOKEN",
    parse: perMinute,
    about:
      "Page views per minute by embed token, in windows of their own. Each page with a widget reads its companion's " +
      "configuration; without this setting, that counts as an embed request, and takes a visitor's message.",
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
    "Management requests per minute by API key, and by dashboard session.",
  ),
  chatRatePerKey: plain(
    "COMPANIOND_CHAT_RATE_PER_KEY",
    600,
    perMinute,
    "Chats per minute by API key, through its own chat routes and /v1.",
  ),
  asksPerIp: plain(
    "COMPANIOND_ASKS_PER_IP",
    20,
    perMinute,
    "Asks for a person per hour by client address, and contacts; asking again for the same conversation is free.",
  ),
  streamsPerIp: plain("COMPANIOND_STREAMS_PER_IP", 20, perMinute, "Open chat streams of one client address."),
  liveRatePerIp: plain(
    "COMPANIOND_LIVE_RATE_PER_IP",
    60,
    perMinute,
    "Requests per minute by client address to listen to conversations that people have, and to rate replies.",
  ),
  livePerIp: plain("COMPANIOND_LIVE_PER_IP", 40, perMinute, "Open streams of those who listen, by client address."),
  liveStreams: plain("COMPANIOND_LIVE_STREAMS", 10_000, perMinute, "Open streams of those who listen, at this server."),
  dailyFree: plain("COMPANIOND_DAILY_FREE", 1000, perMinute, "Messages per companion and day (UTC) on the free plan."),
  dailyPaid: plain("COMPANIOND_DAILY_PAID", 10_000, perMinute, "The same on the paid plan."),
  dailyVoiceFree: plain(
    "COMPANIOND_DAILY_VOICE_FREE",
    200,
    perMinute,
    "Voice sessions per companion and day (UTC) on the free plan.",
  ),
  dailyVoicePaid: plain("COMPANIOND_DAILY_VOICE_PAID", 2000, perMinute, "The same on the paid plan."),
  maxCompanionsFree: plain(
    "COMPANIOND_MAX_COMPANIONS_FREE",
    10_000,
    held,
    "Companions per account on the free plan. The operator's commands are not limited.",
  ),
  maxCompanionsPaid: plain("COMPANIOND_MAX_COMPANIONS_PAID", 1_000_000, held, "The same on the paid plan."),
  maxKeysFree: plain("COMPANIOND_MAX_KEYS_FREE", 100, held, "API keys per account on the free plan."),
  maxKeysPaid: plain("COMPANIOND_MAX_KEYS_PAID", 1000, held, "The same on the paid plan."),
  maxTokensFree: plain("COMPANIOND_MAX_TOKENS_FREE", 20, held, "Embed tokens per companion on the free plan."),
  maxTokensPaid: plain("COMPANIOND_MAX_TOKENS_PAID", 100, held, "The same on the paid plan."),
  maxMembersFree: plain(
    "COMPANIOND_MAX_MEMBERS_FREE",
    5,
    held,
    "Members per account on the free plan, beside its own sign-in.",
  ),
  maxMembersPaid: plain("COMPANIOND_MAX_MEMBERS_PAID", 100, held, "The same on the paid plan."),
  maxBytesFree: setting({
    variable: "COMPANIOND_MAX_BYTES_FREE",
    parse: byteCount,
    fallback: 1024 ** 3,
    defaultText: "1GiB",
    about:
      "Bytes that an account's companions and their sources may take up on the free plan: a number, or 512MiB, 1GiB …; " +
      "visitors' words are not counted.",
  }),
  maxBytesPaid: setting({
    variable: "COMPANIOND_MAX_BYTES_PAID",
    parse: byteCount,
    fallback: 100 * 1024 ** 3,
    defaultText: "100GiB",
    about: "The same on the paid plan.",
  }),
} satisfies Record<string, Setting<unknown>>;
