/** Failed attempts by subject, dropped an hour after the last one. Bounded: the least recent are evicted. */
import type { Clock } from "../../lib/clock.ts";

const forgetAfterMs = 60 * 60_000;
const maxSubjects = 50_000;

interface Entry {
  count: number;
  lastMs: number;
}

export interface Failure {
  /** The number of failures so far, including this one. */
  readonly count: number;
  /** Withdraws it: it was not a failure after all. Call it once at most. */
  takeBack(): void;
}

export class FailureLedger {
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

  /** Records a failure. */
  add(subject: string): Failure {
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
