/** Several abort signals as one, also where browsers have no `AbortSignal.any`. */

export interface JoinedSignal {
  signal: AbortSignal;
  abort(reason: unknown): void;
  /** Must be called: signals can outlive many calls. */
  release(): void;
}

/** Fires with the first of them, or by `abort`. */
export function joinSignals(...signals: (AbortSignal | undefined)[]): JoinedSignal {
  const controller = new AbortController();
  const stops = signals.map((signal) => {
    const leave = () => controller.abort(signal?.reason);
    if (signal?.aborted) leave();
    signal?.addEventListener("abort", leave);
    return () => signal?.removeEventListener("abort", leave);
  });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release() {
      for (const stop of stops) stop();
    },
  };
}

/** The promise goes on without those who no longer wait for it. */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
