/** What trials of companions need, over a store that is open: without listeners, and without the server's background work. */
import type { Config } from "../config/config.ts";
import type { EmbeddingProvider } from "../contracts/llm/embeddings.ts";
import type { LlmProvider } from "../contracts/llm/provider.ts";
import type { Store } from "../contracts/store/store.ts";
import type { TrialServices } from "../core/evals/trial-target.ts";
import { Measurements } from "../core/metrics/measurements.ts";
import { createToolbox, type ToolEngines } from "../core/tools/toolbox.ts";
import { createOpenTurns } from "../core/turns/open-turns.ts";
import { createReplyMemory } from "../core/turns/reply-memory.ts";
import { createErasureMarks } from "../engines/memory/coordination/erasure-marks.ts";
import { createMemoryCoordination } from "../engines/memory/coordination/memory.ts";
import { createOutgoingHttp } from "../engines/outgoing-http/outgoing-http.ts";
import type { Clock } from "../lib/clock.ts";
import { systemIds } from "../lib/ids.ts";
import { silentLog } from "../lib/log.ts";
import type { Sealing } from "../lib/sealing.ts";
import { type KnowledgeParts, openKnowledge } from "./open-knowledge.ts";
import { ownHostsOf, toSettings } from "./server-settings.ts";

export interface TrialParts {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly llm: LlmProvider;
  readonly embeddings: EmbeddingProvider | null;
  /** Left out: sources are fetched from their hosts, and questions embedded while a visitor would wait. */
  readonly knowledge?: Pick<KnowledgeParts, "fetcher" | "nearMs">;
  /** Replaces what asks servers of tools. */
  wrapTools?(engines: ToolEngines): ToolEngines;
}

export interface OpenedTrials {
  readonly services: TrialServices;
  /** Reads the sources that are due, and resolves when all are read. */
  readSources(): Promise<void>;
  /** Closes all but the store. */
  close(): Promise<void>;
}

export function openTrialServices(config: Config, parts: TrialParts): OpenedTrials {
  const { store, sealing, clock, llm, embeddings, wrapTools = (engines) => engines } = parts;
  const [ids, log, measurements] = [systemIds, silentLog, new Measurements()];
  const settings = toSettings(config);
  const coordination = createMemoryCoordination({
    clock,
    arrivals: createErasureMarks(),
    countMessages: (companionId, day) => store.turns.countDay(companionId, day),
    countVisitorMessages: (companionId, visitorId, day) => store.turns.countVisitorDay(companionId, visitorId, day),
    countVoiceSessions: (companionId, day) => store.voice.countDay(companionId, day),
  });
  const openTurns = createOpenTurns({
    perAddress: 1,
    getChangeMark: () => store.companions.getChangeMark(),
    nowMs: () => clock.nowMs(),
  });
  const knowledge = openKnowledge({
    ...{ store, clock, ids, log, measurements, embeddings, isShared: false },
    ...parts.knowledge,
    duties: coordination.duties,
    ownHosts: ownHostsOf(config),
    knowledge: config.knowledge,
    prices: settings.prices,
  });
  const outgoing = createOutgoingHttp({ allowed: config.privateTargets, ownHosts: ownHostsOf(config) });
  const toolbox = createToolbox({ store, log, sealing }, async () => {
    const { openToolEngines } = await import("./tool-engines.ts");
    return wrapTools(openToolEngines(outgoing, { clock, log }));
  });
  const replyMemory = createReplyMemory();
  return {
    services: {
      ...{ settings, store, coordination, openTurns, replyMemory, llm, toolbox, measurements, clock, ids, log },
      knowledge: knowledge.services.knowledge,
    },
    async readSources() {
      knowledge.services.indexing.wake();
      await knowledge.whenRead();
    },
    async close() {
      openTurns.stop();
      llm.close();
      await knowledge.close();
      await toolbox.close();
    },
  };
}
