/** Proofs of work that a companion asks of visitors whom nobody vouches for. */

export const challengeModes = ["off", "auto", "always"] as const;
/** `auto`: only while the embed token's rate window is more than half full. */
export type ChallengeMode = (typeof challengeModes)[number];
