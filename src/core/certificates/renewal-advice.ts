/** Asks the authority once a day whether the certificate should be replaced before its time. */
import type { RenewalWindow } from "../../contracts/certificates/authority.ts";
import type { KeeperOptions } from "./keeper-options.ts";
import type { StoredCertificate } from "./stored-certificate.ts";

export interface RenewalAdvice {
  /** For the certificate that was last asked for; null without advice. */
  readonly window: RenewalWindow | null;
  /** Asks if it is time. Never rejects: without advice, a certificate is renewed in time all the same. */
  refresh(stored: StoredCertificate | null, signal: AbortSignal): Promise<void>;
}

const hourMs = 60 * 60_000;
const everyMs = 24 * hourMs;
/** Not at the start: a server that starts over and over would ask each time. */
const firstMs = hourMs;

export function createRenewalAdvice(
  { authority, duties, clock, log }: Pick<KeeperOptions, "authority" | "duties" | "clock" | "log">,
  random: () => number,
): RenewalAdvice {
  let askedFor: string | null = null;
  let window: RenewalWindow | null = null;
  let nextMs = clock.nowMs() + firstMs * (1 + random());

  return {
    get window() {
      return window;
    },
    async refresh(stored, signal) {
      if (stored?.cert !== askedFor) window = null;
      const nowMs = clock.nowMs();
      if (stored === null || nowMs < nextMs) return;
      nextMs = nowMs + everyMs;
      try {
        if (!(await duties.take("certificates"))) return;
        window = await authority.findRenewalWindow(stored.cert, signal);
        askedFor = stored.cert;
      } catch (error) {
        log.debug("no renewal information", { error });
      }
    },
  };
}
