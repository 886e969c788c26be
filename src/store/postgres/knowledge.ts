/** Sources, their queue and their index in PostgreSQL. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { KnowledgeSources } from "../scripts/knowledge-sources.ts";
import type { KnowledgeUploads } from "../scripts/knowledge-uploads.ts";
import type { PostgresEngine } from "./engine.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
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
  const { answer: _, ...methods } = sources;
  return {
    ...methods,
    ...createKnowledgeQueue(engine, parts),
    ...createKnowledgeEditions(engine),
    ...createKnowledgeVectors(engine),

    readUpload: uploads.read,
    purge: uploads.purge,
  };
}
