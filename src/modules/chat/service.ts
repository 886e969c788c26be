/** One turn of a conversation: its place in the queue, the day's quota, history, the reply, and the one commit that settles it. */

import type { Services } from "../../dependencies.ts";
import { type ConversationKey, type Message, textParts, uncounted } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import type { QuotaReservation } from "../../limits/daily-quota.ts";
import type { ReplyRequest } from "../../llm/provider.ts";
import type { EmbedTarget } from "../../store/store.ts";
import { reserveMessage } from "../../turns/day-quota.ts";
import { countFailedReply } from "../../turns/failed-replies.ts";
import type { OpenReply } from "../../turns/open-reply.ts";
import { type CollectedReply, endStream, type ReplyRun, type ReplyStream, runReply } from "../../turns/reply.ts";
import { historyTokensOf, toReplyRequest } from "../../turns/reply-request.ts";

export interface TurnRequest {
  target: EmbedTarget;
  sessionId: string;
  visitorId: string | null;
  message: string;
  arrivalMark: number;
  requestId: string;
  stream: ReplyStream;
  /** Owns all that the turn takes; closed when the turn has ended, however it ended. */
  reply: OpenReply;
}

type TurnServices = Pick<
  Services,
  | "store"
  | "llm"
  | "dailyQuota"
  | "conversationQueue"
  | "settings"
  | "clock"
  | "ids"
  | "log"
  | "measurements"
  | "runningTurns"
>;

/**
 * Starts the turn and resolves when its response may begin; the rest goes on in the background and ends the stream.
 * Rejects with `rate_limited`, `quota_exceeded`, `not_found`, `upstream_error` or `unavailable`. Nothing is kept then, and
 * nothing counted but a provider's failure, unless the right to the companion was lost while the provider was at work.
 */
export async function openTurn(services: TurnServices, turn: TurnRequest): Promise<void> {
  const { reply, stream } = turn;
  const { id: companionId } = turn.target.companion;
  const key: ConversationKey = { companionId, sessionId: turn.sessionId, visitorId: turn.visitorId };
  let run: ReplyRun;
  try {
    await waitForTurn(services, reply, key);
    const reservation = await reserveMessage(services, companionId, turn.target.plan);
    reply.owes(reservation.release);
    const request = await buildRequest(services, turn, key);
    // It may have waited for long, and each call costs: nothing is to begin any more with a token that was revoked.
    await reply.check();
    reply.signal.throwIfAborted();
    run = runReply(services.llm, request, stream, reply);
    trackTurn(
      services,
      finishTurn(services, turn, key, reservation, run).finally(() => reply.close()),
    );
  } catch (error) {
    reply.close();
    stream.drop();
    throw error;
  }
  try {
    await run.opened;
  } catch (error) {
    stream.drop();
    throw error;
  }
}

/** Rejects when the visitor leaves or the reply is ended meanwhile: such a turn is dropped and costs nothing. */
async function waitForTurn({ conversationQueue }: TurnServices, reply: OpenReply, key: ConversationKey): Promise<void> {
  const place = conversationQueue.enter(`${key.companionId} ${key.sessionId} ${key.visitorId}`, reply.signal);
  if (place === null) {
    throw new AppError("rate_limited", "This conversation has too many messages waiting. Wait for the reply.", {
      retryAfterSeconds: 1,
    });
  }
  reply.owes(await place);
}

function trackTurn(services: TurnServices, turn: Promise<void>): void {
  services.runningTurns.add(turn);
  turn.finally(() => services.runningTurns.delete(turn));
}

async function buildRequest(services: TurnServices, turn: TurnRequest, key: ConversationKey): Promise<ReplyRequest> {
  const { companion } = turn.target;
  const { message, requestId } = turn;
  const earlier = await services.store.turns.listHistory(key, historyTokensOf(companion, message) * 4);
  return toReplyRequest(services.settings.llm, companion, { earlier, message, requestId });
}

/** Waits for the reply's end, keeps it, ends the stream. Never rejects: nobody is left to catch. */
async function finishTurn(
  services: TurnServices,
  turn: TurnRequest,
  key: ConversationKey,
  reservation: QuotaReservation,
  run: ReplyRun,
): Promise<void> {
  const userSentAt = services.clock.nowMs();
  // Made now, since lists look ids up as if they were in order of the conversations' beginnings.
  const conversationId = services.ids.uuid();
  let reply: CollectedReply;
  try {
    reply = await run.finished;
  } catch (error) {
    // Before the first text: the message is not kept and costs nothing. Where the stream was not open yet, the failure is
    // the answer to the request, and logged with it.
    if (run.isOpen) {
      services.log.warn("reply failed", { requestId: turn.requestId, companionId: key.companionId, error });
    }
    turn.stream.fail("upstream_error");
    return countFailedReply(
      services,
      { companion: turn.target.companion, day: reservation.day, requestId: turn.requestId },
      error,
    );
  }
  services.measurements.countTokens(reply.usage);
  try {
    await settleTurn(services, turn, { key, conversationId, day: reservation.day, userSentAt }, reply).finally(
      reservation.settle,
    );
  } catch (error) {
    services.log.error("turn not kept", { requestId: turn.requestId, companionId: key.companionId, error });
    turn.stream.fail("unavailable");
    return;
  }
  endStream(services.log, turn, key.companionId, reply.outcome);
}

function settleTurn(
  services: TurnServices,
  turn: TurnRequest,
  begun: { key: ConversationKey; conversationId: string; day: string; userSentAt: number },
  reply: CollectedReply,
): Promise<void> {
  const { companion } = turn.target;
  const { userSentAt, ...kept } = begun;
  return services.store.turns.settle({
    accountId: companion.accountId,
    ...kept,
    messages: toMessages(services, turn, userSentAt, reply),
    arrivalMark: turn.arrivalMark,
    usage: reply.usage,
    failure: reply.failureKind,
    keyId: companion.createdByKeyId,
  });
}

function toMessages({ ids, clock }: TurnServices, turn: TurnRequest, userSentAt: number, reply: CollectedReply) {
  const messages: Message[] = [
    {
      id: ids.uuid(),
      role: "user",
      channel: "text",
      parts: textParts(turn.message),
      complete: true,
      ...uncounted,
      createdAt: userSentAt,
    },
  ];
  if (reply.text === "") return messages;
  messages.push({
    id: ids.uuid(),
    role: "assistant",
    channel: "text",
    parts: textParts(reply.text),
    complete: reply.outcome.complete,
    inputTokens: reply.usage.inputTokens,
    outputTokens: reply.usage.outputTokens,
    tokensEstimated: reply.usage.estimated,
    createdAt: Math.max(userSentAt, clock.nowMs()),
  });
  return messages;
}
