/** Lets everything else that waits have its turn, in the middle of long work. */

/** Well below what anyone notices in a stream. */
const sliceMs = 4;

/** Of all who wait for one of these turns, one goes on in each turn of the event loop, in order. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    const before = last;
    last = new Promise((resolve) => void before.then(() => setImmediate(resolve)));
    return last;
  };
}

/**
 * To be awaited between two slices of a few milliseconds: else ten long requests would hold the event loop for ten slices
 * at a time.
 */
export const pause = createTurns();

/** Tells when work has held the event loop long enough. */
export class Slices {
  #untilMs = performance.now() + sliceMs;

  /** To be asked often: it costs less than a microsecond. If so, `pause` comes next. */
  get isOver(): boolean {
    return performance.now() >= this.#untilMs;
  }

  async pause(): Promise<void> {
    await pause();
    this.#untilMs = performance.now() + sliceMs;
  }
}
