/** The client of the sign-in routes, before there is a principal and beside it. */
import type { AuditActor, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";

export type SessionServices = Pick<Services, "store" | "clock" | "ids" | "log" | "sealing" | "signInAttempts">;

export interface Visitor {
  /** What rate limits count by. */
  address: string;
  ipPrefix: string;
  userAgent: string | null;
  requestId: string;
}

export function contextOf(
  { clock, ids }: Pick<SessionServices, "clock" | "ids">,
  visitor: Visitor,
  sessionId: string | null,
): WriteContext {
  return { actor: actorOf(visitor, sessionId), nowMs: clock.nowMs(), auditId: ids.uuid() };
}

export function actorOf(visitor: Visitor, sessionId: string | null): AuditActor {
  return { kind: "session", id: sessionId, ipPrefix: visitor.ipPrefix, requestId: visitor.requestId };
}
