/** One voice session: opened at the provider, then kept and counted, then handed out. */
import type { Companion } from "../../domain/companion.ts";
import type { Services } from "../../http/services.ts";
import { toUtcDay } from "../../lib/clock.ts";
import type { VoiceTokenResponse } from "./answers.ts";

export interface SessionRequest {
  companion: Companion;
  sessionId: string;
  visitorId: string | null;
  /** Fires when the visitor has gone. */
  signal: AbortSignal;
}

type SessionServices = Pick<Services, "voice" | "store" | "clock" | "log">;

/** Rejects with `voice_not_configured`, `upstream_error` or `unavailable`; nothing is counted then. */
export async function startVoiceSession(
  services: SessionServices,
  request: SessionRequest,
): Promise<VoiceTokenResponse> {
  const { companion, sessionId, visitorId } = request;
  const session = await services.voice.openSession(companion, request.signal);
  if (session.conversationId === null) {
    services.log.warn("voice session without a conversation id: its transcript cannot be matched", {
      companionId: companion.id,
    });
  }
  const createdAt = services.clock.nowMs();
  // Before the answer: a transcript may not come before its session is known.
  await services.store.voice.startSession({
    providerConversationId: session.conversationId,
    accountId: companion.accountId,
    companionId: companion.id,
    sessionId,
    visitorId,
    keyId: companion.createdByKeyId,
    day: toUtcDay(createdAt),
    createdAt,
  });
  return { signed_url: session.signedUrl, agent_id: session.agentId };
}
