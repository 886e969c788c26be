/** The owner tries a companion: the same reply as a visitor's, outside limits, quota and memory; counted in usage alone. */
import type { Companion } from "../../domain/companion.ts";
import type { OpenReply } from "../../http/open-reply.ts";
import { type CollectedReply, endStream, type ReplyRun, type ReplyStream, runReply } from "../../http/reply.ts";
import { toReplyRequest } from "../../http/reply-request.ts";
import type { Services } from "../../http/services.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { type TestChatBody, toWireTrace } from "./model.ts";

export interface TestTurn {
  companion: Companion;
  body: TestChatBody;
  requestId: string;
  stream: ReplyStream & { comment(text: string): void };
  /** Closed when the turn has ended. */
  reply: OpenReply;
}

type TestServices = Pick<Services, "store" | "llm" | "settings" | "clock" | "log" | "measurements" | "runningTurns">;

/** Resolves when the response may begin; rejects with `upstream_error` where the provider failed before that. */
export async function openTestTurn(services: TestServices, turn: TestTurn): Promise<void> {
  const { companion, body, stream, reply } = turn;
  const { llm, settings, clock, runningTurns } = services;
  const day = toUtcDay(clock.nowMs());
  const request = toReplyRequest(settings.llm, companion, {
    earlier: (body.history ?? []).toReversed(),
    message: body.message,
    requestId: turn.requestId,
  });
  const startedMs = performance.now();
  let run: ReplyRun;
  try {
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
  const finishing = finishTestTurn(services, turn, day, run, trace).finally(() => reply.close());
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
  day: string,
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
    return stream.fail("upstream_error");
  }
  services.measurements.countTokens(reply.usage);
  try {
    await services.store.turns.settleUnkept({
      accountId: companion.accountId,
      companionId: companion.id,
      keyId: companion.createdByKeyId,
      day,
      usage: reply.usage,
      isUpstreamError: reply.isUpstreamError,
    });
  } catch (error) {
    services.log.error("turn not counted", { ...logged, error });
    return stream.fail("unavailable");
  }
  trace(reply);
  endStream(services.log, turn, companion.id, reply.outcome);
}
