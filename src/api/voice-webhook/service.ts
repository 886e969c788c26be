/** Adds what was spoken to the voice session's conversation, in order with the written messages. */
import type { TranscriptMessage } from "../../contracts/store/store.ts";
import type { Transcript } from "../../contracts/voice/provider.ts";
import type { Services } from "../../core/dependencies.ts";
import { noteReached } from "../../core/turns/spending.ts";
import { costOfSpeech } from "../../domain/prices.ts";

type TranscriptServices = Pick<Services, "store" | "settings" | "clock" | "ids" | "log" | "measurements">;

/** Stores a transcript once. Deliveries for unknown sessions, or repeated ones, change nothing. */
export async function keepTranscript(
  services: TranscriptServices,
  provider: string,
  transcript: Transcript,
): Promise<void> {
  const session = await services.store.voice.findSession(transcript.conversationId);
  if (!session) {
    services.log.debug("transcript of an unknown voice session ignored");
    return;
  }
  const messages = placeMessages(services, transcript, session.createdAt);
  const { conversationId } = transcript;
  const spoken = toSpokenCost(services, provider, transcript);
  const { reached } = await services.store.voice.addTranscript(conversationId, services.ids.uuid(), messages, spoken);
  noteReached(services, reached);
}

/** Null where voice has no price, or the provider does not say how long the session was. */
function toSpokenCost({ settings, clock }: TranscriptServices, provider: string, { seconds }: Transcript) {
  const price = settings.prices.findMinutePrice(provider);
  if (price === null || seconds === null) return null;
  return { cost: costOfSpeech(price, seconds), provider, atMs: clock.nowMs() };
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
