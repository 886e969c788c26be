/** Opens what reads sources. Nothing is started or loaded before there is a source. */
import type { AllowedHost } from "../lib/allowed-hosts.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Store } from "../store/store.ts";
import { createFetcher } from "./fetching/fetcher.ts";
import type { EmbeddingPass } from "./indexing/embedding-pass.ts";
import { createIndexer, type Indexer } from "./indexing/indexer.ts";
import { openDocumentReader } from "./reading/reader.ts";

export interface KnowledgeParts {
  store: Pick<Store, "knowledge">;
  clock: Pick<Clock, "nowMs">;
  log: Log;
  privateSources: readonly AllowedHost[];
  embedding: EmbeddingPass | null;
}

export function openIndexing({ store, clock, log, privateSources, embedding }: KnowledgeParts): Indexer {
  const reader = openDocumentReader(log);
  const fetcher = createFetcher({ allowed: privateSources });
  return createIndexer({ store, reader, fetcher, embedding, clock, log });
}
