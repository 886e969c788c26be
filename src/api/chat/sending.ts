/** What is known of a visitor who sends something to a companion. */
import type { TurnStart } from "../../core/turns/turn-start.ts";
import type { VerifiedVisitor } from "../../core/visitors/visitors.ts";
import type { Embedded } from "../../http/embed-guard.ts";
import type { ResponseHead } from "../../http/json-response.ts";

/** Who sends a message, and to whom; all guards have let it pass. */
export interface Sending extends Pick<TurnStart, "companion" | "plan" | "keyId" | "address" | "right"> {
  readonly request: Request;
  readonly set: ResponseHead;
  readonly sessionId: string;
  /** Null unless the visitor is verified. */
  readonly visitor: VerifiedVisitor | null;
  /** The proof of work that the request brought; null where none was asked for. */
  readonly work: Embedded["work"];
}
