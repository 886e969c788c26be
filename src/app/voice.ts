/** Which voice providers the configuration enables. */
import type { TranscriptReader, VoiceProvider } from "../contracts/voice/provider.ts";
import { createElevenLabs } from "../engines/elevenlabs/elevenlabs.ts";
import { createElevenLabsReader } from "../engines/elevenlabs/webhook.ts";

export interface VoiceSettings {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly webhookSecret: string | null;
}

/** The configured provider, or null; and a reader for each vendor whose webhook secret is set. */
export function openVoiceProviders({ apiKey, baseUrl, webhookSecret }: VoiceSettings): {
  provider: VoiceProvider | null;
  readers: TranscriptReader[];
} {
  return {
    provider: apiKey === null ? null : createElevenLabs({ apiKey, baseUrl }),
    readers: webhookSecret === null ? [] : [createElevenLabsReader(webhookSecret)],
  };
}
