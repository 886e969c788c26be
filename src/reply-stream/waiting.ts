/** When clients try again, and how they wait for it. */
import { CompanionError } from "./errors.ts";

/** Before each try to come back to a stream that was cut. */
export const reconnectDelaysMs: readonly number[] = [1000, 2000, 4000];
/** Before the first further try of a request; doubled each time, and up to as much again by chance, so that many clients part. */
const backOffMs = 500;

/** Rejects with the signal's reason once that fires. */
export type Wait = (durationMs: number, signal: AbortSignal | undefined) => Promise<void>;

export interface RetryOptions {
  /** Further tries at most. */
  retries: number;
  /** A longer wait that the server asks for is left to the caller. */
  maxRetryWaitMs: number;
  /** Whether the failure says that a second try cannot do a thing twice. */
  canRetry(error: CompanionError): boolean;
  signal: AbortSignal | undefined;
  wait?: Wait;
}

export async function retry<Value, Options extends RetryOptions>(
  attempt: (options: Options) => Promise<Value>,
  options: Options,
): Promise<Value> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt(options);
    } catch (error) {
      if (!(error instanceof CompanionError) || tries >= options.retries || !options.canRetry(error)) throw error;
      const waitMs = error.retryAfterMs ?? backOffMs * 2 ** tries * (1 + Math.random());
      if (waitMs > options.maxRetryWaitMs) throw error;
      await (options.wait ?? sleep)(waitMs, options.signal);
    }
  }
}

export const sleep: Wait = (durationMs, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, durationMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
