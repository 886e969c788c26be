/**
 * Keeps one provider agent per companion with a voice: created on first use, updated when stale, recreated when lost.
 */
import type { Store } from "../../contracts/store/store.ts";
import { type AgentSettings, maxSessionSeconds, type VoiceProvider } from "../../contracts/voice/provider.ts";
import { upstreamError } from "../../contracts/voice/provider-call.ts";
import { type Companion, defaultGreeting } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { notConfigured } from "./voice-fields.ts";

export interface VoiceAgents {
  /**
   * The id of the companion's agent, which has the companion's current settings. `lostAgentId` is an agent that the
   * provider no longer has; it is never returned. However many callers in however many processes ask, one creates the
   * agent.
   */
  agentFor(companion: Companion, signal: AbortSignal, lostAgentId?: string): Promise<string>;
  /** Waits for work in progress: an agent that is created but not stored would be an orphan. */
  close(): Promise<void>;
}

export interface VoiceAgentDependencies {
  provider: VoiceProvider;
  store: Pick<Store, "voice" | "companions">;
  clock: Clock;
  ids: Pick<IdSource, "uuid">;
  log: Log;
  /** For creating or updating an agent, including the wait for another process. */
  deadlineMs: number;
}

const lockPollMs = 100;

export function createVoiceAgents({
  provider,
  store,
  clock,
  ids,
  log,
  deadlineMs,
}: VoiceAgentDependencies): VoiceAgents {
  // Longer than any holder works, so that only a crashed process loses its lock.
  const lockMs = deadlineMs + 5_000;
  /**
   * One at a time per companion. Flights have their own deadline: a visitor who leaves must not end what others wait
   * for.
   */
  const flights = new Map<string, Promise<string>>();

  function startFlight(companion: Companion, lostAgentId: string | undefined): Promise<string> {
    const flight = keepAgent(companion, lostAgentId).finally(() => flights.delete(companion.id));
    flights.set(companion.id, flight);
    return flight;
  }

  async function keepAgent({ accountId, id }: Companion, lostAgentId: string | undefined): Promise<string> {
    const owner = ids.uuid();
    const deadline = AbortSignal.timeout(deadlineMs);
    while (!(await store.voice.lockAgent(id, owner, clock.nowMs(), clock.nowMs() + lockMs))) {
      if (deadline.aborted) throw upstreamError(new Error("another process held the agent's lock until the deadline"));
      await Bun.sleep(lockPollMs);
    }
    try {
      // Read under the lock: the caller's copy may be older than what another process has just sent to the agent.
      const companion = await store.companions.find(accountId, id);
      if (!companion || companion.voiceId === null) throw notConfigured();
      return await bringUpToDate(
        companion,
        toAgentSettings(companion, companion.voiceId),
        owner,
        lostAgentId,
        deadline,
      );
    } finally {
      // On failure the lock expires automatically, and the original error matters more.
      await store.voice.unlockAgent(id, owner).catch((error) => log.warn("voice lock not released", { error }));
    }
  }

  async function bringUpToDate(
    { id: companionId }: Companion,
    settings: AgentSettings,
    owner: string,
    lostAgentId: string | undefined,
    deadline: AbortSignal,
  ): Promise<string> {
    const settingsHash = hashSettings(settings);
    const kept = await store.voice.findAgent(companionId);
    if (kept && kept.provider === provider.name && kept.agentId !== lostAgentId) {
      if (kept.settingsHash === settingsHash) return kept.agentId;
      if (await provider.updateAgent(kept.agentId, settings, deadline)) {
        await saveAgent({ ...kept, settingsHash }, owner);
        return kept.agentId;
      }
    }
    const agentId = await provider.createAgent(settings, deadline);
    log.info(kept ? "voice agent recreated" : "voice agent created", { companionId, agentId });
    try {
      await saveAgent({ companionId, provider: provider.name, agentId, settingsHash }, owner);
    } catch (error) {
      // The outbox only deletes agents that the store knows. After a conflict it is in the outbox already; deleting
      // twice is harmless.
      await provider.deleteAgent(agentId, AbortSignal.timeout(deadlineMs)).catch((failure) => {
        log.error("voice agent left behind at the provider", { companionId, agentId, error: failure });
      });
      throw error;
    }
    return agentId;
  }

  async function saveAgent(agent: Parameters<Store["voice"]["saveAgent"]>[0], owner: string): Promise<void> {
    if (await store.voice.saveAgent(agent, owner, clock.nowMs())) return;
    throw new AppError("unavailable", "The companion's voice is being changed. Try again in a moment.", {
      retryAfterSeconds: 1,
    });
  }

  return {
    async agentFor(companion, signal, lostAgentId) {
      if (companion.voiceId === null) throw notConfigured();
      // A running flight may have read older settings than the caller's: its result is checked, its failure shared.
      const running = flights.get(companion.id);
      if (running) await until(running, signal);
      const kept = await store.voice.findAgent(companion.id);
      const isUsable = kept?.provider === provider.name && kept.agentId !== lostAgentId;
      if (isUsable && kept.settingsHash === hashSettings(toAgentSettings(companion, companion.voiceId))) {
        return kept.agentId;
      }
      for (;;) {
        const flight = flights.get(companion.id) ?? startFlight(companion, lostAgentId);
        const agentId = await until(flight, signal);
        // A flight joined here may not have known that the agent was lost.
        if (agentId !== lostAgentId) return agentId;
      }
    },
    async close() {
      await Promise.allSettled(flights.values());
    },
  };
}

function toAgentSettings(companion: Companion, voiceId: string): AgentSettings {
  return {
    name: companion.name,
    // One agent speaks with all visitors, so it knows none of them.
    systemPrompt: instructFor(companion, null).systemPrompt ?? "",
    greeting: companion.greeting ?? defaultGreeting(companion.name),
    voiceId,
  };
}

function hashSettings(settings: AgentSettings): string {
  const { name, systemPrompt, greeting, voiceId } = settings;
  // With what every agent is sent, so that one from before it was sent gets it too.
  return sha256Hex(JSON.stringify([name, systemPrompt, greeting, voiceId, maxSessionSeconds]));
}

/** Settles like the promise, or rejects as soon as the signal fires; the promise itself continues. */
function until<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(upstreamError(signal.reason));
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
