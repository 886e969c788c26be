/** How long a dashboard session lasts. */

const dayMs = 86_400_000;

/** Without a request for this long it ends. */
export const idleLifetimeMs = 7 * dayMs;

/** It ends then in any case. */
export const lifetimeMs = 30 * dayMs;

/** Characters of a session's token: 256 bits in base 62. */
export const sessionTokenLength = 43;
