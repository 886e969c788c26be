/** The owner tries a companion: the same reply as a visitor's, outside of rate limits and memory; one message of its day. */
import type { Plan } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { reserveMessage } from "../../http/day-quota.ts";
import { countFailedReply, kindOfOutcome } from "../../http/failed-replies.ts";
import { type CollectedReply, type ReplyRun, type ReplyStream, runReply } from "../../http/reply.ts";
import { toReplyRequest } from "../../http/reply-request.ts";
import type { Services } from "../../http/services.ts";
import type { QuotaReservation } from "../../limits/daily-quota.ts";
import { type TestChatBody, toWireTrace } from "./model.ts";

export interface TestTurn {
  companion: Companion;
  /** Of its account. */
  plan: Plan;
  body: TestChatBody;
  requestId: string;
  stream: ReplyStream & { comment(text: string): void };
  /** Fires when the owner has gone. */
  signal: AbortSignal;
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
  const { companion, body, stream, signal } = turn;
  const { llm, settings, runningTurns } = services;
  const request = toReplyRequest(settings.llm, companion, {
    earlier: (body.history ?? []).toReversed(),
    message: body.message,
    requestId: turn.requestId,
  });
  const reservation = await reserveMessage(services, companion.id, turn.plan).catch((error: unknown) => {
    stream.drop();
    throw error;
  });
  const startedMs = performance.now();
  const run = runReply(llm, request, stream, signal);
  const trace = (reply: CollectedReply) => {
    if (body.trace !== true) return;
    const totalMs = performance.now() - startedMs;
    stream.comment(`trace ${JSON.stringify(toWireTrace(request, reply, totalMs))}`);
  };
  const finishing = finishTestTurn(services, turn, reservation, run, trace);
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
  { companion, requestId, stream }: TestTurn,
  reservation: QuotaReservation,
  run: ReplyRun,
  trace: (reply: CollectedReply) => void,
): Promise<void> {
  const logged = { requestId, companionId: companion.id };
  let reply: CollectedReply;
  try {
    reply = await run.finished;
  } catch (error) {
    reservation.release();
    if (run.isOpen) services.log.warn("reply failed", { ...logged, error });
    stream.fail("upstream_error");
    return countFailedReply(services, { companion, day: reservation.day, requestId }, error);
  }
  services.measurements.countTokens(reply.usage);
  const { complete, failure } = reply.outcome;
  try {
    await services.store.turns
      .settleUnkept({
        accountId: companion.accountId,
        companionId: companion.id,
        keyId: companion.createdByKeyId,
        day: reservation.day,
        usage: reply.usage,
        failure: kindOfOutcome(reply.outcome),
      })
      .finally(reservation.settle);
  } catch (error) {
    services.log.error("turn not counted", { ...logged, error });
    return stream.fail("unavailable");
  }
  trace(reply);
  if (complete) return stream.done();
  if (failure === null) return stream.drop();
  services.log.warn("reply broke off", { ...logged, error: failure });
  stream.fail("upstream_error");
}
