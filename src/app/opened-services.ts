/** What `openServices` returns, and what tests replace of it. */
import type { ManagedCertificates } from "../contracts/certificates/certificates.ts";
import type { ErasureMarks } from "../contracts/coordination.ts";
import type { OpenedStorage } from "../contracts/store/engine.ts";
import type { Services } from "../core/dependencies.ts";
import type { SignInPace } from "../core/sign-in/attempts.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { After } from "../lib/spaced-queue.ts";

export interface OpenedServices extends Services {
  /** Null without `--domain`. The listener's caller starts it; `close` stops it. */
  readonly certificates: ManagedCertificates | null;
  /** Resolves with the reason once it can no longer be known what is on disk: the process has to end. */
  readonly lost: Promise<unknown>;
  /** Stops background work and closes the store. Wait for running turns first. */
  close(): Promise<void>;
}

/** What tests replace. */
export interface ServiceOverrides {
  clock?: Clock;
  ids?: IdSource;
  log?: Log;
  storage?: (erasures: ErasureMarks) => Promise<OpenedStorage>;
  /** Times the replies that no one reads. */
  after?: After;
  signInPace?: SignInPace;
  /** When providers are asked for their models first, after the start. */
  modelDatesAfterMs?: number;
  /** How often running turns are asked for their right. */
  lookEveryMs?: number;
}
