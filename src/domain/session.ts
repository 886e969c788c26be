/** Lifetimes of a dashboard session. */

const dayMs = 86_400_000;

/** The session ends after this long without a request. */
export const idleLifetimeMs = 7 * dayMs;

/** The session ends after this long in any case. */
export const lifetimeMs = 30 * dayMs;

/** Characters in a session token: 256 bits in base 62. */
export const sessionTokenLength = 43;
