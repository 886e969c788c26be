/** How far the database's clock is from this machine's, so that all servers use the same time. */

import type { Log } from "../../../lib/log.ts";
import type { Session } from "./session.ts";

export interface ClockSample {
  /** What to add to our time, in milliseconds; right to half the round trip. */
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

/** An offset below this is not corrected: it is more noise than knowledge. */
const toleranceMs = 50;
const keptSamples = 10;
const firstSamples = 4;
/** Samples that differ by more than their errors, and what clocks drift meanwhile, are of clocks that were set. */
const driftMs = 20;
/** Corrections below this come bit by bit. */
const jumpMs = 500;
const shareEachTime = 0.2;

export class InstanceClock {
  /** What to add to this machine's time, in milliseconds. */
  offsetMs = 0;
  #samples: ClockSample[] = [];

  /** A few samples in a row, for the start. */
  async start(session: Session): Promise<void> {
    for (let i = 0; i < firstSamples; i++) this.#keep(await takeSample((text) => session.ask(text)));
    this.offsetMs = this.#target();
  }

  async measure(session: Session): Promise<void> {
    this.add(await takeSample((text) => session.ask(text)));
  }

  add(sample: ClockSample): void {
    this.#keep(sample);
    const changeMs = this.#target() - this.offsetMs;
    if (Math.abs(changeMs) > jumpMs || Math.abs(changeMs) < 1) this.offsetMs += changeMs;
    else this.offsetMs += changeMs * shareEachTime;
  }

  #keep(sample: ClockSample): void {
    const best = this.#best();
    const error = best === null ? 0 : (best.roundTripMs + sample.roundTripMs) / 2 + driftMs;
    if (best !== null && Math.abs(sample.offsetMs - best.offsetMs) > error) this.#samples = [];
    this.#samples.push(sample);
    if (this.#samples.length > keptSamples) this.#samples.shift();
  }

  #best(): ClockSample | null {
    return this.#samples.reduce<ClockSample | null>(
      (best, sample) => (best === null || sample.roundTripMs < best.roundTripMs ? sample : best),
      null,
    );
  }

  #target(): number {
    const offsetMs = this.#best()?.offsetMs ?? 0;
    return Math.abs(offsetMs) < toleranceMs ? 0 : offsetMs;
  }
}

/** `ask` sends a statement once. */
export async function takeSample(ask: (text: string) => Promise<{ nowMs: number }[]>): Promise<ClockSample> {
  const askedMs = Date.now();
  const startedMs = performance.now();
  const [row] = await ask(`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`);
  const roundTripMs = performance.now() - startedMs;
  if (row === undefined) throw new Error("PostgreSQL does not report the time");
  return { offsetMs: row.nowMs - (askedMs + roundTripMs / 2), roundTripMs };
}

/** Nothing depends on less. `doctor` and the alert in `deploy/` have the same bound. */
const apartMs = 1000;

/** Warns the operator when this machine's clock and the database's are apart, and when they agree again. */
export class ClockWatch {
  readonly #log: Log;
  #isApart = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `offsetMs` is what is added to this machine's time to get the database's. */
  check(offsetMs: number): void {
    const isApart = Math.abs(offsetMs) > apartMs;
    if (isApart === this.#isApart) return;
    this.#isApart = isApart;
    if (isApart) {
      this.#log.warn("this machine's clock and the database's are apart: the database's is used, set both with NTP", {
        offsetMs: Math.round(offsetMs),
      });
    } else {
      this.#log.info("this machine's clock and the database's agree again");
    }
  }
}
