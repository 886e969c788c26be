/** Who may begin something without a visitor token: whoever has solved a challenge of the companion. */

export interface Challenges {
  /** The refusal of a request without a good solution, with a new challenge for this companion. */
  refusal(companionId: string): Promise<Error>;
  /** The solution in a header, or null if it is malformed, wrong, over, or another companion's. */
  open(companionId: string, payload: string): Promise<Solution | null>;
  /** Whether nothing but a message that its client named may be begun with it again. */
  isUsedUp(solution: Solution): Promise<boolean>;
  /**
   * Lets the solution begin something, and nothing else from then on; `use` says what, and null that it cannot be
   * repeated. Rejects with `challenge_required` if it began something else before, or this as often as it may. Of several
   * at once, one wins.
   */
  spend(companionId: string, solution: Solution, use: RepeatableUse | null): Promise<void>;
}

export interface RepeatableUse {
  readonly name: string;
  /** How often it may begin again with the same solution. */
  readonly repeats: number;
}

export interface Solution {
  readonly signature: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}
