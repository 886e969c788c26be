/** How long a connection may be silent before it is closed. */

/** Between requests, and while one arrives. Bun checks every four seconds, so it may take longer. */
export const idleSeconds = 10;

/** During a stream, which may pause; more than the heartbeat's 10 s. */
export const streamSilenceSeconds = 30;
