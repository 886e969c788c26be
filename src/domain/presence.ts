/** Who of the team is there for visitors. */

/** A member is present while their dashboard has had a stream within this. */
export const presentMs = 60_000;
/** How long a key can make someone present. */
export const maxPresenceMs = 3_600_000;
/** Whom an account's keys make present within an hour: all of them are read for each page view. */
export const maxPresent = 200;
