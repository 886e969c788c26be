/** Tables of sources, of what they say, of the index over it, and of what turns found there. */
import { sql } from "drizzle-orm";
import type { DocumentKind, SourceStatus, SourceType } from "../../../domain/knowledge.ts";
import type { Dialect } from "./dialect.ts";

export function knowledgeTables(dialect: Dialect) {
  const { table, lastingNumber, text, whole, small, boolean, bytes, primaryKey, index, uniqueIndex } = dialect;

  // No foreign keys: what is left of a deleted source or companion is deleted in chunks, after it.
  // In SQLite, titles and addresses are overwritten with their rows, as names of companions are; passages and uploads are kept
  // so that no stale copy of them can remain either: see `toPaddedBlob`.
  const knowledgeSources = table(
    "knowledge_sources",
    () => ({
      number: lastingNumber(),
      id: text("id").notNull().unique(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      slug: text("slug"),
      type: text<SourceType>("type").notNull(),
      title: text("title").notNull(),
      url: text("url"),
      refreshHours: small("refresh_hours"),
      status: text<SourceStatus>("status").notNull(),
      error: text("error"),
      /** Of the live edition: what `chunks`, `bytes` and the index's sums say. */
      chunks: small("chunks").notNull().default(0),
      bytes: whole("bytes").notNull().default(0),
      tokens: whole("tokens").notNull().default(0),
      words: whole("words").notNull().default(0),
      contentHash: text("content_hash"),
      /** Of what was sent last, for callers that send it again. */
      uploadHash: text("upload_hash"),
      /** The indexed state that answers; null before there is one. */
      edition: whole("edition"),
      /** Counts up with each PUT, refresh and claim: what was read for an earlier one is dropped. */
      revision: small("revision").notNull().default(1),
      /** What the upload is; null for what is fetched. */
      kind: text<DocumentKind>("kind"),
      /** The upload that is to be read; null once it was, unless it is a text, which is kept as it was written. */
      uploadId: text("upload_id"),
      /** Of that upload, for what the account holds: triggers count it, with `bytes`. */
      uploadBytes: whole("upload_bytes").notNull().default(0),
      pagesDone: small("pages_done"),
      pagesTotal: small("pages_total"),
      /** When it is to be read, or, while it is being read, when others may take it; null: only when asked to. */
      dueAt: whole("due_at"),
      /** Failed readings in a row. */
      failures: small("failures").notNull().default(0),
      indexedAt: whole("indexed_at"),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
    }),
    (row) => [
      index("knowledge_sources_companion").on(row.companionId, row.number),
      uniqueIndex("knowledge_sources_slug").on(row.companionId, row.slug).where(sql`slug IS NOT NULL`),
      index("knowledge_sources_due").on(row.dueAt, row.number).where(sql`due_at IS NOT NULL`),
      // Accounts take turns.
      index("knowledge_sources_turns").on(row.accountId, row.dueAt, row.number).where(sql`due_at IS NOT NULL`),
      index("knowledge_sources_upload").on(row.uploadId).where(sql`upload_id IS NOT NULL`),
    ],
  );

  /** Uploads in pieces: until they were read, and texts for as long as their source. */
  const knowledgeUploads = table(
    "knowledge_uploads",
    () => ({
      uploadId: text("upload_id").notNull(),
      piece: small("piece").notNull(),
      createdAt: whole("created_at").notNull(),
      bytes: bytes("bytes").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.uploadId, row.piece] })],
  );

  /** Indexed states of sources. One that its source does not name is being made, or is to be deleted. */
  const knowledgeEditions = table(
    "knowledge_editions",
    () => ({
      number: lastingNumber(),
      sourceNumber: whole("source_number").notNull(),
      /** The model of its vectors; null if it has none. */
      model: text("model"),
      /** Whether all its passages have one. */
      isEmbedded: boolean("is_embedded").notNull().default(false),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("knowledge_editions_source").on(row.sourceNumber),
      index("knowledge_editions_embedded").on(row.isEmbedded, row.model),
    ],
  );

  /** What an edition was made of: one row, or one for each page of a sitemap. */
  const knowledgeDocuments = table(
    "knowledge_documents",
    () => ({
      edition: whole("edition").notNull(),
      place: small("place").notNull(),
      url: text("url"),
      title: text("title").notNull(),
      contentHash: text("content_hash").notNull(),
      etag: text("etag"),
      lastModified: text("last_modified"),
      firstOrdinal: small("first_ordinal").notNull(),
      chunks: small("chunks").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.edition, row.place] })],
  );

  /** Passages, some dozens in a row. */
  const knowledgeParts = table(
    "knowledge_parts",
    () => ({
      edition: whole("edition").notNull(),
      firstOrdinal: small("first_ordinal").notNull(),
      body: bytes("body").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.edition, row.firstOrdinal] })],
  );

  const knowledgeVectors = table(
    "knowledge_vectors",
    () => ({
      edition: whole("edition").notNull(),
      firstOrdinal: small("first_ordinal").notNull(),
      vectors: bytes("vectors").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.edition, row.firstOrdinal] })],
  );

  /** What a turn found, or did not, beside the message that asked or replied: it goes with that message. */
  const knowledgeTurns = table(
    "knowledge_turns",
    () => ({
      number: lastingNumber(),
      conversationNumber: whole("conversation_number").notNull(),
      messageId: text("message_id").notNull(),
      companionId: text("companion_id").notNull(),
      /** Names the question among those that ask the same; null for a reply. */
      groupId: text("group_id"),
      /** What the model saw, as JSON: see `rows/knowledge.ts`. Null for a question. */
      seen: text("seen"),
      /** Of the message. */
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("knowledge_turns_conversation").on(row.conversationNumber, row.messageId),
      index("knowledge_turns_unanswered")
        .on(row.companionId, row.groupId, row.createdAt, row.conversationNumber)
        .where(sql`group_id IS NOT NULL`),
      index("knowledge_turns_oldest").on(row.companionId, row.number).where(sql`group_id IS NOT NULL`),
    ],
  );

  /** Which passages of an edition have a word: one row per block of passages. */
  const knowledgePostings = table(
    "knowledge_postings",
    () => ({
      edition: whole("edition").notNull(),
      block: small("block").notNull(),
      /** The word as a number: the index holds no words. */
      term: whole("term").notNull(),
      entries: bytes("entries").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.edition, row.term, row.block] })],
  );

  return {
    knowledgeSources,
    knowledgeUploads,
    knowledgeEditions,
    knowledgeDocuments,
    knowledgeParts,
    knowledgeVectors,
    knowledgeTurns,
    knowledgePostings,
  };
}
