/** Waits for a lock of another process without holding up the event loop: short sleeps between tries. */
import { isBusy, toStoreError } from "./failures.ts";

/** How long a read or write waits for a lock before it is given up. */
export const defaultLockLimitMs = 5_000;
const longestSleepMs = 25;

export function sleepBeforeTry(attempt: number): number {
  return Math.min(longestSleepMs, 2 ** attempt);
}

/** Runs `work` until it meets no lock, for at most `limitMs`; rejects with `unavailable` after that. */
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
