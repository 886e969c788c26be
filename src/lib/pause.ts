/** Lets everything else that waits have its turn, in the middle of long work. */

/** Well below what anyone notices in a stream. */
const sliceMs = 4;

let last: Promise<void> = Promise.resolve();

/**
 * To be awaited between two slices of a few milliseconds. Of all that waits here, one goes on in each turn of the event
 * loop, in order: else ten long requests would hold it for ten slices at a time.
 */
export function pause(): Promise<void> {
  const before = last;
  last = new Promise((resolve) => void before.then(() => setImmediate(resolve)));
  return last;
}

/** Shows when work has held the event loop long enough. */
export class Slices {
  readonly #ms: number;
  #untilMs: number;

  constructor(ms = sliceMs) {
    this.#ms = ms;
    this.#untilMs = performance.now() + ms;
  }

  /** To be asked often: it costs less than a microsecond. If so, `pause` comes next. */
  get isOver(): boolean {
    return performance.now() >= this.#untilMs;
  }

  async pause(): Promise<void> {
    await pause();
    this.#untilMs = performance.now() + this.#ms;
  }
}
