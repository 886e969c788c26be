/**
 * Verified visitors: checks the tokens that websites sign for them, and turns what a token says into what is stored.
 * Knows no HTTP; `http/embed-guard.ts` asks it before every embed request of a companion that wants to know its visitors.
 */
import type { Companion } from "../../domain/companion.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";

/** A visitor whose token was good. */
export interface VerifiedVisitor {
  /** As in `ConversationKey`: the same for every token of the account with this `sub`. */
  readonly id: string;
  readonly claims: VisitorClaims;
}

export interface Visitors {
  /**
   * The visitor of a token for this companion. Rejects with `visitor_unverified`, and the same sentence whatever is
   * wrong with the token, or its key vouches for other companions; with `unavailable` if the keys cannot be read. No verdict is kept: a revoked key opens
   * nothing on the next request.
   */
  verify(companion: Pick<Companion, "id" | "accountId" | "metadata">, token: string): Promise<VerifiedVisitor>;
  /** The visitor for whom a platform vouches with its API key: as if a token had said so. */
  vouch(accountId: string, claims: VisitorClaims): Promise<VerifiedVisitor>;
  /**
   * The id under which conversations of the account's visitor `sub` are stored. Null if there can be none, since nobody
   * was ever verified: looking makes no key.
   */
  findId(accountId: string, sub: string): Promise<string | null>;
  /** What the store keeps of a visitor: `sealedVisitor`. */
  seal(visitor: VerifiedVisitor): Promise<string>;
  /** Null if it cannot be opened, which is logged. */
  open(visitorId: string, sealed: string): Promise<VisitorClaims | null>;
}
