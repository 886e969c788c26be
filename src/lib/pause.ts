/** Lets everything else that waits have its turn, in the middle of long work. */

/** Well below what anyone notices in a stream. */
const sliceMs = 4;

function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

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
