/** Bounds that hold in every engine. */

/** How long a response is stored for retries, in milliseconds. */
export const idempotencyLifetimeMs = 24 * 60 * 60_000;

/** A page of messages ends after this much text, however few there are: a bound on the memory of one response. */
export const messagePageBytes = 2 * 1024 * 1024;

/** The maximum lock or delay of a voice agent. Anything longer was written by a clock that has since been set back. */
export const maxVoiceWaitMs = 2 * 60 * 60_000;
