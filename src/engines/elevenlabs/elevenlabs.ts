/** ElevenLabs as the voice-agent provider: the few calls of its Agents API that we need, with plain `fetch`. */
import {
  type AgentSettings,
  maxSessionSeconds,
  type SignedSession,
  type VoiceProvider,
} from "../../contracts/voice/provider.ts";
import {
  callProvider,
  type ProviderCall,
  type ProviderResponse,
  upstreamError,
} from "../../contracts/voice/provider-call.ts";

export interface ElevenLabsOptions {
  apiKey: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** For one call, including retries. */
  deadlineMs?: number;
  /** The pause before each retry. */
  retryDelaysMs?: readonly number[];
}

export function createElevenLabs(options: ElevenLabsOptions): VoiceProvider {
  const { apiKey, baseUrl, deadlineMs = 10_000, retryDelaysMs = [200, 800] } = options;
  type Request = Pick<ProviderCall, "method" | "isRepeatable" | "body" | "permit"> & { path: string };

  function call({ path, ...request }: Request, signal: AbortSignal): Promise<ProviderResponse> {
    const url = `${baseUrl}/v1/convai/${path}`;
    const headers = { "xi-api-key": apiKey };
    return callProvider({ ...request, url, headers, secret: apiKey, deadlineMs, retryDelaysMs }, signal);
  }

  const agentPath = (agentId: string) => `agents/${encodeURIComponent(agentId)}`;

  return {
    name: "elevenlabs",
    publicName: "elevenlabs-convai",

    async createAgent(settings, signal) {
      const body = { ...toWire(settings), tags: ["companiond"] };
      const response = await call({ method: "POST", path: "agents/create", body, isRepeatable: false }, signal);
      const agentId = response.status === 404 ? null : readField(response, "agent_id");
      if (agentId === null) throw upstreamError(new Error(`agents/create: ${response.status} without an agent_id`));
      return agentId;
    },

    async updateAgent(agentId, settings, signal) {
      const body = toWire(settings);
      const response = await call({ method: "PATCH", path: agentPath(agentId), body, isRepeatable: true }, signal);
      return response.status !== 404;
    },

    async deleteAgent(agentId, signal) {
      await call({ method: "DELETE", path: agentPath(agentId), isRepeatable: true }, signal);
    },

    async createSession(agentId, signal, permit) {
      // With its conversation id, the URL opens one session only.
      const query = new URLSearchParams({ agent_id: agentId, include_conversation_id: "true" });
      const path = `conversation/get-signed-url?${query}`;
      const response = await call({ method: "GET", path, isRepeatable: true, permit }, signal);
      return response.status === 404 ? null : readSession(response);
    },

    async check(signal) {
      const response = await call({ method: "GET", path: "agents?page_size=1", isRepeatable: true }, signal);
      if (response.status === 404) throw upstreamError(new Error("no Agents API at this address"));
    },
  };
}

function toWire(settings: AgentSettings) {
  return {
    name: settings.name,
    conversation_config: {
      agent: { prompt: { prompt: settings.systemPrompt }, first_message: settings.greeting },
      conversation: { max_duration_seconds: maxSessionSeconds },
      tts: { voice_id: settings.voiceId },
    },
    // Otherwise the agent's id, which every visitor sees, would open a session from anywhere.
    platform_settings: { auth: { enable_auth: true } },
  };
}

function readSession(response: ProviderResponse): SignedSession {
  const signedUrl = readField(response, "signed_url");
  const url = signedUrl === null ? null : URL.parse(signedUrl);
  if (signedUrl === null || url === null || !(url.protocol === "wss:" || url.protocol === "ws:")) {
    throw upstreamError(new Error("get-signed-url: a response without a WebSocket URL"));
  }
  // Documented as part of the response, but seen in the URL: both are the same id.
  const conversationId = readField(response, "conversation_id") ?? url.searchParams.get("conversation_id");
  return { signedUrl, conversationId: conversationId === "" ? null : conversationId };
}

/** A non-empty text field of the response's JSON object, or null. */
function readField(response: ProviderResponse, name: string): string | null {
  try {
    const value = (JSON.parse(response.text) as Record<string, unknown> | null)?.[name];
    return typeof value === "string" && value !== "" ? value : null;
  } catch {
    return null;
  }
}
