/** `POST …/confirmations/{call_id}`: a visitor decides on a call that a model asked for, and reads how the reply goes on. */
import type { Services } from "../../core/dependencies.ts";
import { ConversationStorage } from "../../core/turns/conversation-storage.ts";
import { Turn } from "../../core/turns/turn.ts";
import { AppError } from "../../domain/errors.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { embedTokenParam, eventStream } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { RightOfToken } from "../../http/embed-guard.ts";
import { requireJsonContentType } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { Text, uuidPattern } from "../../http/schemas/schema.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import { toUuid } from "../../lib/ids.ts";
import { decisionBodies, type Sent } from "./model.ts";
import type { Sending } from "./sending.ts";

/** Throws `not_found` for an id that cannot be any call's. */
export function readCallId(text: string): string {
  const id = toUuid(text);
  if (id === undefined) throw new AppError("not_found", "There is no such call to decide on.");
  return id;
}

/** Streams how the reply goes on. */
export async function streamDecision(
  services: Services,
  { request, set, visitor, ...start }: Omit<Sending, "sessionId" | "work">,
  callId: string,
  { approve: isApproved, session_id, visitor_id }: Sent<typeof decisionBodies.own>,
): Promise<Response> {
  const { companion } = start;
  const sessionId = session_id.toLowerCase();
  const key = { companionId: companion.id, sessionId, visitorId: visitor?.id ?? visitor_id?.toLowerCase() ?? null };
  const arrivalMark = services.coordination.arrivals.mark();
  const context = contextOf(request, services.ids);
  const { requestId } = context;
  const kept = { text: "", arrivalMark, named: null, visitor };
  const decided = {
    ...start,
    companion: instructFor(companion, visitor?.claims ?? null),
    message: "",
    decision: { callId, isApproved },
    requestId,
    named: null,
    visitor: null,
    caller: { sessionId, visitor: visitor?.claims ?? null, hasEvents: true },
  };
  const makeTurn = async () => {
    if (companion.handoff === null) {
      return new Turn(services, { ...decided, storage: new ConversationStorage(services, companion, key, kept) });
    }
    const { makePeopleTurn } = await import("./people-replies.ts");
    return makePeopleTurn(services, { companion, key, visitor, arrivalMark, requestId }, kept, decided);
  };
  const turn = await makeTurn();
  return await respondWithTurn(turn, new EventStream(request.signal, services.heartbeats, true), set, context);
}

export const describeCall = () =>
  Text({
    pattern: uuidPattern,
    description: "The call, as `event: confirm` named it.",
    examples: ["01890a5d-ac96-774b-bcce-b302099a8057"],
  });

export const confirmationRoutes: readonly Route[] = [
  route({
    id: "confirmCall",
    method: "POST",
    path: "/api/embed/{token}/confirmations/{call_id}",
    tag: "Embed",
    summary: "Decide on a call that waits for the visitor",
    access: "embed",
    body: decisionBodies.own,
    document: () => ({
      description:
        "For a tool with `confirm`: once, and within ten minutes of `event: confirm`. The response streams the rest of the " +
        "reply, with named events, and does not count as a message in any quota. 404 for another visitor's call, or one whose " +
        "tool was deleted; 409 for one that was decided already or is too old.",
      params: { token: embedTokenParam, call_id: describeCall() },
      bodyExample: { approve: true, session_id: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10" },
      responses: { 200: eventStream },
      errors: ["conflict", "not_found", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, request, params, set, target: { companion, plan }, visitor, readBody }) {
      const callId = readCallId(params.callId);
      requireJsonContentType(request);
      const body = await readBody();
      const sending = {
        ...{ request, set, companion, plan, visitor },
        keyId: companion.createdByKeyId,
        address: clientOf(services, request).limitSubject,
        right: new RightOfToken(services.store.companions, params.token),
      };
      return await streamDecision(services, sending, callId, body);
    },
  }),
];
