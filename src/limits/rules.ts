/** The numbers: every rate rule of the program, in one place. */
import type { Plan } from "../domain/account.ts";
import type { RateRule } from "./limiter.ts";

export interface RateRules {
  /** Embed requests by client address, counted first so that tokens cannot be guessed fast. */
  readonly ip: RateRule;
  /** Embed requests by embed token, by the plan of its account. */
  readonly token: Readonly<Record<Plan, RateRule>>;
  /** Management requests by API key. */
  readonly key: RateRule;
  /** The same by dashboard session, as many. */
  readonly session: RateRule;
  /**
   * Attempts to sign in by client address, right ones included: bounds what passwords cost us. Guessing at one account
   * is held back where failures are counted; a limit by account would let anyone lock its owner out.
   */
  readonly signInByIp: RateRule;
  /** Calls of the webhook by client address, before their signature is checked. */
  readonly webhook: RateRule;
}

/** Requests a minute that the operator may set. */
export interface RateSettings {
  readonly ratePerToken: Readonly<Record<Plan, number>>;
  readonly ratePerIp: number;
  readonly ratePerKey: number;
}

const defaultRates: RateSettings = { ratePerToken: { free: 30, paid: 30 }, ratePerIp: 10, ratePerKey: 600 };

export function createRateRules(rates: RateSettings = defaultRates): RateRules {
  return {
    ip: { name: "ip", limit: rates.ratePerIp, windowMs: minuteMs },
    token: {
      free: { name: "token", limit: rates.ratePerToken.free, windowMs: minuteMs },
      paid: { name: "token", limit: rates.ratePerToken.paid, windowMs: minuteMs },
    },
    key: { name: "key", limit: rates.ratePerKey, windowMs: minuteMs },
    session: { name: "session", limit: rates.ratePerKey, windowMs: minuteMs },
    signInByIp: { name: "sign_in", limit: 30, windowMs: minuteMs },
    webhook: { name: "webhook", limit: 600, windowMs: minuteMs },
  };
}

const minuteMs = 60_000;

/**
 * What the networks around an IPv6 client are bound by, /56 and /48, where a client's own is bound by `rule`: a home or a
 * small site may have many clients at once, but nobody has more by moving within what they were given.
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
