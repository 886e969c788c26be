/** The client of the sign-in routes, before there is a principal and beside it. */
import type { AuditActor, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { SessionPrincipal } from "../../domain/account.ts";
import { actingMember } from "../../domain/member.ts";

export type SessionServices = Pick<Services, "store" | "clock" | "ids" | "log" | "sealing" | "signInAttempts">;

export interface Visitor {
  /** What rate limits count by. */
  address: string;
  ipPrefix: string;
  userAgent: string | null;
  requestId: string;
}

type SignedIn = Pick<SessionPrincipal, "sessionId" | "member">;

export function contextOf(
  { clock, ids }: Pick<SessionServices, "clock" | "ids">,
  visitor: Visitor,
  signedIn: SignedIn | null,
): WriteContext {
  return { actor: actorOf(visitor, signedIn), nowMs: clock.nowMs(), auditId: ids.uuid() };
}

export function actorOf({ ipPrefix, requestId }: Visitor, signedIn: SignedIn | null): AuditActor {
  return { kind: "session", id: signedIn?.sessionId ?? null, ipPrefix, requestId, ...actingMember(signedIn) };
}
