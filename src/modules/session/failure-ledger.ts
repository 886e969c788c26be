/** Failed attempts by subject, forgotten an hour after the last one; bounded, the least recent leave. */
import type { Clock } from "../../lib/clock.ts";

const forgetAfterMs = 60 * 60_000;
const maxSubjects = 50_000;

interface Entry {
  count: number;
  lastMs: number;
}

export interface Failure {
  /** How many there are now, this one included. */
  readonly count: number;
  /** It was none after all. To be called once at most. */
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

  /** Notes a failure. */
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
        // As if it had not been, also for how long ago the last one was.
        this.#keep(subject, { count: entry.count - 1, lastMs: entry.lastMs === lastMs ? beforeMs : entry.lastMs });
      },
    };
  }

  clear(subject: string): void {
    this.#entries.delete(subject);
  }

  #keep(subject: string, entry: Entry): void {
    // To the end: the first ones are the least recent.
    this.#entries.delete(subject);
    if (entry.count > 0) this.#entries.set(subject, entry);
    if (this.#entries.size <= maxSubjects) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
