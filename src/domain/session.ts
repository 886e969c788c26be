/** How long a dashboard session lasts. */

const dayMs = 86_400_000;

/** Without a request for this long it ends. */
export const idleLifetimeMs = 7 * dayMs;

/** It ends then in any case. */
export const lifetimeMs = 30 * dayMs;
