/** The owner tries a companion: the same reply as a visitor's, outside of rate limits and memory; one message of its day. */

import type { Services } from "../../dependencies.ts";
import type { Plan } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { textOf, textParts } from "../../domain/conversation.ts";
import type { QuotaReservation } from "../../limits/daily-quota.ts";
import type { ReplyRequest } from "../../llm/provider.ts";
import { reserveMessage } from "../../turns/day-quota.ts";
import { countFailedReply } from "../../turns/failed-replies.ts";
import type { OpenReply } from "../../turns/open-reply.ts";
import { type CollectedReply, endStream, type ReplyRun, type ReplyStream, runReply } from "../../turns/reply.ts";
import { toReplyRequest } from "../../turns/reply-request.ts";
import type { TestChatBody } from "./model.ts";

export interface TestTurn {
  companion: Companion;
  /** Of its account. */
  plan: Plan;
  body: TestChatBody;
  requestId: string;
  stream: ReplyStream & { comment(text: string): void };
  /** Closed when the turn has ended. */
  reply: OpenReply;
}

type TestServices = Pick<
  Services,
  "store" | "llm" | "dailyQuota" | "settings" | "clock" | "log" | "measurements" | "runningTurns"
>;

/**
 * Resolves when the response may begin. Rejects with `quota_exceeded`, `upstream_error` or `unavailable`; nothing is
 * counted then.
 */
export async function openTestTurn(services: TestServices, turn: TestTurn): Promise<void> {
  const { companion, body, stream, reply } = turn;
  const { llm, settings, runningTurns } = services;
  const request = toReplyRequest(settings.llm, companion, {
    earlier: (body.history ?? []).map(({ role, text }) => ({ role, parts: textParts(text) })).reverse(),
    message: body.message,
    requestId: turn.requestId,
  });
  const startedMs = performance.now();
  let reservation: QuotaReservation;
  let run: ReplyRun;
  try {
    reservation = await reserveMessage(services, companion.id, turn.plan);
    reply.owes(reservation.release);
    // Its body may have taken a while to arrive.
    await reply.check();
    reply.signal.throwIfAborted();
    run = runReply(llm, request, stream, reply);
  } catch (error) {
    reply.close();
    stream.drop();
    throw error;
  }
  const trace = (collected: CollectedReply) => {
    if (body.trace !== true) return;
    const totalMs = performance.now() - startedMs;
    stream.comment(`trace ${JSON.stringify(toWireTrace(request, collected, totalMs))}`);
  };
  const finishing = finishTestTurn(services, turn, reservation, run, trace).finally(() => reply.close());
  runningTurns.add(finishing);
  void finishing.finally(() => runningTurns.delete(finishing));
  try {
    await run.opened;
  } catch (error) {
    stream.drop();
    throw error;
  }
}

/** Counts the reply, ends the stream. Never rejects: nobody is left to catch. */
async function finishTestTurn(
  services: TestServices,
  turn: TestTurn,
  reservation: QuotaReservation,
  run: ReplyRun,
  trace: (reply: CollectedReply) => void,
): Promise<void> {
  const { companion, requestId, stream } = turn;
  const logged = { requestId, companionId: companion.id };
  let reply: CollectedReply;
  try {
    reply = await run.finished;
  } catch (error) {
    if (run.isOpen) services.log.warn("reply failed", { ...logged, error });
    stream.fail("upstream_error");
    return countFailedReply(services, { companion, day: reservation.day, requestId }, error);
  }
  services.measurements.countTokens(reply.usage);
  try {
    await services.store.turns
      .settleUnkept({
        accountId: companion.accountId,
        companionId: companion.id,
        keyId: companion.createdByKeyId,
        day: reservation.day,
        usage: reply.usage,
        failure: reply.failureKind,
      })
      .finally(reservation.settle);
  } catch (error) {
    services.log.error("turn not counted", { ...logged, error });
    return stream.fail("unavailable");
  }
  trace(reply);
  endStream(services.log, turn, companion.id, reply.outcome);
}

/** What the owner is told of a trial turn. */
function toWireTrace(request: ReplyRequest, { usage, firstTextMs }: CollectedReply, totalMs: number) {
  const { systemPrompt, messages, model, temperature, maxOutputTokens } = request;
  const prompt = systemPrompt === null ? [] : [{ role: "system", text: systemPrompt }];
  return {
    model,
    temperature,
    max_output_tokens: maxOutputTokens,
    messages: [...prompt, ...messages.map((message) => ({ role: message.role, text: textOf(message) }))],
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    tokens_estimated: usage.estimated,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    total_ms: Math.round(totalMs),
  };
}
