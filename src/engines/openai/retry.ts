/** How long to wait before a provider is tried again. */

const firstBackoffMs = 500;
/** A visitor is waiting: a longer `Retry-After` is cut to this, at the cost of one more refusal. */
const maxDelayMs = 5_000;

/** Doubles with each retry, minus up to a quarter so that many replies do not retry at the same time. */
export function chooseRetryDelayMs(retries: number, retryAfterMs: number | null, backoffMs = firstBackoffMs): number {
  const backoff = backoffMs * 2 ** retries * (1 - Math.random() / 4);
  return Math.round(Math.min(Math.max(retryAfterMs ?? 0, backoff), maxDelayMs));
}
