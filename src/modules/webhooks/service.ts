/** Adds what was spoken to the voice session's conversation, in order with the written messages. */
import type { Services } from "../../dependencies.ts";
import type { TranscriptMessage } from "../../store/store.ts";
import type { Transcript } from "../../voice/provider.ts";

type TranscriptServices = Pick<Services, "store" | "clock" | "ids" | "log">;

/** Stores a transcript once. Deliveries for unknown sessions, or repeated ones, change nothing. */
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
 * The spoken messages in order, each timed between the start of the session and now, whatever the provider's clock
 * says, because conversations are ordered by these times.
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
