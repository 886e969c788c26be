/**
 * Holds back guessers without locking owners out: one client's failures on an account make that client wait, everyone's
 * failures on an account together make each further attempt slower, and nothing ever refuses an account as a whole.
 */
import { AppError } from "../../domain/errors.ts";
import type { Clock } from "../../lib/clock.ts";

/** Failures of one client on one account that cost nothing. */
const freeByClient = 5;
const longestRefusalMs = 15 * 60_000;

/** Failures of all clients on one account that cost nothing. */
const freeByAccount = 10;
const firstDelayMs = 250;
const longestDelayMs = 4000;

const forgetAfterMs = 60 * 60_000;
const maxSubjects = 50_000;

export interface Attempt {
  /** Failed attempts on the account in the last hour, from anywhere, this one included. */
  readonly accountFailures: number;
  /** The password was right, or never compared: the attempt does not count. */
  forgive(isSignedIn: boolean): void;
}

interface AttemptParts {
  clock: Pick<Clock, "monotonicMs">;
  wait?: (durationMs: number) => Promise<void>;
}

export interface Attempts {
  /**
   * Notes an attempt as failed until it is forgiven, so that many at once count each other, and waits as long as the
   * account's failures ask. Throws `rate_limited` while the client has to wait; that does not prolong its wait.
   */
  begin(client: string, email: string): Promise<Attempt>;
}

export function createAttempts({ clock, wait = sleep }: AttemptParts): Attempts {
  const byClient = new FailureLedger(clock);
  const byAccount = new FailureLedger(clock);
  return {
    async begin(client, email) {
      const subject = `${client} ${email}`;
      const refusedMs = byClient.sinceLastMs(subject);
      const leftMs = refusalMs(byClient.count(subject)) - refusedMs;
      if (leftMs > 0) {
        throw new AppError("rate_limited", "Too many failed sign-ins from this address. Wait, then try again.", {
          retryAfterSeconds: Math.ceil(leftMs / 1000),
        });
      }
      byClient.add(subject, 1);
      const accountFailures = byAccount.add(email, 1);
      const attempt: Attempt = {
        accountFailures,
        forgive(isSignedIn) {
          if (isSignedIn) byClient.clear(subject);
          else byClient.add(subject, -1);
          byAccount.add(email, -1);
        },
      };
      const holdMs = delayMs(accountFailures - 1);
      if (holdMs > 0) await wait(holdMs);
      return attempt;
    },
  };
}

function refusalMs(failures: number): number {
  return failures < freeByClient ? 0 : Math.min(1000 * 2 ** (failures - freeByClient), longestRefusalMs);
}

function delayMs(failures: number): number {
  return failures < freeByAccount ? 0 : Math.min(firstDelayMs * 2 ** (failures - freeByAccount), longestDelayMs);
}

/** Counts by subject that are forgotten an hour after the last one; bounded, the least recent leave. */
class FailureLedger {
  readonly #entries = new Map<string, { count: number; lastMs: number }>();
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  count(subject: string): number {
    return this.sinceLastMs(subject) < forgetAfterMs ? (this.#entries.get(subject)?.count ?? 0) : 0;
  }

  sinceLastMs(subject: string): number {
    const entry = this.#entries.get(subject);
    return entry ? this.#clock.monotonicMs() - entry.lastMs : Number.POSITIVE_INFINITY;
  }

  add(subject: string, change: number): number {
    const count = Math.max(0, this.count(subject) + change);
    this.#entries.delete(subject);
    if (count > 0) this.#entries.set(subject, { count, lastMs: this.#clock.monotonicMs() });
    if (this.#entries.size > maxSubjects) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    return count;
  }

  clear(subject: string): void {
    this.#entries.delete(subject);
  }
}

function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
