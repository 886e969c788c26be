/** What was said aloud enters the conversation that the session belongs to, among what was written. */
import type { Services } from "../../dependencies.ts";
import type { TranscriptMessage } from "../../store/store.ts";
import type { Transcript } from "../../voice/provider.ts";

type TranscriptServices = Pick<Services, "store" | "clock" | "ids" | "log">;

/** Keeps the transcript once; deliveries of sessions that are not ours, or were taken before, change nothing. */
export async function keepTranscript(services: TranscriptServices, transcript: Transcript): Promise<void> {
  const session = await services.store.voice.findSession(transcript.conversationId);
  if (!session) {
    services.log.debug("transcript of an unknown voice session ignored");
    return;
  }
  const messages = placeMessages(services, transcript, session.createdAt);
  await services.store.voice.addTranscript(transcript.conversationId, services.ids.uuid(), messages);
}

/**
 * Spoken messages with their times, in order: between the session's start and now, whatever the provider's clock says,
 * since the order of a conversation is that of its times.
 */
function placeMessages(services: TranscriptServices, { messages }: Transcript, startedAt: number): TranscriptMessage[] {
  const now = Math.max(startedAt, services.clock.nowMs());
  let earliest = startedAt;
  return messages.map(({ role, text, complete, spokenAtMs }) => {
    const createdAt = Math.min(now, Math.max(earliest, spokenAtMs ?? earliest));
    earliest = createdAt;
    return { id: services.ids.uuid(), role, text, complete, createdAt };
  });
}
