/**
 * Starts a voice session: reserves it in the daily quota, opens it at the provider, stores and counts it, returns it.
 */

import type { Reservation } from "../../contracts/coordination.ts";
import type { EmbedTarget } from "../../contracts/store/store.ts";
import { maxSessionSeconds } from "../../contracts/voice/provider.ts";
import type { Services } from "../../core/dependencies.ts";
import { reserveVoiceSession } from "../../core/turns/admission.ts";
import { admitSpending, type CallBound, releaseSpending, type SpendingServices } from "../../core/turns/spending.ts";
import type { TurnRight } from "../../core/turns/turn-start.ts";
import type { OpenedSession } from "../../core/voice/voice.ts";
import { notConfigured } from "../../core/voice/voice-fields.ts";
import { ceilToMicros } from "../../domain/money.ts";
import { costOfSpeech, type Prices } from "../../domain/prices.ts";
import type { VoiceTokenResponse } from "./responses.ts";

export interface SessionRequest {
  target: EmbedTarget;
  /** Asked before each call of the provider. */
  right: TurnRight;
  sessionId: string;
  visitorId: string | null;
  /** Of a verified visitor. */
  sealedVisitor: string | null;
  /** Spent for the session; null if the companion asks for none. */
  work: { spend(use: null): Promise<void> } | null;
  /** Fires when the visitor has left. */
  signal: AbortSignal;
}

type SessionServices = SpendingServices & Pick<Services, "voice" | "coordination" | "settings">;

/**
 * Rejects with `voice_not_configured`, `quota_exceeded`, `budget_exceeded`, `rate_limited`, `challenge_required`,
 * `upstream_error`, `unavailable` or the refusal of its right; then no URL was handed out.
 */
export async function startVoiceSession(
  services: SessionServices,
  request: SessionRequest,
): Promise<VoiceTokenResponse> {
  const { companion, plan } = request.target;
  // Checked first: a companion without a voice gets this error whatever is left of the quota.
  if (!services.voice.hasVoice(companion)) throw notConfigured();
  const reservation = await reserveVoiceSession(services, companion.id, plan);
  const { session, reservationId } = await openSession(services, request, reservation).catch((error: unknown) => {
    reservation.release();
    throw error;
  });
  if (session.conversationId === null) {
    services.log.warn("voice session without a conversation id: its transcript cannot be matched", {
      companionId: companion.id,
    });
  }
  // Before the response: the transcript must not arrive before its session is known. An error may follow a successful
  // commit, so the session stays counted.
  await keepSession(services, request, { ...session, reservationId }, reservation).finally(() => reservation.settle());
  return { signed_url: session.signedUrl, agent_id: session.agentId };
}

/** With what budgets hold for it. */
async function openSession(
  services: SessionServices,
  { target, right, work, signal }: SessionRequest,
  { day }: Reservation,
) {
  const { companion, spending } = target;
  const { settings, voice } = services;
  const keyId = companion.createdByKeyId;
  const call = { companion, keyId, day, ticketId: null, isVoice: true, requestId: null };
  const bound = () => boundOfSession(settings.prices, voice.pricedAs ?? "");
  const isAsked = spending.isStopped || spending.hasBudgets;
  const reservationId = isAsked ? await admitSpending(services, call, spending, bound) : null;
  const permit = async () => {
    const now = await right.check();
    if (now === null) throw right.refusal();
    if (now.isStopped) await admitSpending(services, call, now, bound);
  };
  try {
    await work?.spend(null);
    return { session: await voice.openSession(companion, signal, permit), reservationId };
  } catch (error) {
    if (reservationId !== null) await releaseSpending(services, reservationId);
    throw error;
  }
}

/** The length of a session is known when it is over. */
function boundOfSession(prices: Prices, provider: string): CallBound {
  const price = prices.findMinutePrice(provider);
  const micros = price === null ? null : ceilToMicros(costOfSpeech(price, maxSessionSeconds));
  return { answerer: { provider, model: "" }, micros };
}

function keepSession(
  { store, clock }: SessionServices,
  { target: { companion }, sessionId, visitorId, sealedVisitor }: SessionRequest,
  { conversationId, reservationId }: Pick<OpenedSession, "conversationId"> & { reservationId: string | null },
  { id: ticketId, day }: Reservation,
): Promise<void> {
  return store.voice.startSession({
    ticketId,
    providerConversationId: conversationId,
    accountId: companion.accountId,
    companionId: companion.id,
    sessionId,
    visitorId,
    sealedVisitor,
    keyId: companion.createdByKeyId,
    day,
    reservationId,
    createdAt: clock.nowMs(),
  });
}
