/** The voice of companions: whether there is one, and its next session. */
import type { Store } from "../../contracts/store/store.ts";
import type { SignedSession, TranscriptReader, VoiceProvider } from "../../contracts/voice/provider.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import type { VoiceFields } from "../../domain/voice-fields.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import { startUpkeep } from "./upkeep.ts";
import { createVoiceAgents } from "./voice-agents.ts";
import { notConfigured } from "./voice-fields.ts";

export interface OpenedSession extends SignedSession {
  agentId: string;
}

export interface Voice {
  /** The `voice_provider` of companions that have a voice. */
  readonly providerName: string;
  /** The provider as prices and usage name it; null without one. */
  readonly pricedAs: string | null;
  /** Readers of what providers deliver after sessions; empty if no webhook secret is set. */
  readonly readers: readonly TranscriptReader[];
  /** Whether `openSession` would try: the companion has a voice, and the server has its provider's key. */
  hasVoice(companion: VoiceFields): boolean;
  /**
   * Opens a session with the companion's own agent, or with the one that the server keeps for it. Takes 10 s at most;
   * rejects with `voice_not_configured`, `upstream_error` or `unavailable`, and with what `permit` does, which is asked
   * before each call that opens one. The caller counts the session.
   */
  openSession(companion: Companion, signal: AbortSignal, permit?: () => Promise<void>): Promise<OpenedSession>;
  /** Stops the background work and waits for agents being created. */
  close(): Promise<void>;
}

export interface VoiceDependencies {
  /** Null: no companion has a voice. */
  provider: VoiceProvider | null;
  readers: readonly TranscriptReader[];
  store: Store;
  clock: Clock;
  ids: IdSource;
  log: Log;
  /** For opening a session, including its agent. */
  deadlineMs?: number;
}

export function createVoice(options: VoiceDependencies): Voice {
  const { provider, readers, deadlineMs = 10_000, ...parts } = options;
  const agents = provider && createVoiceAgents({ provider, deadlineMs, ...parts });
  const upkeep = provider && startUpkeep({ provider, ...parts });

  return {
    providerName: provider?.publicName ?? "none",
    pricedAs: provider?.name ?? null,
    readers,
    hasVoice: ({ voiceId, voiceAgentId }) => provider !== null && (voiceId ?? voiceAgentId) !== null,

    async openSession(companion, visitorSignal, permit) {
      if (!provider || !agents) throw notConfigured();
      const signal = AbortSignal.any([visitorSignal, AbortSignal.timeout(deadlineMs)]);
      const open = (agentId: string) => provider.createSession(agentId, signal, permit);
      if (companion.voiceAgentId !== null) return await openOwn(open, companion.voiceAgentId);
      const agentId = await agents.agentFor(companion, signal);
      const session = await open(agentId);
      if (session) return { ...session, agentId };
      return await openOwn(open, await agents.agentFor(companion, signal, agentId));
    },

    async close() {
      await Promise.all([upkeep?.close(), agents?.close()]);
    },
  };
}

async function openOwn(
  open: (agentId: string) => Promise<SignedSession | null>,
  agentId: string,
): Promise<OpenedSession> {
  const session = await open(agentId);
  if (session) return { ...session, agentId };
  throw new AppError("upstream_error", "The voice provider does not know this companion's agent.", {
    cause: new Error(`agent ${agentId} is not at the provider`),
  });
}
