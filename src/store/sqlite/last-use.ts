/** Writes last uses: a later one replaces an earlier one. */

/**
 * Part of an UPDATE, with one parameter: the time of the use. Uses written out of order are seconds apart. A use that
 * is more than a minute earlier is correct all the same: the clock was ahead before.
 */
export const setLastUse = `last_used_at = (SELECT iif(last_used_at BETWEEN used_at AND used_at + 60000, last_used_at, used_at)
  FROM (SELECT ? AS used_at))`;
