/** Sources, their queue and their index in SQLite. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { KnowledgeSources } from "../scripts/knowledge-sources.ts";
import type { KnowledgeUploads } from "../scripts/knowledge-uploads.ts";
import type { SqliteEngine } from "./engine.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeIndex } from "./knowledge-index.ts";
import type { PassageReader } from "./knowledge-passages.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import type { StoreParts } from "./parts.ts";

export interface KnowledgeParts extends Pick<StoreParts, "knowledge" | "removals"> {
  passages: PassageReader;
  sources: KnowledgeSources;
  uploads: KnowledgeUploads;
}

export function createKnowledgeStore(engine: SqliteEngine, parts: KnowledgeParts): KnowledgeStore {
  const { knowledge: remover, passages, removals, sources, uploads } = parts;
  const { answer: _, ...methods } = sources;
  const { readPassages, listPassages } = passages;
  const own = { remover, removals };
  return {
    ...{ ...methods, readPassages, listPassages },
    ...createKnowledgeQueue(engine, own),
    ...createKnowledgeEditions(engine, own),
    ...createKnowledgeIndex(engine),
    readUpload: uploads.read,
    purge: uploads.purge,
  };
}
