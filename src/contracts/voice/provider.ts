/**
 * A voice-agent provider. It runs the voice sessions itself, between browser and provider; the server keeps
 * agents there, fetches one signed URL per session, and receives transcripts.
 *
 * One engine per file; `app/voice.ts` opens those that are configured; `test/contracts/voice-provider.ts` checks each.
 */

/** The settings of an agent. Every field is always sent, so that an update also clears. */
export interface AgentSettings {
  /** Shown to the operator in the provider's console. */
  name: string;
  /** Empty for none. */
  systemPrompt: string;
  /** The agent's first message. */
  greeting: string;
  voiceId: string;
}

/** A session ends after this long: what it may cost is bounded by it. It is ElevenLabs' own default, too. */
export const maxSessionSeconds = 600;

/** One session that a visitor's client may open. */
export interface SignedSession {
  /** `wss://…`, byte for byte as the provider wrote it; short-lived and valid for one session. */
  signedUrl: string;
  /** The id that the conversation will have in the transcript; null if the provider does not send it. */
  conversationId: string | null;
}

/**
 * These rules hold for every call:
 * - It ends within 10 s, including retries, and immediately when `signal` fires; both reject like any other failure.
 * - Failures (refused, cut off, slow, 4xx, 5xx, malformed) reject with `AppError("upstream_error")`: a public sentence,
 *   and a private cause that contains neither the key nor a prompt.
 * - Only calls that are harmless to repeat are retried: `createAgent` after 429 or a connection that was never
 *   established, all others after 429, 5xx or any broken connection.
 */
export interface VoiceProvider {
  /** `elevenlabs`; stored with each agent, and the last part of its webhook's path. */
  readonly name: string;
  /** `elevenlabs-convai`: the `voice_provider` of the public configuration. */
  readonly publicName: string;
  /** Creates an agent that only signed URLs open, and returns its id. A failed call may still have created one. */
  createAgent(settings: AgentSettings, signal: AbortSignal): Promise<string>;
  /** Changes the given settings and nothing else. False if the provider has no such agent. */
  updateAgent(agentId: string, settings: AgentSettings, signal: AbortSignal): Promise<boolean>;
  /** Resolves when the agent no longer exists, including when it did not exist before. */
  deleteAgent(agentId: string, signal: AbortSignal): Promise<void>;
  /** Null if the provider has no such agent. `permit` is asked before each call: what it rejects with ends the attempts. */
  createSession(agentId: string, signal: AbortSignal, permit?: () => Promise<void>): Promise<SignedSession | null>;
  /** Resolves if the provider is reachable and accepts the key for work on agents. Changes nothing there. */
  check(signal: AbortSignal): Promise<void>;
}

export interface SpokenMessage {
  role: "user" | "assistant";
  /** Well-formed, without NUL, never empty. */
  text: string;
  /** False if the speaker was interrupted. */
  complete: boolean;
  /** Epoch milliseconds by the provider's clock, or null if it does not send it. */
  spokenAtMs: number | null;
}

export interface Transcript {
  /** The provider's id, as in `SignedSession`: the only thing in a delivery that identifies the conversation. */
  conversationId: string;
  /** In the order spoken. */
  messages: SpokenMessage[];
  /** How long the session was; null if the provider does not send it. */
  seconds: number | null;
}

/** Reads what a provider delivers after a session. */
export interface TranscriptReader {
  /** A part of the webhook's path: `/api/voice/{name}/webhook`. */
  readonly name: string;
  /**
   * Throws `unauthorized` if the headers alone show that the delivery is forged or too old: the body need not be read.
   */
  begin(headers: Headers, nowMs: number): Delivery;
}

/** One delivery, whose body arrives in chunks. */
export interface Delivery {
  /** Feeds the next chunk into the signature check; keeps nothing of it. */
  see(piece: Uint8Array): void;
  /**
   * The transcript, or null for a genuine delivery of another kind. `pieces` are all chunks that `see` got. Throws
   * `unauthorized`, without parsing them, unless they were signed with our secret within the last 30 minutes;
   * `invalid_request` if a genuine body cannot be understood.
   */
  finish(pieces: readonly Uint8Array[]): Transcript | null;
}
