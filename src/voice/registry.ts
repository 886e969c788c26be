/** The available voice providers, and which of them the configuration enables. */
import { createElevenLabs } from "./elevenlabs.ts";
import { createElevenLabsReader } from "./elevenlabs-webhook.ts";
import type { TranscriptReader, VoiceProvider } from "./provider.ts";

export interface VoiceSettings {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly webhookSecret: string | null;
}

interface VoiceVendor {
  openProvider(settings: VoiceSettings): VoiceProvider | null;
  openReader(settings: VoiceSettings): TranscriptReader | null;
}

const vendors: readonly VoiceVendor[] = [
  {
    openProvider: ({ apiKey, baseUrl }) => (apiKey === null ? null : createElevenLabs({ apiKey, baseUrl })),
    openReader: ({ webhookSecret }) => (webhookSecret === null ? null : createElevenLabsReader(webhookSecret)),
  },
];

/** The first configured provider, or null; and a reader for each vendor whose webhook secret is set. */
export function openVoiceProviders(settings: VoiceSettings): {
  provider: VoiceProvider | null;
  readers: TranscriptReader[];
} {
  const providers = vendors.map((vendor) => vendor.openProvider(settings));
  const readers = vendors.map((vendor) => vendor.openReader(settings));
  return {
    provider: providers.find((provider) => provider !== null) ?? null,
    readers: readers.filter((reader) => reader !== null),
  };
}
