/** Ends waits in time: with a deadline, or with the signal of a caller that no longer needs the result. */

export interface Deadline {
  /** Fires with the given one, or when the time is over. */
  readonly signal: AbortSignal;
  /** Stops the clock. To be called however the work ended. */
  end(): void;
}

/** `makeReason` is what the signal's reason becomes when the time is over. */
export function startDeadline(signal: AbortSignal, timeoutMs: number, makeReason: () => unknown): Deadline {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const cancel = afterAnswerable(timeoutMs, () => controller.abort(makeReason()));
  return {
    signal: controller.signal,
    end() {
      cancel();
      signal.removeEventListener("abort", stop);
    },
  };
}

/** Of which a pause of this process uses up one at most. */
const parts = 10;

/**
 * Calls `act` when others have had so much time to answer; the returned function cancels it. A process that was busy
 * itself, or not run, finds this timer due before it has read what arrived meanwhile, and would take others for lost.
 */
export function afterAnswerable(durationMs: number, act: () => void): () => void {
  let left = parts;
  const pass = () => {
    if (--left === 0) act();
    else timer = setTimeout(pass, durationMs / parts);
  };
  let timer = setTimeout(pass, durationMs / parts);
  return () => clearTimeout(timer);
}

/** For work that cannot be stopped, only left behind: rejects with the signal's reason as soon as that fires. */
export async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  // No one may be listening any more when either fails.
  stopped.catch(() => {});
  work.catch(() => {});
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([stopped, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Rejects with the signal's reason. */
export async function waitFor(timeMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  try {
    await unlessAborted(signal, promise);
  } finally {
    clearTimeout(timer);
  }
}
