/** Waits without blocking while another process holds a lock. */
import { isBusy, toStoreError } from "./failures.ts";

/** How long a read or write waits for a lock before it gives up. */
export const defaultLockLimitMs = 5_000;
const maxSleepMs = 25;

export function sleepBeforeTry(attempt: number): number {
  return Math.min(maxSleepMs, 2 ** attempt);
}

/** Repeats `work` until no lock is in the way, for at most `limitMs`; then rejects with `unavailable`. */
export async function retryWhileBusy<T>(work: () => T, limitMs = defaultLockLimitMs): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadlineMs) throw toStoreError(error);
    }
    await Bun.sleep(sleepBeforeTry(attempt));
  }
}
