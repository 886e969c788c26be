/** A signal for work to stop: the parts of an `AbortSignal` needed for that, at a tenth of its memory. */

/** Called once, unless it was removed before. Must not throw. */
export interface StopListener {
  handleEvent(): void;
}

/** What the work sees. An `AbortSignal` is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: StopListener): void;
  removeEventListener(type: "abort", listener: StopListener): void;
}

/**
 * Signal and controller in one. There is one for each turn under way, and an `AbortController` with its signal takes a
 * kilobyte.
 */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners: StopListener[] = [];

  /** Calls all listeners; further calls do nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    // One by one: a listener may remove another.
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) next.handleEvent();
  }

  addEventListener(_type: "abort", listener: StopListener): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: StopListener): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }
}
