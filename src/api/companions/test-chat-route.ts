/** `POST /api/companions/{id}/test-chat`: the owner's trial chat. */
import { openTrial } from "../../core/turns/trial.ts";
import { explainFailure, toExplainedError } from "../../domain/reply-failure.ts";
import { eventStream } from "../../http/api-description.ts";
import { rightToTry } from "../../http/caller-right.ts";
import { readSlot } from "../../http/idempotency.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { toClaims } from "../../http/schemas/visitor.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import { getCompanion } from "./service.ts";
import { checkTestChat, testChatBody, toHistory, toWireTrace } from "./test-chat.ts";
import { openTried } from "./tried-companion.ts";

export const testChatRoute: Route = route({
  id: "testChat",
  method: "POST",
  path: "/api/companions/{id}/test-chat",
  tag: "Companions",
  summary: "Try a companion as its owner",
  access: "companions:write",
  body: uncheckedBody(testChatBody),
  document: () => ({
    description:
      "The reply as a visitor would get it, without the embed routes' limits per minute. No conversation is stored. It " +
      "counts in usage and uses one message of the companion's daily quota, refunded if the provider fails without having " +
      "counted anything; with `tool_results` it uses none. The 502 has the reason in `kind`, and in its sentence what to " +
      "change; if the stream has begun, a comment line `: failure {…}` has it before the end. If the key or session ends, " +
      "the stream does within a second.",
    bodyExample: { message: "What are your opening hours?", trace: true },
    responses: { 200: eventStream },
    errors: ["quota_exceeded", "budget_exceeded", "upstream_error"],
  }),
  async handle({ services, principal, request, params, set, readBody }) {
    // The key is checked as everywhere, but a stream is never replayed.
    readSlot(request, principal);
    const current = await getCompanion(services, principal, params.id);
    const body = checkTestChat(await readBody(), services.settings.llm.models);
    const { companion, tools, version } = await openTried(services, current, body);
    const { model = null, tool_results: toolResults = null } = body;
    const context = contextOf(request, services.ids);
    const stream = new EventStream(request.signal, services.heartbeats);
    const startedMs = performance.now();
    const turn = openTrial(services, {
      companion: model === null ? companion : { ...companion, model },
      ...(tools === undefined ? {} : { tools }),
      plan: principal.account.plan,
      keyId: companion.createdByKeyId,
      message: body.message,
      history: toHistory(body),
      visitor: toClaims(body),
      toolResults,
      isOutsideDay: toolResults !== null,
      requestId: context.requestId,
      right: rightToTry(services, principal, companion.id),
      noteFailure: (kind) => stream.comment(`failure ${JSON.stringify(explainFailure(kind))}`),
      noteStored: (trace) => {
        if (body.trace !== true || !trace.result.isCounted) return;
        stream.comment(`trace ${JSON.stringify(toWireTrace(trace, version, performance.now() - startedMs))}`);
      },
    });
    return respondWithTurn(turn, stream, set, context).catch((error: unknown) => {
      throw toExplainedError(error);
    });
  },
});
