/** What makes and uses the index of knowledge, as the server runs it. */
import type { Services } from "./dependencies.ts";
import { createBodyBudget } from "./http/body-budget.ts";
import { createFetcher } from "./knowledge/fetching/fetcher.ts";
import { createIndexer } from "./knowledge/indexing/indexer.ts";
import { openDocumentReader } from "./knowledge/reading/reader.ts";
import { createKnowledgeFinder } from "./knowledge/retrieval/finder.ts";
import type { AllowedHost } from "./lib/allowed-hosts.ts";
import { uploadBodyLimits } from "./limits/rules.ts";

export interface KnowledgeParts extends Pick<Services, "store" | "clock" | "log" | "measurements"> {
  privateSources: readonly AllowedHost[];
}

export interface OpenedKnowledge {
  services: Pick<Services, "indexing" | "knowledge" | "knowledgeSearch" | "uploadBodies">;
  /** Ends what is being read: it is due again at the next start. */
  close(): Promise<void>;
}

/** Loads and starts nothing before there is a source. */
export function openKnowledge({ store, clock, log, measurements, privateSources }: KnowledgeParts): OpenedKnowledge {
  const knowledge = createKnowledgeFinder({ store, near: null, log, measurements });
  const reader = openDocumentReader(log);
  const fetcher = createFetcher({ allowed: privateSources });
  const indexing = createIndexer({ store, reader, fetcher, embedding: null, clock, log });
  return {
    services: { indexing, knowledge, knowledgeSearch: knowledge, uploadBodies: createBodyBudget(uploadBodyLimits) },
    close: () => indexing.close(),
  };
}
