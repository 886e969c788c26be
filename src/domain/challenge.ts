/** Proofs of work that a companion asks of visitors for whom no one vouches, in the form of ALTCHA's version 1. */
import { AppError } from "./errors.ts";

export const challengeModes = ["off", "auto", "always"] as const;
/** `auto`: only while the embed token's rate window is more than half full. */
export type ChallengeMode = (typeof challengeModes)[number];

/** A riddle for a browser: which number was appended to the salt before it was hashed. */
export interface Challenge {
  readonly algorithm: "SHA-256";
  /** The hash of salt and number, in lower-case hexadecimal digits. */
  readonly challenge: string;
  /** The number is from 0 to this one. */
  readonly maxnumber: number;
  /** Random, with the time of its end as `expires` in Unix seconds. */
  readonly salt: string;
  /** Proves that the server has made it, and for which companion. */
  readonly signature: string;
}

/** How long a challenge can be solved, and its solution be used. */
export const challengeLifetimeMs = 5 * 60_000;

/** `challenge_required`, the same for every fault of a solution: with a new challenge it is solved again. */
export function challengeRequired(challenge: Challenge): AppError {
  const sentence =
    "This companion asks for a proof of work. Solve the challenge, and send the solution in X-Challenge.";
  return new AppError("challenge_required", sentence, { members: { challenge } });
}
