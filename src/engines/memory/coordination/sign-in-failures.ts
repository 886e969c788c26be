/** Failed attempts to sign in, in memory. */
import type { SignInFailure, SignInFailureKind, SignInFailures } from "../../../contracts/coordination.ts";
import type { Clock } from "../../../lib/clock.ts";

const forgetAfterMs = 60 * 60_000;
const maxWaitMs = 15 * 60_000;
const maxSubjects = 50_000;

interface Entry {
  count: number;
  lastMs: number;
}

/** Failures of one kind, by subject. */
class FailureLedger {
  readonly #entries = new Map<string, Entry>();
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

  add(subject: string): SignInFailure {
    const beforeMs = this.#entries.get(subject)?.lastMs ?? 0;
    const lastMs = this.#clock.monotonicMs();
    const count = this.count(subject) + 1;
    this.#keep(subject, { count, lastMs });
    return {
      count,
      takeBack: () => {
        const entry = this.#entries.get(subject);
        if (entry === undefined) return;
        // Restore the previous state, including the time of the last failure.
        this.#keep(subject, { count: entry.count - 1, lastMs: entry.lastMs === lastMs ? beforeMs : entry.lastMs });
      },
    };
  }

  clear(subject: string): void {
    this.#entries.delete(subject);
  }

  #keep(subject: string, entry: Entry): void {
    // Move it to the end, so that the least recent come first.
    this.#entries.delete(subject);
    if (entry.count > 0) this.#entries.set(subject, entry);
    if (this.#entries.size <= maxSubjects) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

export function createSignInFailures(clock: Pick<Clock, "monotonicMs">): SignInFailures {
  const ledgers: Readonly<Record<SignInFailureKind, FailureLedger>> = {
    client: new FailureLedger(clock),
    account: new FailureLedger(clock),
    code: new FailureLedger(clock),
  };

  function waitMsOf(ledger: FailureLedger, subject: string, free: number): number {
    const failures = ledger.count(subject);
    if (failures < free) return 0;
    return Math.min(1000 * 2 ** (failures - free), maxWaitMs) - ledger.sinceLastMs(subject);
  }

  return {
    count: async (kind, subject) => ledgers[kind].count(subject),
    add: async (kind, subject) => ledgers[kind].add(subject),
    async addUnlessWaiting(kind, subject, free) {
      const waitMs = waitMsOf(ledgers[kind], subject, free);
      return waitMs > 0 ? { waitMs } : ledgers[kind].add(subject);
    },
    clear: (kind, subject) => ledgers[kind].clear(subject),
  };
}
