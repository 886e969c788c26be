/** Background work for voice: deletes agents at the provider, and sessions whose transcript will not arrive. */
import type { VoiceOutboxItem, VoiceStore } from "../../contracts/store/store.ts";
import type { VoiceProvider } from "../../contracts/voice/provider.ts";
import { type Clock, watchSteps } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";

export interface UpkeepDependencies {
  provider: VoiceProvider;
  store: { readonly voice: VoiceStore };
  clock: Clock;
  log: Log;
}

/** How often the outbox is read; other processes on the database fill it too. */
const intervalMs = 1_000;
/** How long a process has for the entries it took, before another may try. */
const leaseMs = 60_000;
const batchSize = 10;
const firstRetryMs = 5_000;
const maxRetryMs = 60 * 60 * 1000;
/** Calls last hours at most, and deliveries are retried for a day; anything later is refused. */
const sessionLifetimeMs = 30 * 24 * 60 * 60 * 1000;
const sessionSweepMs = 60 * 60 * 1000;

export interface Upkeep {
  /** Aborts a deletion in progress, which is safe: it is due again after its lease. */
  close(): Promise<void>;
}

export function startUpkeep({ provider, store, clock, log }: UpkeepDependencies): Upkeep {
  const closing = new AbortController();
  let pass: Promise<void> | null = null;
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  const takeStepMs = watchSteps(clock);

  const timer = setInterval(() => {
    pass ??= run().finally(() => {
      pass = null;
    });
  }, intervalMs);
  timer.unref();

  async function run(): Promise<void> {
    try {
      await deleteDueAgents();
      if (clock.monotonicMs() - sweptAtMs >= sessionSweepMs) {
        sweptAtMs = clock.monotonicMs();
        // A clock that jumped ahead may jump back: the transcripts of sessions deleted here would be lost.
        if (takeStepMs() > sessionSweepMs) return;
        await store.voice.deleteSessions(clock.nowMs() - sessionLifetimeMs, 1_000);
      }
    } catch (error) {
      // The store is unavailable. Nothing is lost: the next run finds everything again.
      log.debug("voice upkeep postponed", { error });
    }
  }

  async function deleteDueAgents(): Promise<void> {
    for (;;) {
      const now = clock.nowMs();
      const items = await store.voice.takeDueOutbox(now, now + leaseMs, batchSize);
      await Promise.all(items.map(deleteAgent));
      if (items.length < batchSize || closing.signal.aborted) return;
    }
  }

  async function deleteAgent(item: VoiceOutboxItem): Promise<void> {
    const { agentId, attempts } = item;
    if (item.provider !== provider.name) {
      await store.voice.postponeOutbox(item.provider, agentId, clock.nowMs() + maxRetryMs);
      return;
    }
    try {
      await provider.deleteAgent(agentId, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) return;
      const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 20));
      log.warn("voice agent not deleted yet", { agentId, attempts, delayMs, error });
      await store.voice.postponeOutbox(item.provider, agentId, clock.nowMs() + delayMs);
      return;
    }
    await store.voice.finishOutbox(item.provider, agentId);
    log.info("voice agent deleted", { agentId });
  }

  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await pass;
    },
  };
}
