/** Maintained certificates on files of a directory, with a clock and timers that tests move. */
import type { Authority } from "../../src/contracts/certificates/authority.ts";
import type { ManagedCertificates } from "../../src/contracts/certificates/certificates.ts";
import type { CertificateOptions } from "../../src/core/certificates/certificate-options.ts";
import { openManagedCertificates } from "../../src/core/certificates/managed-certificates.ts";
import { createAcmeAuthority } from "../../src/engines/acme/acme-authority.ts";
import { createFileCertificateStore } from "../../src/engines/certificate-stores/files.ts";
import { createCapturedLog } from "./captured-log.ts";
import { eventually } from "./eventually.ts";
import { createManualClock } from "./manual-clock.ts";
import type { Pebble } from "./pebble.ts";

export const hourMs = 60 * 60_000;
export const dayMs = 24 * hourMs;

export interface KeptCertificate extends AsyncDisposable {
  readonly certificates: ManagedCertificates;
  readonly log: ReturnType<typeof createCapturedLog>;
  readonly outcomes: string[];
  /** Moves the clock, and lets what came due begin. */
  pass(durationMs: number): void;
  /** Until it has checked, and waits for the next time. */
  rest(): Promise<void>;
}

export type Choices = Partial<CertificateOptions> & {
  path: string;
  pebble?: Pebble;
  /** Whether `pebble` finds this server under all names. */
  isFound?: boolean;
  startMs?: number;
};

const nobody: Authority = {
  makeAccountKey: async () => createAcmeAuthority("https://127.0.0.1:1/").makeAccountKey(),
  order: () => Promise.reject(new Error("no authority was chosen")),
  findRenewalWindow: async () => null,
};

/** Begins immediately. */
export async function keepCertificate(given: Choices): Promise<KeptCertificate> {
  const { path, pebble, isFound = true, startMs, ...choices } = given;
  const clock = createManualClock(startMs ?? Date.now());
  const log = createCapturedLog();
  const timers = new Set<{ dueMs: number; act: () => void }>();
  const outcomes: string[] = [];
  const directory = pebble?.directory ?? "https://authority.example/dir";
  const certificates = await openManagedCertificates({
    names: ["chat.example.com"],
    email: null,
    directory,
    authority: pebble === undefined ? nobody : createAcmeAuthority(directory, pebble.fetch),
    store: createFileCertificateStore(path),
    checkName: async () => null,
    duties: { take: async () => true },
    clock,
    log,
    count: (outcome) => void outcomes.push(outcome),
    after(durationMs, act) {
      const timer = { dueMs: clock.nowMs() + durationMs, act };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    random: () => 0,
    ...choices,
  });
  if (isFound) pebble?.answer((token) => certificates.findChallenge(token));
  certificates.start();
  return {
    certificates,
    log,
    outcomes,
    pass(durationMs) {
      clock.advance(durationMs);
      for (const timer of timers) {
        if (timer.dueMs > clock.nowMs()) continue;
        timers.delete(timer);
        timer.act();
      }
    },
    rest: () => eventually(() => timers.size > 0, { what: "the certificates to rest" }),
    [Symbol.asyncDispose]: () => certificates.stop(),
  };
}
