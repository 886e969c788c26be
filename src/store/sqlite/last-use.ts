/** How last uses are written: a later one over an earlier one. */

/**
 * Part of an UPDATE, with one parameter, the use's instant. Uses written out of turn are seconds apart; one that is
 * earlier by more than a minute is right all the same: the clock was ahead before.
 */
export const setLastUse = `last_used_at = (SELECT iif(last_used_at BETWEEN used_at AND used_at + 60000, last_used_at, used_at)
  FROM (SELECT ? AS used_at))`;
