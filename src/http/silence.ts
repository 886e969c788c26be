/** How long a connection may stay silent before it is closed. */

/** Between requests, and while one is on its way. Bun looks every four seconds, so that it can take two more. */
export const idleSeconds = 10;

/** In the middle of a stream, whose pauses are legitimate; over the heartbeat's 10 s. */
export const streamSilenceSeconds = 30;
