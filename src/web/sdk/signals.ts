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
