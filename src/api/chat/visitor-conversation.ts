/** The conversation that a visitor's request is about. */
import type { Services } from "../../core/dependencies.ts";
import type { VisitorConversation } from "../../core/people/people.ts";
import type { Companion } from "../../domain/companion.ts";
import { contextOf } from "../../http/request-context.ts";

export interface VisitorCall {
  readonly services: Services;
  readonly request: Request;
  readonly companion: Companion;
  readonly visitor: VisitorConversation["visitor"];
}

/** To be called before anything is waited for: an erasure from then on includes it. */
export function conversationOf(
  { services, request, companion, visitor }: VisitorCall,
  sessionId: string,
  visitorId: string | null,
): VisitorConversation {
  return {
    ...{ companion, visitor, key: { companionId: companion.id, sessionId, visitorId } },
    arrivalMark: services.coordination.arrivals.mark(),
    requestId: contextOf(request, services.ids).requestId,
  };
}

/** Of ids in a body. A verified visitor's own id counts. */
export function conversationOfBody(
  call: VisitorCall,
  { session_id, visitor_id }: { session_id: string; visitor_id?: string | null | undefined },
): VisitorConversation {
  return conversationOf(call, session_id.toLowerCase(), call.visitor?.id ?? visitor_id?.toLowerCase() ?? null);
}
