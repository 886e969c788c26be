/** Holds back for a moment what a fast provider adds to a text that has only just been sent: many tokens, one packet. */

/**
 * Less than a screen takes for a new picture. Models of up to 250 tokens a second, evenly spaced, are not held back; the
 * thousands of the fastest would otherwise be a system call and a packet each.
 */
export const writeGapMs = 4;

export interface HeldStream {
  /** Sends what is held. */
  release(): void;
}

/** One timer for all streams. */
export class WritePacer {
  #held: HeldStream[] = [];
  readonly #schedule: (release: () => void) => void;
  readonly #releaseAll = () => {
    const held = this.#held;
    this.#held = [];
    for (const stream of held) {
      try {
        stream.release();
      } catch {
        // Its connection broke just now, which its own signal tells; those behind it must not wait for ever.
      }
    }
  };

  /** `schedule` calls once, after the gap; `nowMs` is monotonic. */
  constructor(
    readonly nowMs: () => number = () => performance.now(),
    schedule: (release: () => void) => void = (release) => setTimeout(release, writeGapMs),
  ) {
    this.#schedule = schedule;
  }

  /** Releases the stream within the gap. */
  hold(stream: HeldStream): void {
    this.#held.push(stream);
    if (this.#held.length === 1) this.#schedule(this.#releaseAll);
  }
}

/** The process's own. */
export const writePacer = new WritePacer();
