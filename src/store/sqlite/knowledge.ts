/** Sources, their queue and their index in SQLite. */
import type { KnowledgeStore } from "../contract/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeIndex } from "./knowledge-index.ts";
import type { PassageReader } from "./knowledge-passages.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import type { KnowledgeSources } from "./knowledge-sources.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import type { StoreParts } from "./parts.ts";

export interface KnowledgeParts extends Pick<StoreParts, "knowledge" | "removals"> {
  passages: PassageReader;
  sources: KnowledgeSources;
  uploads: KnowledgeUploads;
}

export function createKnowledgeStore(engine: SqliteEngine, parts: KnowledgeParts): KnowledgeStore {
  const { knowledge: remover, passages, removals, sources, uploads } = parts;
  const { list, find, findText, create, replace, refresh, delete: remove } = sources;
  const { readPassages, listPassages } = passages;
  const own = { remover, removals, uploads };
  return {
    ...{ list, find, findText, create, replace, refresh, delete: remove, readPassages, listPassages },
    ...createKnowledgeQueue(engine, own),
    ...createKnowledgeEditions(engine, own),
    ...createKnowledgeIndex(engine),
    readUpload: uploads.read,
    purge: uploads.purge,
  };
}
