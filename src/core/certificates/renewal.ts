/** When a certificate is due to be replaced, and whether its authority wants that before its time. */
import type { RenewalWindow } from "../../contracts/certificates/authority.ts";
import type { CertificateOptions } from "./certificate-options.ts";
import { isForNames, type StoredCertificate } from "./stored-certificate.ts";

interface RenewalAdvice {
  /** For the certificate that was last asked for; null without advice. */
  readonly window: RenewalWindow | null;
  /** Asks if it is time. Never rejects: without advice, a certificate is renewed in time all the same. */
  refresh(stored: StoredCertificate | null, signal: AbortSignal): Promise<void>;
}

const hourMs = 60 * 60_000;
const everyMs = 24 * hourMs;
/** Not at the start: a server that starts over and over would ask each time. */
const firstMs = hourMs;

/** Asks the authority once a day whether the certificate should be replaced before its time. */
export function createRenewalAdvice(
  { authority, duties, clock, log }: Pick<CertificateOptions, "authority" | "duties" | "clock" | "log">,
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

/** Let's Encrypt issues five for the same names in a week: one in 34 hours. */
const duplicateGapMs = 34 * hourMs;
/** The authority itself asked for it. */
const askedGapMs = 12 * hourMs;
const maxJitterMs = 6 * hourMs;

interface Wanted {
  readonly names: readonly string[];
  readonly authority: string;
  /** From 0 up to, but not including, 1; the same for the whole life of a certificate. */
  readonly random: number;
  readonly window: RenewalWindow | null;
}

/** Epoch milliseconds; in the past if it is due now. */
export function findDue(stored: StoredCertificate | null, { names, authority, random, window }: Wanted): number {
  if (stored === null || !isForNames(stored, names)) return 0;
  if (stored.authority !== null && stored.authority !== authority) return 0;
  const { validFromMs, expiresAtMs, obtainedAtMs } = stored;
  const lifeMs = expiresAtMs - validFromMs;
  const jitterMs = random * Math.min(lifeMs / 20, maxJitterMs);
  const twoThirdsMs = validFromMs + (2 / 3) * lifeMs + jitterMs;
  // A clock that is wrong must not order one certificate after the other.
  const gapMs = Math.min(duplicateGapMs, lifeMs / 3);
  const dueMs = Math.max(twoThirdsMs, (obtainedAtMs ?? 0) + gapMs);
  if (window === null) return dueMs;
  const askedMs = window.fromMs + random * (window.toMs - window.fromMs);
  return Math.min(dueMs, Math.max(askedMs, (obtainedAtMs ?? 0) + Math.min(askedGapMs, gapMs)));
}
