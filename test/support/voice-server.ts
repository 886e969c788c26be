/** A complete server with a mock voice provider. */
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { startTestServer, type TestServer, type TestServerOptions, testContext } from "./app.ts";
import { type MockElevenLabs, startMockElevenLabs } from "./mock-elevenlabs.ts";

export const webhookSecret = "wsec_test";

export interface VoiceServer extends TestServer {
  voice: MockElevenLabs;
  /** The server's clock is ahead by this much. */
  advance(durationMs: number): void;
  /** `POST …/voice-token`, with a JSON body if one is given. */
  askVoiceToken(token: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  updateCompanion(companion: { id: string; accountId: string }, patch: Partial<CompanionSettings>): Promise<void>;
}

export interface VoiceServerOptions extends TestServerOptions {
  /** Another server's provider to share; that server closes it. */
  voice?: MockElevenLabs;
}

export async function startVoiceServer(options: VoiceServerOptions = {}): Promise<VoiceServer> {
  const { voice: sharedVoice, ...serverOptions } = options;
  const voice = sharedVoice ?? (await startMockElevenLabs());
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };
  const server = await startTestServer({
    clock,
    ...serverOptions,
    environment: {
      ELEVENLABS_API_KEY: voice.apiKey,
      ELEVENLABS_BASE_URL: voice.url,
      ELEVENLABS_WEBHOOK_SECRET: webhookSecret,
      ...serverOptions.environment,
    },
  });
  return {
    ...server,
    voice,
    advance(durationMs) {
      aheadMs += durationMs;
    },
    askVoiceToken(token, body, headers = {}) {
      const sent =
        body === undefined
          ? { headers }
          : { body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } };
      return fetch(`${server.url}/api/embed/${token}/voice-token`, { method: "POST", ...sent });
    },
    async updateCompanion({ accountId, id }, patch) {
      await server.services.store.companions.update(accountId, id, patch, testContext());
    },
    async close() {
      await server.close();
      if (!sharedVoice) await voice.close();
    },
  };
}
