/** Every rate limit of the program. */
import type { Plan } from "../../domain/account.ts";
import { challengeLifetimeMs } from "../../domain/challenge.ts";
import { maxUploadBytes } from "../../domain/knowledge.ts";
import type { RateRule } from "./limiter.ts";

/** The two windows of an embed request. */
export interface EmbedWindows {
  /** By client address, counted first so that tokens cannot be guessed quickly. */
  readonly ip: RateRule;
  /** By embed token, depending on the plan of its account. */
  readonly token: Readonly<Record<Plan, RateRule>>;
}

/** Its own windows are those of all embed requests but page views. */
export interface RateRules extends EmbedWindows {
  /** Page views, which read the configuration: the windows of all others, unless the operator gave them their own. */
  readonly config: EmbedWindows;
  /** By embed token, as many again: requests that read, while the companion asks for work. */
  readonly read: Readonly<Record<Plan, RateRule>>;
  /** By client address: what listens, and ratings, instead of the windows of address and token. */
  readonly live: RateRule;
  /** Management requests by API key. */
  readonly key: RateRule;
  /** Chats by API key, beside its management requests. */
  readonly chat: RateRule;
  /** Of these, the messages of one visitor of a companion: as many as an address may send on a website. */
  readonly visitor: RateRule;
  /** Asks for a person by client address, beside the windows of all embed requests. */
  readonly person: RateRule;
  /** Contacts by client address, in the same way. */
  readonly contact: RateRule;
  /** Management requests by dashboard session, with the same limit. */
  readonly session: RateRule;
  /**
   * Sign-in attempts by client address, successful ones included: bounds what password checks cost us. Guessing at one
   * account is slowed down where failures are counted; a limit by account would let anyone lock its owner out.
   */
  readonly signInByIp: RateRule;
  /** Webhook calls by client address, counted before the signature is checked. */
  readonly webhook: RateRule;
  /**
   * Requests with one solved challenge: it begins one message only, but each request that is refused afterwards costs us a
   * little. Enough for a client that sends the message again and again.
   */
  readonly solution: RateRule;
}

/** Requests per minute that the operator may set. */
export interface RateSettings {
  readonly ratePerToken: Readonly<Record<Plan, number>>;
  readonly ratePerIp: number;
  /** Of page views; with both null they count with the others. */
  readonly configRatePerToken: number | null;
  readonly configRatePerIp: number | null;
  readonly liveRatePerIp: number;
  readonly ratePerKey: number;
  readonly chatRatePerKey: number;
  /** An hour. */
  readonly asksPerIp: number;
}

const defaultRates: RateSettings = {
  ratePerToken: { free: 30, paid: 30 },
  ratePerIp: 10,
  configRatePerToken: null,
  configRatePerIp: null,
  liveRatePerIp: 60,
  ratePerKey: 600,
  chatRatePerKey: 600,
  asksPerIp: 20,
};

export function createRateRules(rates: RateSettings = defaultRates): RateRules {
  const { ratePerToken, ratePerIp, configRatePerToken, configRatePerIp } = rates;
  const ip: RateRule = { name: "ip", limit: ratePerIp, windowMs: minuteMs };
  const token = byPlan("token", ratePerToken);
  const hasOwn = configRatePerToken !== null || configRatePerIp !== null;
  // One of the two alone moves both: page views that kept one window with messages would still use up their slots.
  const { free, paid } = ratePerToken;
  const own: EmbedWindows = {
    ip: { name: "config_ip", limit: configRatePerIp ?? ratePerIp, windowMs: minuteMs },
    token: byPlan("config_token", { free: configRatePerToken ?? free, paid: configRatePerToken ?? paid }),
  };
  return {
    ip,
    token,
    config: hasOwn ? own : { ip, token },
    read: byPlan("read", ratePerToken),
    live: { name: "live", limit: rates.liveRatePerIp, windowMs: minuteMs },
    key: { name: "key", limit: rates.ratePerKey, windowMs: minuteMs },
    chat: { name: "chat", limit: rates.chatRatePerKey, windowMs: minuteMs },
    visitor: { name: "visitor", limit: rates.ratePerIp, windowMs: minuteMs },
    person: { name: "person", limit: rates.asksPerIp, windowMs: 60 * minuteMs },
    contact: { name: "contact", limit: rates.asksPerIp, windowMs: 60 * minuteMs },
    session: { name: "session", limit: rates.ratePerKey, windowMs: minuteMs },
    signInByIp: { name: "sign_in", limit: 30, windowMs: minuteMs },
    webhook: { name: "webhook", limit: 600, windowMs: minuteMs },
    solution: { name: "solution", limit: 10, windowMs: challengeLifetimeMs },
  };
}

function byPlan(name: RateRule["name"], { free, paid }: Readonly<Record<Plan, number>>): Record<Plan, RateRule> {
  return { free: { name, limit: free, windowMs: minuteMs }, paid: { name, limit: paid, windowMs: minuteMs } };
}

const minuteMs = 60_000;

const mebibyte = 1024 * 1024;
/** For one account: three of the largest at the same time. */
export const batchBodyLimits = {
  sender: "account" as const,
  bodyBytes: 8 * mebibyte,
  bodyMs: 60_000,
  ...{ bodies: 32, bodiesOfOne: 8 },
  ...{ bytes: 64 * mebibyte, bytesOfOne: 24 * mebibyte },
};

/**
 * The largest file with its form around it, or a text with its escapes; slow lines have time. Two of the largest at the
 * same time, of which one account has one: what arrives is joined and written, and takes its memory several times.
 */
export const uploadBodyLimits = {
  sender: "account" as const,
  bodyBytes: maxUploadBytes + mebibyte / 4,
  bodyMs: 300_000,
  ...{ bodies: 32, bodiesOfOne: 8 },
  ...{ bytes: 44 * mebibyte, bytesOfOne: 22 * mebibyte },
};

/** An hour of talk is some hundred KiB with all that the provider adds; audio is not accepted. */
export const webhookBodyLimits = {
  sender: "address" as const,
  bodyBytes: 8 * mebibyte,
  bodyMs: 30_000,
  ...{ bodies: 32, bodiesOfOne: 16 },
  ...{ bytes: 32 * mebibyte, bytesOfOne: 16 * mebibyte },
};

/**
 * The rules for the /56 and /48 networks around an IPv6 client, whose own network is limited by `rule`. A home or a
 * small site may have many clients at the same time, but no one gets more by moving within the range they were given.
 */
export function networkRulesOf(rule: RateRule): readonly [by56: RateRule, by48: RateRule] {
  let rules = knownNetworkRules.get(rule);
  if (rules === undefined) {
    rules = [
      { ...rule, limit: rule.limit * 4 },
      { ...rule, limit: rule.limit * 16 },
    ];
    knownNetworkRules.set(rule, rules);
  }
  return rules;
}

const knownNetworkRules = new WeakMap<RateRule, readonly [RateRule, RateRule]>();
