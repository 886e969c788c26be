/** Tables of sources, for the generator of migrations. */
import { tables } from "../tables.ts";

export const {
  knowledgeDocuments,
  knowledgeEditions,
  knowledgeParts,
  knowledgeSources,
  knowledgeTurns,
  knowledgeUploads,
  knowledgeVectors,
} = tables;
