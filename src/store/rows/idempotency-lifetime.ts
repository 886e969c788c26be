/** How long a response is stored for retries, in milliseconds. */
export const idempotencyLifetimeMs = 24 * 60 * 60_000;
