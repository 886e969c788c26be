/** When clients try again, and how they wait for it. */

/** Before each try to come back to a stream that was cut. */
export const reconnectDelaysMs: readonly number[] = [1000, 2000, 4000];

/** Rejects with the signal's reason once that fires. */
export type Wait = (durationMs: number, signal: AbortSignal | undefined) => Promise<void>;

export function sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, durationMs);
    signal?.addEventListener("abort", stop);
  });
}
