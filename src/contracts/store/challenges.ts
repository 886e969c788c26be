/** Solved challenges that began something, remembered until they would be worthless anyway. */

export interface SpentChallenge {
  /** Names the challenge; made by the server. */
  readonly signature: string;
  /** What it may begin again, and how often; null for nothing. */
  readonly use: { readonly name: string; readonly repeats: number } | null;
  readonly expiresAt: number;
}

export interface ChallengeStore {
  /**
   * Remembers the challenge. False if it was spent before, for another use, for one that cannot be repeated, or for this
   * one as often as it allowed the first time: then nothing is written. Of several concurrent calls with different uses, at
   * any servers, one gets true.
   */
  spend(challenge: SpentChallenge): Promise<boolean>;
  /** Whether it was spent for a use that cannot be repeated. One lookup by key. */
  isUsedUp(signature: string): Promise<boolean>;
  /** Deletes up to `limit` that are over; returns how many. */
  purge(nowMs: number, limit: number): Promise<number>;
}
