/** What makes and uses the index of knowledge, as the server runs it. */
import type { Services } from "./dependencies.ts";
import type { Prices } from "./domain/prices.ts";
import { createBodyBudget } from "./http/body-budget.ts";
import { createCountedEmbedder } from "./knowledge/embedding/counted-embedder.ts";
import { createFetcher } from "./knowledge/fetching/fetcher.ts";
import { createEmbeddingPass } from "./knowledge/indexing/embedding-pass.ts";
import { createIndexer } from "./knowledge/indexing/indexer.ts";
import { openDocumentReader } from "./knowledge/reading/reader.ts";
import { createKnowledgeFinder } from "./knowledge/retrieval/finder.ts";
import { createNearPassages } from "./knowledge/retrieval/vectors/near-passages.ts";
import type { AllowedHost } from "./lib/allowed-hosts.ts";
import { uploadBodyLimits } from "./limits/rules.ts";
import type { EmbeddingProvider } from "./llm/embeddings.ts";

export interface KnowledgeParts extends Pick<Services, "store" | "clock" | "ids" | "log" | "measurements"> {
  privateSources: readonly AllowedHost[];
  /** Null where passages are found by words alone. */
  embeddings: EmbeddingProvider | null;
  prices: Prices;
}

export interface OpenedKnowledge {
  services: Pick<Services, "indexing" | "knowledge" | "knowledgeSearch" | "uploadBodies">;
  /** Ends what is being read: it is due again at the next start. */
  close(): Promise<void>;
}

/** Loads and starts nothing before there is a source. */
export function openKnowledge(parts: KnowledgeParts): OpenedKnowledge {
  const { store, clock, log, measurements, privateSources, embeddings } = parts;
  const embedder = embeddings === null ? null : createCountedEmbedder({ ...parts, provider: embeddings });
  const near = embedder === null ? null : createNearPassages({ store, embedder });
  const knowledge = createKnowledgeFinder({ store, near, log, measurements });
  const reader = openDocumentReader(log);
  const fetcher = createFetcher({ allowed: privateSources });
  const embedding = embedder === null ? null : createEmbeddingPass({ store, embedder, clock, log });
  const indexing = createIndexer({ store, reader, fetcher, embedding, clock, log });
  return {
    services: { indexing, knowledge, knowledgeSearch: knowledge, uploadBodies: createBodyBudget(uploadBodyLimits) },
    close: () => indexing.close(),
  };
}
