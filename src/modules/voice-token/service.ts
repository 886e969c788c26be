/**
 * Starts a voice session: reserves it in the daily quota, opens it at the provider, stores and counts it, returns it.
 */

import type { Reservation } from "../../coordination/coordination.ts";
import type { Services } from "../../dependencies.ts";
import type { EmbedTarget } from "../../store/store.ts";
import { reserveVoiceSession } from "../../turns/admission.ts";
import type { OpenedSession } from "../../voice/voice.ts";
import { notConfigured } from "../../voice/voice-fields.ts";
import type { VoiceTokenResponse } from "./responses.ts";

export interface SessionRequest {
  target: EmbedTarget;
  sessionId: string;
  visitorId: string | null;
  /** Of a verified visitor. */
  sealedVisitor: string | null;
  /** Spent for the session; null if the companion asks for none. */
  work: { spend(use: null): Promise<void> } | null;
  /** Fires when the visitor has left. */
  signal: AbortSignal;
}

type SessionServices = Pick<Services, "voice" | "coordination" | "settings" | "store" | "clock" | "log">;

/**
 * Rejects with `voice_not_configured`, `quota_exceeded`, `challenge_required`, `upstream_error` or `unavailable`; then no URL
 * was handed out.
 */
export async function startVoiceSession(
  services: SessionServices,
  request: SessionRequest,
): Promise<VoiceTokenResponse> {
  const { companion, plan } = request.target;
  // Checked first: a companion without a voice gets this error whatever is left of the quota.
  if (!services.voice.hasVoice(companion)) throw notConfigured();
  const reservation = await reserveVoiceSession(services, companion.id, plan);
  const session = await openSession(services, request).catch((error: unknown) => {
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
  await keepSession(services, request, session, reservation).finally(reservation.settle);
  return { signed_url: session.signedUrl, agent_id: session.agentId };
}

async function openSession({ voice }: SessionServices, { target, work, signal }: SessionRequest) {
  await work?.spend(null);
  return await voice.openSession(target.companion, signal);
}

function keepSession(
  { store, clock }: SessionServices,
  { target: { companion }, sessionId, visitorId, sealedVisitor }: SessionRequest,
  { conversationId }: OpenedSession,
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
    createdAt: clock.nowMs(),
  });
}
