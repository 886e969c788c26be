/** Sources, their queue and their index in PostgreSQL. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { PostgresEngine } from "./engine.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import type { KnowledgeSources } from "./knowledge-sources.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import { createKnowledgeVectors } from "./knowledge-vectors.ts";
import type { StoreParts } from "./parts.ts";

export interface KnowledgeParts {
  sources: KnowledgeSources;
  uploads: KnowledgeUploads;
}

export function createKnowledgeStore(
  engine: PostgresEngine,
  parts: StoreParts,
  { sources, uploads }: KnowledgeParts,
): KnowledgeStore {
  const { insert: _, ...methods } = sources;
  const { removals } = parts;
  return {
    ...methods,
    ...createKnowledgeQueue(engine, parts, uploads),
    ...createKnowledgeEditions(engine),
    ...createKnowledgeVectors(engine),

    readUpload: (uploadId, piece) => uploads.read(uploadId, piece),

    async purge(nowMs, limit) {
      const orphans = await uploads.purge(nowMs, limit);
      if (orphans > 0) removals.start();
      return orphans;
    },
  };
}
