/**
 * What the rest of the server knows of visitors: how the tokens that websites sign for them are checked, how a token's
 * claims are stored, and how those without one begin. Knows no HTTP; `http/embed-guard.ts` asks it.
 */
import type { Companion } from "../../domain/companion.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";

/** How visitors without a token begin: after solving a challenge of the companion. */
export interface Challenges {
  /** The refusal of a request without a good solution, with a new challenge for this companion. */
  refusal(companionId: string): Promise<Error>;
  /** The solution in a header, or null if it is malformed, wrong, over, or another companion's. */
  open(companionId: string, payload: string): Promise<Solution | null>;
  /** Whether nothing but a message that its client named may be begun with it again. */
  isUsedUp(solution: Solution): Promise<boolean>;
  /**
   * Lets the solution begin something, and nothing else from then on; `use` names it, and null that it cannot be
   * repeated. Rejects with `challenge_required` if it began something else before, or this as often as it may. Of several
   * at the same time, one wins.
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

/** A visitor whose token was good. */
export interface VerifiedVisitor {
  /** As in `ConversationKey`: the same for every token of the account with this `sub`. */
  readonly id: string;
  readonly claims: VisitorClaims;
  /** When the token ends, in epoch milliseconds; left out where a platform vouches. */
  readonly tokenEndsAtMs?: number;
}

export interface Visitors {
  /**
   * The visitor of a token for this companion. Rejects with `visitor_unverified`, and the same sentence no matter what is
   * wrong with the token, or its key vouches for other companions; with `unavailable` if the keys cannot be read. No verdict is kept: a revoked key opens
   * nothing on the next request.
   */
  verify(companion: Pick<Companion, "id" | "accountId" | "metadata">, token: string): Promise<VerifiedVisitor>;
  /** The visitor for whom a platform vouches with its API key: as a token would. */
  vouch(accountId: string, claims: VisitorClaims): Promise<VerifiedVisitor>;
  /**
   * The id under which conversations of the account's visitor `sub` are stored. Null if there can be none, since no one
   * was ever verified: looking it up makes no key.
   */
  findId(accountId: string, sub: string): Promise<string | null>;
  /** What the store keeps of a visitor: `sealedVisitor`. */
  seal(visitor: VerifiedVisitor): Promise<string>;
  /** Null if it cannot be opened, which is logged. */
  open(visitorId: string, sealed: string): Promise<VisitorClaims | null>;
}
