/**
 * Socket 4: a voice-agent provider. It runs the voice sessions itself, browser to provider; the server keeps agents
 * there, fetches one signed URL for each session, and takes transcripts.
 *
 * One engine per file; `registry.ts` lists them; `test/contracts/voice-provider.ts` proves each.
 */

/** What an agent is given. Every field is always sent, so that an update also clears. */
export interface AgentSettings {
  /** Shown to the operator in the provider's console. */
  name: string;
  /** Empty for none. */
  systemPrompt: string;
  /** What the agent says first. */
  greeting: string;
  voiceId: string;
}

/** One session that a visitor's client may open. */
export interface SignedSession {
  /** `wss://…`, as the provider wrote it, byte for byte; short-lived and for one session. */
  signedUrl: string;
  /** What the provider will call the conversation in its transcript; null where it does not say. */
  conversationId: string | null;
}

/**
 * What holds for every call:
 * - It ends within 10 s, retries included, and at once when `signal` fires; both reject like any other failure.
 * - Failures (refused, cut, slow, 4xx, 5xx, malformed) reject with `AppError("upstream_error")`: a public sentence,
 *   and a private cause that holds neither the key nor a prompt.
 * - Repeated by itself are only calls that can do no harm twice: of `createAgent` after 429 and a connection that was
 *   never made, of all others after 429, 5xx and any broken connection.
 */
export interface VoiceProvider {
  /** `elevenlabs`; kept beside each agent, and the last part of its webhook's path. */
  readonly name: string;
  /** `elevenlabs-convai`: the `voice_provider` of the public configuration. */
  readonly publicName: string;
  /** Makes an agent that only signed URLs open, and returns its id. A failure may have made one all the same. */
  createAgent(settings: AgentSettings, signal: AbortSignal): Promise<string>;
  /** Changes the given settings and nothing else. False where the provider has no such agent. */
  updateAgent(agentId: string, settings: AgentSettings, signal: AbortSignal): Promise<boolean>;
  /** Resolves when the agent is gone; one that was gone before counts. */
  deleteAgent(agentId: string, signal: AbortSignal): Promise<void>;
  /** Null where the provider has no such agent. */
  createSession(agentId: string, signal: AbortSignal): Promise<SignedSession | null>;
  /** Resolves when the provider can be reached and takes the key for work on agents. Changes nothing there. */
  check(signal: AbortSignal): Promise<void>;
}

export interface SpokenMessage {
  role: "user" | "assistant";
  /** Well-formed, without NUL, never empty. */
  text: string;
  /** False where the speaker was interrupted. */
  complete: boolean;
  /** Epoch milliseconds by the provider's clock, or null where it does not say. */
  spokenAtMs: number | null;
}

export interface Transcript {
  /** The provider's id, as in `SignedSession`: the only thing in a delivery that says whose conversation it is. */
  conversationId: string;
  /** In the order spoken. */
  messages: SpokenMessage[];
}

/** Reads what a provider delivers after a session. */
export interface TranscriptReader {
  /** The last part of the webhook's path: `/api/webhooks/{name}`. */
  readonly name: string;
  /** Throws `unauthorized` where the headers alone show that the delivery is not genuine or too old: nothing more need be read. */
  begin(headers: Headers, nowMs: number): Delivery;
}

/** One delivery, whose body comes in pieces. */
export interface Delivery {
  /** Takes the next piece into the check of the signature, and keeps nothing of it. */
  see(piece: Uint8Array): void;
  /**
   * The transcript, or null for a genuine delivery of another kind. `pieces` are all that were seen. Throws
   * `unauthorized`, and looks into none of them, unless their bytes were signed with our secret within the last 30 minutes;
   * `invalid_request` where a genuine body cannot be understood.
   */
  finish(pieces: readonly Uint8Array[]): Transcript | null;
}
