/** What makes and uses the index of knowledge, as the server runs it. */
import type { Config } from "../config/config.ts";
import type { Duties } from "../contracts/coordination.ts";
import { uploadBodyLimits } from "../contracts/limiter/rules.ts";
import type { EmbeddingProvider } from "../contracts/llm/embeddings.ts";
import type { Services } from "../core/dependencies.ts";
import { createCountedEmbedder } from "../core/knowledge/embedding/counted-embedder.ts";
import { createFetcher, type Fetcher } from "../core/knowledge/fetching/fetcher.ts";
import { createEmbeddingPass } from "../core/knowledge/indexing/embedding-pass.ts";
import { createIndexer } from "../core/knowledge/indexing/indexer.ts";
import { openDocumentReader } from "../core/knowledge/reading/reader.ts";
import type { KnowledgeFinder } from "../core/knowledge/retrieval/found.ts";
import { createNearPassages } from "../core/knowledge/retrieval/vectors/near-passages.ts";
import type { Prices } from "../domain/prices.ts";
import { createBodyBudget } from "../http/body-budget.ts";

export interface KnowledgeParts extends Pick<Services, "store" | "clock" | "ids" | "log" | "measurements"> {
  /** Null where the operator has named no model for it: knowledge is then found by its words alone. */
  embeddings: EmbeddingProvider | null;
  prices: Prices;
  knowledge: Config["knowledge"];
  /** Names of this server, which is no source. */
  ownHosts: readonly string[];
  isShared: boolean;
  duties: Duties;
  /** Replaced where nothing is fetched, or all of it recorded. */
  fetcher?: Fetcher;
  /** How long passages by meaning are waited for; left out: as long as visitors may wait. */
  nearMs?: number;
}

export interface OpenedKnowledge {
  services: Pick<Services, "indexing" | "knowledge" | "uploadBodies">;
  /** Resolves when all that is due is read. */
  whenRead(): Promise<void>;
  /** Ends what is being read: it is due again at the next start. */
  close(): Promise<void>;
}

/** Loads and starts nothing before there is a source. */
export function openKnowledge({
  embeddings,
  prices,
  knowledge: { privateSources },
  ownHosts,
  ...parts
}: KnowledgeParts): OpenedKnowledge {
  const { store, clock, log, isShared, duties } = parts;
  const embedder = embeddings && createCountedEmbedder({ ...parts, provider: embeddings, prices });
  const near = embedder && createNearPassages({ store, embedder });
  let finder: KnowledgeFinder | null = null;
  const openFinder = async () => {
    const { createKnowledgeFinder } = await import("../core/knowledge/retrieval/finder.ts");
    finder ??= createKnowledgeFinder({ ...parts, near });
    return finder;
  };
  const knowledge: KnowledgeFinder = {
    find: async (question) => (await openFinder()).find(question),
    search: async (...of) => (await openFinder()).search(...of),
  };
  const reader = openDocumentReader(log);
  const fetcher = parts.fetcher ?? createFetcher({ allowed: privateSources, ownHosts });
  const embedding =
    embedder && createEmbeddingPass({ store, embedder, isOurs: () => duties.take("embeddings"), clock, log });
  const indexing = createIndexer({ store, reader, fetcher, embedding, clock, log, isShared });
  return {
    services: { indexing, knowledge, uploadBodies: createBodyBudget(uploadBodyLimits) },
    whenRead: () => indexing.whenIdle(),
    async close() {
      await indexing.close();
      embeddings?.close();
    },
  };
}
