/** Page views that were refused: counted for scrapes, and for a day kept as a hint for operators. */
import type { RateRules } from "../../contracts/limiter/rules.ts";

/** As in `RateLimit`; `read` is the window of those who only read, while a companion asks for work. */
type RefusingWindow = "ip" | "token" | "read";

/** Those of a day without a pause of a day. */
interface RecentRefusals {
  readonly count: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

export class RefusedConfigs {
  readonly counts: Record<RefusingWindow, number> = { ip: 0, token: 0, read: 0 };
  /** By what they were counted; the two windows of a token need the same setting. */
  readonly #recent: { ip: RecentRefusals | null; token: RecentRefusals | null } = { ip: null, token: null };

  note(window: RefusingWindow, nowMs: number): void {
    this.counts[window]++;
    const by = window === "ip" ? "ip" : "token";
    const { count, sinceMs } = this.recent(by, nowMs) ?? { count: 0, sinceMs: nowMs };
    this.#recent[by] = { count: count + 1, sinceMs, lastMs: nowMs };
  }

  /** Null if none was refused for a day. */
  recent(by: "ip" | "token", nowMs: number): RecentRefusals | null {
    const refusals = this.#recent[by];
    return refusals === null || nowMs - refusals.lastMs >= forgetAfterMs ? null : refusals;
  }
}

const forgetAfterMs = 24 * 60 * 60_000;

export interface RefusedConfigHint extends RecentRefusals {
  readonly window: "ip" | "token";
  readonly detail: string;
  /** Which setting mends it. */
  readonly advice: string;
}

/** What an operator should know of the last day; empty where no page view was refused. */
export function listRefusedConfigs(
  { refusedConfigs, untrustedForwards }: { refusedConfigs: RefusedConfigs; untrustedForwards: number },
  rules: RateRules,
  nowMs: number,
): RefusedConfigHint[] {
  return (["ip", "token"] as const).flatMap((window) => {
    const refusals = refusedConfigs.recent(window, nowMs);
    if (refusals === null) return [];
    const isByIp = window === "ip";
    const { ip, token } = rules.config;
    const limit = isByIp ? ip.limit : Math.max(token.free.limit, token.paid.limit);
    const views = refusals.count === 1 ? "1 page view was" : `${refusals.count} page views were`;
    const proxy =
      isByIp && untrustedForwards > 0
        ? "A proxy in front makes all visitors one address: set COMPANIOND_TRUST_PROXY first. "
        : "";
    const setting = `Set COMPANIOND_CONFIG_RATE_PER_${isByIp ? "IP" : "TOKEN"} to more than ${limit} a minute`;
    const gain = ip === rules.ip ? ": page views then have windows of their own, and take no visitor's message." : ".";
    const detail = `${views} refused (429), since ${isByIp ? "their address" : "their companion"} had too many in a minute.`;
    return [{ ...refusals, window, detail, advice: `${proxy}${setting}${gain}` }];
  });
}
