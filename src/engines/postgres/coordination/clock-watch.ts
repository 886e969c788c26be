/** Tells the operator when this machine's clock and the database's are apart, and when they agree again. */
import type { Log } from "../../../lib/log.ts";

/** Nothing depends on less. `doctor` and the alert in `deploy/` have the same bound. */
const apartMs = 1000;

export class ClockWatch {
  readonly #log: Log;
  #isApart = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `offsetMs` is what is added to this machine's time to get the database's. */
  look(offsetMs: number): void {
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
